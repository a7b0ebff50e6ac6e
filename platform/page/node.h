// SPDX-License-Identifier: Apache-2.0
#pragma once
/// JSON files that anybody may have written, read with checks: what is wrong ends in one sentence that names the file
/// and the place in it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::page {

using Json = nlohmann::ordered_json;

/// A value in a JSON file, and where it stands. The value must outlive the node. Every member throws config::UserError
/// when the value is of another kind: "study.json: points[3].seed must be a whole number".
class Node {
 public:
  /// file: as messages name it.
  Node(const Json& value, std::string file) : Node(value, std::move(file), "") {}

  /// The member of an object, which must be there.
  Node at(std::string_view key) const;
  /// Nothing when the object lacks the member, or has null there.
  std::optional<Node> find(std::string_view key) const;
  /// The elements of the list that a member is; none when the object lacks it.
  std::vector<Node> list(std::string_view key) const;
  /// The members of the object that a member is; none when the object lacks it.
  std::vector<std::pair<std::string, Node>> members(std::string_view key) const;
  std::vector<Node> list() const;
  std::vector<std::pair<std::string, Node>> members() const;

  std::string text() const;
  double number() const;
  std::uint64_t whole() const;
  /// The text that a member is; empty when the object lacks it.
  std::string text(std::string_view key) const;
  /// The number that a member is; nothing when the object lacks it or has null, which stands for "no number".
  std::optional<double> number(std::string_view key) const;
  /// The ends of the interval that a member is; nothing when the object lacks it or has null.
  std::optional<std::pair<double, double>> ends(std::string_view key) const;
  const Json& value() const { return *value_; }

  /// Throws config::UserError with the node's place: "FILE: PLACE must be ...".
  [[noreturn]] void refuse(std::string_view what) const;

 private:
  Node(const Json& value, std::string file, std::string place)
      : value_(&value), file_(std::move(file)), place_(std::move(place)) {}
  Node child(const Json& value, std::string_view key) const;
  const Json& object() const;

  const Json* value_;
  std::string file_;
  std::string place_;  ///< "points[3].seed"; empty: the whole file
};

/// JSON whose `schema` is as given. shown: the file's name in messages. Throws config::UserError when the text is no
/// JSON to its end, is nested deeper than any file of ours, or has another schema.
Json parse_json(const std::string& text, const std::string& shown, std::string_view schema);
/// The same of a file. Throws config::UserError when it cannot be read, too.
Json read_json(const std::filesystem::path& file, const std::string& shown, std::string_view schema);

}  // namespace sluice::page
