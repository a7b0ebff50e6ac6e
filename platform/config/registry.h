// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The kinds of component that a board may have, the models of each kind, and the schema of each model. platform/board
/// fills the registry; nothing in platform/config knows a model.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters/schema.h"
#include "models/part/catalogue.h"
#include "platform/config/user_error.h"

namespace sluice::config {

/// A shared object with models, as a board file names it.
struct PluginFile {
  std::string named;           ///< as the file names it, relative to that file
  std::filesystem::path path;  ///< absolute
  Location where;              ///< the line that names it
};

class Registry final : public part::Catalogue {
 public:
  struct Model {
    std::string name;   ///< as a board writes it: "descriptor"
    std::string title;  ///< in a sentence: "descriptor NIC"
    const base::SchemaBase* schema = nullptr;
    std::shared_ptr<const part::Factory> factory;  ///< null: the platform knows how to build it
    std::string plugin;                            ///< the plug-in that added it, as boards name it; empty: built in
  };
  struct Kind {
    std::string name;           ///< the first word of an instance's path: "nic"
    bool many = true;           ///< [nic.eth0], [nic.eth1]; else one table [workload]
    std::string selector;       ///< the key that chooses the model
    std::string default_model;  ///< empty: the board must choose where there are several models
    std::string title;          ///< for messages that ask for an instance: "a PCIe slot"
    std::vector<Model> models;

    const Model* find(std::string_view model) const;
    std::vector<std::string> model_names() const;
    /// The model of an instance that does not choose one; nullptr when it must choose.
    const Model* model_by_default() const;
  };

  /// A kind with any number of named instances, whose model is chosen by the selector. title: empty: "a NAME".
  void add_kind(std::string name, std::string default_model = "", std::string selector = "model",
                std::string title = "");
  /// A kind with one unnamed instance. If it has a default model, it exists on every board.
  void add_single(std::string name, std::string selector = "model", std::string default_model = "");

  /// An object that is not a component and that a parameter chooses by name, such as the calls of a traffic source.
  /// `set` names the group of objects to choose from.
  struct Part {
    std::string set;
    std::string name;
    std::shared_ptr<const part::Factory> factory;
    std::string plugin;  ///< as Model::plugin
  };
  /// Throws std::logic_error where the set already has a part of that name.
  void add_part(std::string set, std::string name, std::shared_ptr<const part::Factory>);
  const Part* find_part(std::string_view set, std::string_view name) const;
  std::vector<std::string> part_names(std::string_view set) const;

  /// States that the parameter `key` of a model with parameters P names a part. choose(p, registry) finds the part and
  /// keeps in p what the model needs of it; this happens before the rules about P are checked. It returns nothing, or,
  /// where there is no such part, the end of a sentence about `key`.
  template <class P>
  void add_choice(std::string key, std::string (*choose)(P&, const Registry&)) {
    choices_.push_back({&base::schema_of<P>(), std::move(key),
                        [choose](void* values, const Registry& r) { return choose(*static_cast<P*>(values), r); }});
  }
  struct Choice {
    const base::SchemaBase* schema;
    std::string key;
    std::function<std::string(void* values, const Registry&)> choose;
  };
  const std::vector<Choice>& choices() const { return choices_; }

  /// A function that adds the models of a plug-in to a registry. Returns the SHA-256 of the file; throws UserError,
  /// which begins with `where`.
  using PluginLoader = std::function<std::string(const PluginFile&, Registry&)>;
  void on_plugin(PluginLoader loader) { load_plugin_ = std::move(loader); }
  /// Loads a plug-in. Throws UserError where no loader is set.
  std::string load(const PluginFile&);

  /// The kinds in the order in which they were added, which is also the order of instances on every board.
  const std::vector<Kind>& kinds() const { return kinds_; }
  const Kind* find(std::string_view kind) const;
  std::vector<std::string> kind_names() const;

 private:
  void add_model(std::string_view kind, Catalogue::Model) override;
  std::vector<Kind> kinds_;
  std::vector<Part> parts_;
  std::vector<Choice> choices_;
  PluginLoader load_plugin_;
  std::string loading_;  ///< the plug-in that adds its models now
};

}  // namespace sluice::config
