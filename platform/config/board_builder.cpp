// SPDX-License-Identifier: Apache-2.0
/// Makes a board of its files and of the settings on top of them.

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "platform/config/board_config.h"
#include "platform/config/natural_order.h"
#include "platform/config/nearest_name.h"

namespace sluice::config {
namespace {

/// Whether a sentence has this key as a word.
bool names(std::string_view sentence, std::string_view key) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (std::size_t at = sentence.find(key); at != std::string_view::npos; at = sentence.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    if ((at == 0 || !is_part(sentence[at - 1])) && (end == sentence.size() || !is_part(sentence[end]))) return true;
  }
  return false;
}

}  // namespace

/// Applies layers and overrides in order.
class BoardBuilder {
  /// One setting of one instance, from a file or from --set.
  struct Setting {
    std::string key;  ///< within the instance; empty: the instance's own table
    std::size_t layer = 0;
    const BoardFile::Setting* file = nullptr;  ///< nullptr: an override
    std::string text;                          ///< of an override
    std::optional<base::Value> quoted;         ///< value of an override that is in quotes or brackets, as in a file
    std::string set_by;
    Location where;
    /// Null: the value is only in `text`.
    const base::Value* value() const { return file ? &file->value : quoted ? &*quoted : nullptr; }
  };

 public:
  /// The layers must outlive the builder.
  BoardBuilder(const Registry& registry, const BoardLayers& layers) : base_(registry), layers_(layers) {}

  /// Loads the plug-ins that the files name, before any of the settings is looked at.
  void load_plugins() {
    std::vector<std::filesystem::path> loaded;
    for (const auto& layer : layers_.layers) {
      for (const BoardFile::Plugin& p : layer.file.plugins) {
        std::error_code refused;  // if links cannot be followed, the path counts as written
        const auto written = layer.found.path.parent_path() / p.path;
        const auto followed = std::filesystem::weakly_canonical(written, refused);
        const auto path = refused ? written.lexically_normal() : followed;
        if (std::find(loaded.begin(), loaded.end(), path) != loaded.end()) continue;
        loaded.push_back(path);
        if (!extended_) extended_ = std::make_shared<Registry>(base_);
        const bool absolute = std::filesystem::path(p.path).is_absolute();
        const auto beside = std::filesystem::path(layer.found.name).parent_path();
        const std::string name = absolute ? path.filename() : (beside / p.path).lexically_normal();
        board_.plugins_.push_back({name, extended_->load({p.path, path, p.where})});
      }
    }
    board_.registry_ = extended_;
  }

  BoardConfig build(const std::vector<std::string>& overrides, const std::vector<std::string>& options) {
    return build([&] { collect_overrides(overrides, options); });
  }
  /// The settings must outlive the call.
  BoardConfig build(const AddedSettings& added) {
    return build([&] {
      collect_added(added);
      collect_overrides(added.overrides, {});
    });
  }

 private:
  /// collect: collects the settings on top of the files.
  template <class Collect>
  BoardConfig build(const Collect& collect) {
    const BoardLayers::Layer& own = layers_.layers.back();
    board_.shown_ = own.found.shown;
    board_.name_ = std::filesystem::path(own.found.name).replace_extension();
    board_.summary_ = own.file.summary;
    for (const auto& layer : layers_.layers) board_.files_.push_back(layer.found.name);
    load_plugins();
    collect_files();
    collect();
    for (const auto& kind : registry().kinds()) make_instances(kind);
    for (const Instance& instance : board_.instances_) choose(instance);
    for (const Instance& instance : board_.instances_) check(instance);
    for (Instance& instance : board_.instances_) resolve_files(instance);
    return std::move(board_);
  }

  using Drafts = std::map<std::string, std::vector<Setting>, decltype(&natural_less)>;  ///< by instance name

  /// Splits "nic.eth0.call.bytes" into kind, name and key; name is empty for a single kind.
  struct Path {
    const Registry::Kind* kind = nullptr;
    std::string name;
    std::string key;
  };
  Path split(const std::string& path, const Location& where) const {
    const std::size_t dot = path.find('.');
    const std::string first = path.substr(0, dot);
    Path result{registry().find(first), {}, {}};
    if (path == "plugins")
      throw UserError(where, "plug-ins are named by a board file, plugins = [...], not by an override");
    if (first.empty())
      throw UserError(where, "the path begins with no kind of component: it must be KIND.KEY or KIND.NAME.KEY");
    if (!result.kind) {
      throw UserError(where, first + " is not a kind of component" + suggestion(first, registry().kind_names()));
    }
    std::string rest = dot == std::string::npos ? "" : path.substr(dot + 1);
    if (result.kind->many) {
      const std::size_t second = rest.find('.');
      result.name = rest.substr(0, second);
      rest = second == std::string::npos ? "" : rest.substr(second + 1);
    }
    result.key = rest;
    return result;
  }

  Drafts& drafts(const Registry::Kind& kind) {
    return drafts_.try_emplace(kind.name, Drafts(&natural_less)).first->second;
  }

  void collect_files() {
    for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
      const auto& layer = layers_.layers[i];
      for (const auto& s : layer.file.settings) {
        const Path path = split(s.path, s.where);
        if (path.kind->many && path.name.empty()) {
          if (s.is_table) continue;  // [nic] itself
          throw UserError(s.where, s.path + " must be a table of instances such as [" + s.path + ".NAME]");
        }
        if (path.key.empty() && !s.is_table) {
          if (const auto dot = s.path.find('.'); path.kind->many && dot != std::string::npos)
            throw UserError(s.where, fmt::format("{0} is in no component: the table must be [{1}.NAME], not [{1}]",
                                                 s.path, s.path.substr(0, dot)));
          throw UserError(s.where, s.path + " is a table of parameters, not a value");
        }
        if (path.kind->many && path.key.empty() && path.name.empty()) continue;
        const std::string set_by = Location{layer.found.name, s.where.line}.text();
        drafts(*path.kind)[path.name].push_back({path.key, i, &s, {}, {}, set_by, s.where});
      }
    }
    for (const auto& kind : registry().kinds()) {
      if (!kind.many && kind.model_by_default()) drafts(kind)[""];
    }
  }

  void collect_overrides(const std::vector<std::string>& overrides, const std::vector<std::string>& options) {
    for (std::size_t i = 0; i < overrides.size(); ++i) {
      const std::string& o = overrides[i];
      const bool named = i < options.size() && !options[i].empty();
      const Location where{named ? options[i] : "--set " + o, 0};
      const std::size_t equals = o.find('=');
      if (equals == std::string::npos || equals == 0) throw UserError(where, "must be PATH=VALUE");
      if (equals + 1 == o.size()) throw UserError(where, "has no value; an empty string is \"\", an empty list []");
      const Path path = split(o.substr(0, equals), where);
      const Drafts& known = drafts(*path.kind);
      if (!known.contains(path.name)) unknown_instance(path, where);
      if (path.key.empty()) throw UserError(where, "names a component, not a parameter of it");
      const std::string text = o.substr(equals + 1);
      drafts(*path.kind)[path.name].push_back(
          {path.key, layers_.layers.size(), nullptr, text, parse_quoted(text, where), "--set", where});
    }
  }

  void collect_added(const AddedSettings& added) {
    for (const BoardFile::Setting& s : added.settings) {
      const Path path = split(s.path, s.where);
      if (s.is_table) continue;
      if (!drafts(*path.kind).contains(path.name)) unknown_instance(path, s.where);
      if (path.key.empty()) throw UserError(s.where, s.path + " is a component, not a parameter of it");
      const std::string set_by = Location{added.name, s.where.line}.text();
      drafts(*path.kind)[path.name].push_back({path.key, layers_.layers.size(), &s, {}, {}, set_by, s.where});
    }
  }

  [[noreturn]] void unknown_instance(const Path& path, const Location& where) {
    std::vector<std::string> names;
    for (const auto& [name, settings] : drafts(*path.kind)) names.push_back(name);
    if (!path.kind->many) throw UserError(where, "the board has no " + path.kind->name);
    if (path.name.empty()) throw UserError(where, "must name one " + path.kind->name + suggestion("", names));
    throw UserError(where, "the board has no " + path.kind->name + "." + path.name +
                               suggestion(path.name, names, path.kind->name + "."));
  }

  void make_instances(const Registry::Kind& kind) {
    for (const auto& [name, settings] : drafts(kind)) {
      const std::string path = name.empty() ? kind.name : kind.name + "." + name;
      const std::vector<const Registry::Model*> models = models_by_layer(kind, path, settings);
      Instance instance(kind, name, *models.back());
      if (!settings.empty()) instance.where_ = settings.front().where;
      if (!settings.empty()) instance.layer_ = settings.front().layer + 1;
      for (const Setting& s : settings)
        if (s.key == kind.selector) instance.model_set_ = {s.where, s.layer + 1};
      set_default_origins(instance);
      for (const Setting& s : settings) apply(instance, s, *models[s.layer]);
      board_.instances_.push_back(std::move(instance));
    }
  }

  /// The model that is in force once each layer has been applied; the last entry is the one after the overrides.
  std::vector<const Registry::Model*> models_by_layer(const Registry::Kind& kind, const std::string& path,
                                                      const std::vector<Setting>& settings) const {
    std::vector<const Registry::Model*> models(layers_.layers.size() + 1, kind.model_by_default());
    for (const Setting& s : settings) {
      if (s.key != kind.selector) continue;
      const std::string key_path = path + "." + s.key;
      const base::Value* value = s.value();
      const auto* text = value ? std::get_if<std::string>(&value->data) : &s.text;
      if (!text || (s.file && s.file->is_table)) throw UserError(s.where, key_path + " must be a string");
      const Registry::Model* model = kind.find(*text);
      if (!model) {
        throw UserError(
            s.where, *text + " is not a " + kind.selector + " of " + kind.name + suggestion(*text, kind.model_names()));
      }
      std::fill(models.begin() + static_cast<std::ptrdiff_t>(s.layer), models.end(), model);
    }
    if (!models.back()) {
      const Location where = settings.empty() ? Location{board_.shown_, 0} : settings.back().where;
      throw UserError(where, path + "." + kind.selector + " must be set" + suggestion("", kind.model_names()));
    }
    return models;
  }

  static void set_default_origins(Instance& instance) {
    for (const auto& p : instance.schema().parameters()) {
      instance.origins_.push_back({p->default_provenance(), "default", {}, 0});
    }
  }

  void apply(Instance& instance, const Setting& s, const Registry::Model& model_then) {
    if (s.key.empty() || s.key == instance.kind_->selector) return;
    const base::SchemaBase& schema = instance.schema();
    const base::Parameter* parameter = schema.find(s.key);
    const bool table = s.file && s.file->is_table;
    if (!parameter || table) {
      if (table && !parameter && is_group(schema, s.key)) return;
      // A key that the board inherits for another model is ignored once the board has chosen this model.
      if (&model_then != instance.model_ && model_then.schema &&
          (model_then.schema->find(s.key) || is_group(*model_then.schema, s.key))) {
        return;
      }
      refuse_key(instance, s, parameter);
    }
    assign(instance, *parameter, s);
    check_uncertainty(instance, *parameter, s);
    const std::size_t index = index_of(schema, *parameter);
    instance.origins_[index] = {provenance_of(*parameter, s), s.set_by, s.where, s.layer + 1};
  }

  static std::size_t index_of(const base::SchemaBase& schema, const base::Parameter& parameter) {
    std::size_t index = 0;
    while (schema.parameters()[index].get() != &parameter) ++index;
    return index;
  }

  static bool is_group(const base::SchemaBase& schema, const std::string& key) {
    return std::any_of(schema.parameters().begin(), schema.parameters().end(),
                       [&](const auto& p) { return p->key().starts_with(key + "."); });
  }

  /// The keys of the table that a key is in, or, if there is no such table, all of the instance.
  static std::vector<std::string> keys_beside(const Instance& instance, const std::string& key) {
    const std::size_t dot = key.rfind('.');
    const std::string table = dot == std::string::npos ? "" : key.substr(0, dot + 1);
    std::vector<std::string> all, beside;
    for (const auto& p : instance.schema().parameters()) {
      all.push_back(p->key());
      if (p->key().starts_with(table)) beside.push_back(p->key());
    }
    if (!table.empty() && !beside.empty()) return beside;
    all.push_back(instance.kind_->selector);
    return all;
  }

  [[noreturn]] static void refuse_key(const Instance& instance, const Setting& s, const base::Parameter* parameter) {
    const std::string path = instance.path() + "." + s.key;
    if (parameter) throw UserError(s.where, path + " must be " + parameter->valid() + ", not a table without a value");
    if (is_group(instance.schema(), s.key)) {
      throw UserError(s.where, path + " is a table of parameters, not a value");
    }
    const std::vector<std::string> keys = keys_beside(instance, s.key);
    const bool near = !nearest_name(s.key, keys).empty();
    throw UserError(s.where, path + " is not a parameter of the " + instance.title() +
                                 suggestion(s.key, keys, near ? instance.path() + "." : ""));
  }

  /// In a list of an override, an element needs no quotes where a file does: [a1, 2] is a list of names, too.
  static bool takes_as_text(Instance& instance, const base::Parameter& parameter, const Setting& s) {
    const auto* list = std::get_if<base::Value::Array>(&s.value()->data);
    const auto is_string = [](const base::Value& v) { return std::holds_alternative<std::string>(v.data); };
    if (!list || std::all_of(list->begin(), list->end(), is_string)) return false;
    try {
      parameter.assign_text(instance.values_.get(), s.text);
      return true;
    } catch (const base::ValueError&) {
      return false;
    }
  }

  static void assign(Instance& instance, const base::Parameter& parameter, const Setting& s) {
    try {
      const base::Value* value = s.value();
      if (!value)
        parameter.assign_text(instance.values_.get(), s.text);
      else if (s.file || !takes_as_text(instance, parameter, s))
        parameter.assign(instance.values_.get(), *value);
    } catch (const base::ValueError& e) {
      if (!s.file) throw UserError(s.where, e.what());
      throw UserError(s.where, instance.path() + "." + s.key + " " + e.what() + ", not " + toml_text(s.file->value));
    }
  }

  static void check_uncertainty(const Instance& instance, const base::Parameter& parameter, const Setting& s) {
    if (!s.file || !s.file->provenance || !s.file->provenance->uncertainty || parameter.has_uncertainty()) return;
    throw UserError(s.where,
                    fmt::format("{}.{} has an uncertainty, but {} has none: leave it out", instance.path(), s.key,
                                parameter.is_setting() ? "a choice of the board" : "what is no number"));
  }

  static base::Provenance provenance_of(const base::Parameter& parameter, const Setting& s) {
    if (s.file && s.file->provenance) return *s.file->provenance;
    base::Provenance p;
    p.source = parameter.is_setting() ? "choice of the board" : "no source given";
    if (!s.file) p.source = "set on the command line";
    return p;
  }

  /// Resolves parameters that name a part, which is an object that is not a component.
  void choose(const Instance& instance) const {
    for (const auto& choice : registry().choices()) {
      if (choice.schema != &instance.schema()) continue;
      const std::string what = choice.choose(instance.values_.get(), registry());
      if (!what.empty()) throw board_.error(instance, choice.key, what);
    }
  }

  void check(const Instance& instance) const {
    for (const auto& p : instance.schema().parameters()) {
      const std::string path = instance.path() + "." + p->key();
      if (p->required() && instance.origin(p->key()).set_by == "default") {
        throw board_.error(instance, p->key(), "must be set: " + p->meaning());
      }
      if (!p->refers_to().empty()) check_reference(instance, *p);
    }
    for (const auto& rule : instance.schema().rules()) {
      const std::string what = broken_by(instance, rule, instance.values_.get());
      if (!what.empty()) throw broken(instance, rule, what);
    }
  }

  /// Checks a rule. A rule is code of the model, so an exception from it is reported as an error.
  std::string broken_by(const Instance& instance, const base::SchemaBase::Rule& rule, const void* values) const {
    std::string why = "something that is no std::exception";
    try {
      return rule.broken(values);
    } catch (const std::exception& e) {
      why = *e.what() ? e.what() : "an exception without a text";
    } catch (...) {
    }
    throw board_.error(instance, rule.key, "cannot be checked: a rule of the " + instance.title() + " threw " + why);
  }

  void resolve_files(Instance& instance) const {
    for (const auto& p : instance.schema().parameters()) {
      const std::string named = p->names_file() ? std::get<std::string>(p->value(instance.values()).data) : "";
      if (named.empty()) continue;
      if (!instance.model_values_) instance.model_values_ = instance.schema().copy_of(instance.values());
      const std::string path = board_.path_of(instance, p->key(), named).string();
      p->assign(instance.model_values_.get(), base::Value{path});
    }
  }

  /// The error for a broken rule. A rule belongs to one key, but a key that was changed later may have broken it: that
  /// is so if the rule's sentence names that key, or if the rule holds with that key's default.
  UserError broken(const Instance& instance, const base::SchemaBase::Rule& rule, const std::string& what) const {
    const Origin& about = instance.origin(rule.key);
    const Origin* cause = &about;
    for (const auto& changed : instance.schema().parameters()) {
      const Origin& origin = instance.origin(changed->key());
      if (origin.layer <= cause->layer) continue;
      if (names(what, changed->key())) {
        cause = &origin;
        continue;
      }
      const std::shared_ptr<void> without = instance.schema().defaults();
      for (const auto& p : instance.schema().parameters())
        if (p != changed) p->assign_text(without.get(), p->text(instance.values()));
      for (const auto& choice : registry().choices())
        if (choice.schema == &instance.schema()) choice.choose(without.get(), registry());
      if (broken_by(instance, rule, without.get()).empty()) cause = &origin;
    }
    if (cause == &about) return board_.error(instance, rule.key, what);
    return UserError(cause->where, instance.path() + "." + rule.key + " " + what);
  }

  void check_reference(const Instance& instance, const base::Parameter& p) const {
    const base::Value value = p.value(instance.values_.get());
    const auto check_one = [&](const base::Value& v) {
      const std::string& target = std::get<std::string>(v.data);
      const Instance* found = board_.find(target);
      if ((target.empty() && p.may_refer_to_none()) || (found && found->kind() == p.refers_to())) return;
      std::vector<std::string> names;
      for (const Instance* i : board_.of_kind(p.refers_to())) names.push_back(i->path());
      const std::string none = names.empty() ? "; the board has none" : "";
      throw board_.error(instance, p.key(),
                         "must name " + registry().find(p.refers_to())->title + " of the board, not " + toml_text(v) +
                             suggestion(target, names) + none);
    };
    if (const auto* list = std::get_if<base::Value::Array>(&value.data)) {
      for (const base::Value& v : *list) check_one(v);
    } else {
      check_one(value);
    }
  }

  const Registry& registry() const { return extended_ ? *extended_ : base_; }

  const Registry& base_;
  std::shared_ptr<Registry> extended_;  ///< null: the board names no plug-ins
  const BoardLayers& layers_;
  BoardConfig board_;
  std::map<std::string, Drafts> drafts_;  ///< by kind
};

BoardConfig load_board(const std::string& board, const std::vector<std::string>& overrides, const Registry& registry,
                       const BoardDirectories& directories, const std::vector<std::string>& options) {
  const BoardLayers layers = read_layers(board, directories);
  return BoardBuilder(registry, layers).build(overrides, options);
}

BoardConfig build_board(const BoardLayers& layers, const AddedSettings& added, const Registry& registry) {
  return BoardBuilder(registry, layers).build(added);
}

}  // namespace sluice::config
