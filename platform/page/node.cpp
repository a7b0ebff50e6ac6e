// SPDX-License-Identifier: Apache-2.0
#include "platform/page/node.h"

#include <fmt/format.h>

#include "platform/config/files/whole_file.h"
#include "platform/config/user_error.h"

namespace sluice::page {
namespace {

/// Result files have less than ten levels. What copies or writes values calls itself for each level.
constexpr int kDeepest = 64;

}  // namespace

void Node::refuse(std::string_view what) const {
  throw config::UserError(fmt::format("{}: {} {}", file_, place_.empty() ? "its content" : place_, what));
}

Node Node::child(const Json& value, std::string_view key) const {
  return Node(value, file_, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

const Json& Node::object() const {
  if (!value_->is_object()) refuse("must be an object");
  return *value_;
}

Node Node::at(std::string_view key) const {
  const auto found = object().find(std::string(key));
  if (found == value_->end()) child(*value_, key).refuse("is missing");
  return child(*found, key);
}

std::optional<Node> Node::find(std::string_view key) const {
  const auto found = object().find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return child(*found, key);
}

std::vector<Node> Node::list() const {
  if (!value_->is_array()) refuse("must be a list");
  std::vector<Node> nodes;
  nodes.reserve(value_->size());
  for (const Json& v : *value_) nodes.push_back(Node(v, file_, fmt::format("{}[{}]", place_, nodes.size())));
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, value] : object().items()) nodes.emplace_back(key, child(value, key));
  return nodes;
}

std::vector<Node> Node::list(std::string_view key) const {
  const auto found = find(key);
  return found ? found->list() : std::vector<Node>();
}

std::vector<std::pair<std::string, Node>> Node::members(std::string_view key) const {
  const auto found = find(key);
  return found ? found->members() : std::vector<std::pair<std::string, Node>>();
}

std::string Node::text() const {
  if (!value_->is_string()) refuse("must be a text");
  return value_->get<std::string>();
}

double Node::number() const {
  if (!value_->is_number()) refuse("must be a number");
  return value_->get<double>();
}

std::uint64_t Node::whole() const {
  if (!value_->is_number_unsigned()) refuse("must be a whole number, 0 or more");
  return value_->get<std::uint64_t>();
}

std::string Node::text(std::string_view key) const {
  const auto found = find(key);
  return found ? found->text() : std::string();
}

std::optional<double> Node::number(std::string_view key) const {
  const auto found = find(key);
  return found ? std::optional(found->number()) : std::nullopt;
}

std::optional<std::pair<double, double>> Node::ends(std::string_view key) const {
  const auto found = find(key);
  if (!found) return std::nullopt;
  const std::vector<Node> list = found->list();
  if (list.size() != 2) found->refuse("must be a list of two numbers");
  return std::pair(list[0].number(), list[1].number());
}

Json read_json(const std::filesystem::path& file, const std::string& shown, std::string_view schema) {
  return parse_json(config::read_whole(file, shown), shown, schema);
}

Json parse_json(const std::string& text, const std::string& shown, std::string_view schema) {
  const auto check_depth = [&shown](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest) throw config::UserError(shown + ": is nested deeper than any file that sluice writes");
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, check_depth);
  } catch (const Json::exception&) {
    throw config::UserError(shown + ": is no JSON from its beginning to its end; it may have been cut off");
  }
  const Node node(json, shown);
  const auto found = node.find("schema");
  if (!found || !found->value().is_string() || found->text() != schema)
    throw config::UserError(fmt::format("{}: its schema must be {}{}", shown, schema,
                                        found && found->value().is_string() ? ", and is " + found->text() : ""));
  return json;
}

}  // namespace sluice::page
