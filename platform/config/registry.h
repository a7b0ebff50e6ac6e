#pragma once
/// The kinds of component that a board may have, the models of each kind, and the schema of each model. platform/board
/// fills it; nothing in platform/config knows a model.

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
  std::string named;           ///< by the file, relative to itself
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
    std::string plugin;                            ///< that brought it, as the board names it; empty: it is built in
  };
  struct Kind {
    std::string name;           ///< the first word of an instance's path: "nic"
    bool many = true;           ///< [nic.eth0], [nic.eth1]; else one table [workload]
    std::string selector;       ///< the key that chooses the model
    std::string default_model;  ///< empty: the board must choose where there are several models
    std::string title;          ///< of an instance, in messages that ask for one: "a PCIe slot"
    std::vector<Model> models;

    const Model* find(std::string_view model) const;
    std::vector<std::string> model_names() const;
    /// The model of an instance that does not choose; nullptr when it must.
    const Model* model_by_default() const;
  };

  /// A kind with any number of named instances, whose model is chosen by the selector. title: empty: "a NAME".
  void add_kind(std::string name, std::string default_model = "", std::string selector = "model",
                std::string title = "");
  /// A kind with one instance without a name. It exists on every board, with its defaults, when it has a model by
  /// default.
  void add_single(std::string name, std::string selector = "model", std::string default_model = "");

  /// Something that a parameter of models chooses by name and that is no component: the calls of a traffic source.
  /// `set` is what it is one of.
  struct Part {
    std::string set;
    std::string name;
    std::shared_ptr<const part::Factory> factory;
    std::string plugin;  ///< as Model::plugin
  };
  /// Throws std::logic_error where the set has one of that name.
  void add_part(std::string set, std::string name, std::shared_ptr<const part::Factory>);
  const Part* find_part(std::string_view set, std::string_view name) const;
  std::vector<std::string> part_names(std::string_view set) const;

  /// The parameter `key` of a model with parameters P names a part. choose(p, registry) finds it and keeps in p what
  /// the model needs of it, before any rule about P is looked at; it returns the end of a sentence about `key` where
  /// there is none, else nothing.
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

  /// What adds the models of a plug-in to a registry. Returns the SHA-256 of the file; throws UserError, which begins
  /// with `where`.
  using PluginLoader = std::function<std::string(const PluginFile&, Registry&)>;
  void on_plugin(PluginLoader loader) { load_plugin_ = std::move(loader); }
  /// Throws UserError where nothing loads plug-ins.
  std::string load(const PluginFile&);

  /// In the order in which they were added, which is the order of instances on every board.
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
