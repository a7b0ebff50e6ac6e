// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A board as its files and overrides make it: named instances, each with a model, and the effective value and origin
/// of every parameter.

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters/schema.h"
#include "platform/config/board_layers.h"
#include "platform/config/registry.h"
#include "platform/config/user_error.h"

namespace sluice::config {

/// Where an effective value was set and where it comes from.
struct Origin {
  base::Provenance provenance;
  std::string set_by = "default";  ///< "default", "e810-poll.toml:19" (board-relative) or "--set"
  Location where;                  ///< for messages; no file: never set
  /// Rank of the layer that set the value: 0 for a default, then the files in the order in which they applied, then the
  /// overrides.
  std::size_t layer = 0;
};

/// One component of a board: "nic.eth0", "workload".
class Instance {
 public:
  Instance(const Registry::Kind& kind, std::string name, const Registry::Model& model)
      : kind_(&kind), name_(std::move(name)), model_(&model), values_(model.schema->defaults()) {}

  const std::string& kind() const { return kind_->name; }
  /// "eth0"; empty for a kind that exists once.
  const std::string& name() const { return name_; }
  std::string path() const { return name_.empty() ? kind() : kind() + "." + name_; }
  const std::string& model() const { return model_->name; }
  const std::string& title() const { return model_->title; }
  /// Where the model was chosen; nowhere, and layer 0, for the kind's default.
  struct Choice {
    Location where;
    std::size_t layer = 0;
  };
  const Choice& model_set() const { return model_set_; }
  const base::SchemaBase& schema() const { return *model_->schema; }
  /// The values as the board writes them, for the parameters of schema(). Reports show these.
  const void* values() const { return values_.get(); }
  /// The values as the model gets them: a parameter that names a file holds a path that can be opened.
  const void* model_values() const { return (model_values_ ? model_values_ : values_).get(); }
  /// Null where the model has none.
  const part::Factory* factory() const { return model_->factory.get(); }
  /// Every model that an instance of its kind may have on this board.
  const std::vector<Registry::Model>& models() const { return kind_->models; }
  /// Where the value of a key of schema() comes from.
  const Origin& origin(std::string_view key) const;
  /// The same for a key that the model may not have; null: it has none.
  const Origin* find_origin(std::string_view key) const;
  /// Where the instance is first named; no file: nowhere.
  const Location& where() const { return where_; }
  /// Rank, as in Origin::layer, of the layer that first names the instance.
  std::size_t layer() const { return layer_; }

  /// The model's typed parameters. P must be the type that the model was registered with.
  template <class P>
  const P& parameters() const {
    if (model_->schema != &base::schema_of<P>()) throw std::logic_error(path() + " has parameters of another type");
    return *static_cast<const P*>(model_values());
  }

 private:
  friend class BoardBuilder;
  const Registry::Kind* kind_;
  std::string name_;
  const Registry::Model* model_;
  std::shared_ptr<void> values_;
  std::shared_ptr<void> model_values_;  ///< null: equal to values_
  std::vector<Origin> origins_;         ///< in the order of the schema
  Location where_;
  std::size_t layer_ = 0;
  Choice model_set_;
};

/// A plug-in that a board has named.
struct Plugin {
  std::string name;    ///< board-relative: the same from every working directory
  std::string sha256;  ///< of the file, hexadecimal
};

class BoardConfig {
 public:
  const std::string& name() const { return name_; }        ///< "e810-poll"
  const std::string& summary() const { return summary_; }  ///< of the board's own file
  const std::string& file() const { return shown_; }       ///< the board's own file, for messages
  /// Board-relative names of the files in the order in which they applied.
  const std::vector<std::string>& files() const { return files_; }

  /// The plug-ins in the order of the files, each once.
  const std::vector<Plugin>& plugins() const { return plugins_; }

  /// The instances by kind in the registry's order, then by name, with numbers in numeric order. The order in the files
  /// has no influence.
  const std::vector<Instance>& instances() const { return instances_; }
  const Instance* find(std::string_view path) const;
  std::vector<const Instance*> of_kind(std::string_view kind) const;
  /// The only instance of a kind. Throws UserError when the board has none or several.
  const Instance& the(std::string_view kind) const;
  template <class P>
  const P& parameters(std::string_view path) const {
    const Instance* instance = find(path);
    if (!instance) throw std::logic_error("the board has no " + std::string(path));
    return instance->parameters<P>();
  }

  /// The path that a file parameter's value means: in a board file it is relative to that file, on the command line to
  /// the working directory.
  std::filesystem::path path_of(const Instance&, std::string_view key, const std::string& named) const;
  /// An error in a value that only the board's builder can detect. It names the line that set the value; for a default,
  /// and for a value that the model has without such a key, the line that names the instance.
  UserError error(const Instance&, std::string_view key, const std::string& what) const;
  /// The error that a value has no effect on this board.
  UserError without_effect(const Instance&, std::string_view key, std::string_view why) const;
  /// Whether --set, another option or a study gave the value of a key, and no file of the board.
  bool is_override(const Instance& instance, std::string_view key) const {
    return instance.origin(key).layer > files_.size();
  }
  /// Whether `key` of one instance was set after `other_key` of another. Where two values exclude each other, the error
  /// is about the later one. A default counts as set where its instance is first named.
  static bool is_later(const Instance&, std::string_view key, const Instance& other, std::string_view other_key);
  /// The one of several keys of an instance that was set last.
  static std::string_view latest(const Instance&, const std::vector<std::string_view>& keys);

 private:
  friend class BoardBuilder;
  std::string name_;
  std::string summary_;
  std::string shown_;
  std::vector<std::string> files_;
  std::vector<Plugin> plugins_;
  /// The registry with the models of this board's plug-ins. Another board's plug-ins may have other models of the same
  /// names.
  std::shared_ptr<const Registry> registry_;
  std::vector<Instance> instances_;
};

/// Reads BOARD (the name of a shipped board or the path of a file), applies the overrides ("nic.eth0.queues=4"), and
/// checks everything. Throws UserError. options: how messages name each override ("--requests 5"); where there is no
/// entry, or an empty one, "--set OVERRIDE".
/// The registry must outlive the result. What plug-ins add is added for this board only.
BoardConfig load_board(const std::string& board, const std::vector<std::string>& overrides, const Registry&,
                       const BoardDirectories&, const std::vector<std::string>& options = {});

/// Settings that apply on top of a board's files, as those of a study do. Each says the line that it stands in, and a
/// path in it is relative to that file.
struct AddedSettings {
  std::string name;  ///< of the file, as results show it: "outstanding.toml"
  std::vector<BoardFile::Setting> settings;
  std::vector<std::string> overrides = {};  ///< on top of them, as --set has them: "nic.eth0.queues=4"
};
/// The same for files that have been read, which makes it fast enough for thousands of boards. The settings may not add
/// a component. The layers may end before the result.
BoardConfig build_board(const BoardLayers&, const AddedSettings&, const Registry&);

}  // namespace sluice::config
