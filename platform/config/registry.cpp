// SPDX-License-Identifier: Apache-2.0
#include "platform/config/registry.h"

#include <stdexcept>

namespace sluice::config {

const Registry::Model* Registry::Kind::find(std::string_view model) const {
  for (const Model& m : models) {
    if (m.name == model) return &m;
  }
  return nullptr;
}

std::vector<std::string> Registry::Kind::model_names() const {
  std::vector<std::string> names;
  for (const Model& m : models) names.push_back(m.name);
  return names;
}

const Registry::Model* Registry::Kind::model_by_default() const {
  if (!default_model.empty()) return find(default_model);
  return models.size() == 1 ? &models.front() : nullptr;
}

void Registry::add_kind(std::string name, std::string default_model, std::string selector, std::string title) {
  if (title.empty()) title = "a " + name;
  kinds_.push_back({std::move(name), true, std::move(selector), std::move(default_model), std::move(title), {}});
}

void Registry::add_single(std::string name, std::string selector, std::string default_model) {
  kinds_.push_back({std::move(name), false, std::move(selector), std::move(default_model), {}, {}});
}

void Registry::add_model(std::string_view kind, Catalogue::Model model) {
  for (Kind& k : kinds_) {
    if (k.name != kind) continue;
    if (const Model* taken = k.find(model.name))
      throw std::logic_error(k.name + " has a model " + model.name + " already, " +
                             (taken->plugin.empty() ? "a built-in one" : "of " + taken->plugin));
    if (model.schema->find(k.selector)) throw std::logic_error(model.name + " may not have a key " + k.selector);
    k.models.push_back(
        {std::move(model.name), std::move(model.title), model.schema, std::move(model.factory), loading_});
    return;
  }
  throw std::logic_error("no kind " + std::string(kind));
}

void Registry::add_part(std::string set, std::string name, std::shared_ptr<const part::Factory> factory) {
  if (const Part* taken = find_part(set, name))
    throw std::logic_error("there are " + set + " named " + name + " already, " +
                           (taken->plugin.empty() ? "built-in ones" : "of " + taken->plugin));
  parts_.push_back({std::move(set), std::move(name), std::move(factory), loading_});
}

const Registry::Part* Registry::find_part(std::string_view set, std::string_view name) const {
  for (const Part& p : parts_) {
    if (p.set == set && p.name == name) return &p;
  }
  return nullptr;
}

std::vector<std::string> Registry::part_names(std::string_view set) const {
  std::vector<std::string> names;
  for (const Part& p : parts_) {
    if (p.set == set) names.push_back(p.name);
  }
  return names;
}

std::string Registry::load(const PluginFile& plugin) {
  if (!load_plugin_) throw UserError(plugin.where, "plugins: nothing here takes plug-ins");
  loading_ = plugin.named;
  std::string digest = load_plugin_(plugin, *this);
  loading_.clear();
  return digest;
}

const Registry::Kind* Registry::find(std::string_view kind) const {
  for (const Kind& k : kinds_) {
    if (k.name == kind) return &k;
  }
  return nullptr;
}

std::vector<std::string> Registry::kind_names() const {
  std::vector<std::string> names;
  for (const Kind& k : kinds_) names.push_back(k.name);
  return names;
}

}  // namespace sluice::config
