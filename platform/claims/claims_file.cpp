// SPDX-License-Identifier: Apache-2.0
#include "platform/claims/claims_file.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "platform/config/files/toml_file.h"
#include "platform/config/nearest_name.h"
#include "platform/study/expression.h"
#include "platform/study/study_file.h"

namespace sluice::claims {
namespace {

using config::Location;
using config::UserError;

constexpr std::array<std::pair<std::string_view, Role>, 5> kRoles = {{{"fitted", Role::fitted},
                                                                      {"input", Role::input},
                                                                      {"arithmetic", Role::arithmetic},
                                                                      {"tested", Role::tested},
                                                                      {"reported", Role::reported}}};
/// Keys of a claim that no model holds.
constexpr std::array<std::string_view, 6> kOfLacking = {"name", "rows", "source", "statement", "note", "lacks"};
constexpr std::size_t kLongestName = 100, kLongestText = 2000;
constexpr const char* kEach = "{}";  ///< stands for the key of each published value

/// A published value and the key that it has in a table of such; no key: the only one.
struct Entry {
  std::string key;
  Published published;
  Location where;
};

/// Tables of TOML have no order; that of the file is what a person expects.
template <class T>
void put_in_order(std::vector<std::pair<toml::source_position, T>>& by_place, std::vector<T>& to) {
  std::sort(by_place.begin(), by_place.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [place, element] : by_place) to.push_back(std::move(element));
}

void replace_each(std::string& text, const std::string& key) {
  for (std::size_t at = text.find(kEach); at != std::string::npos; at = text.find(kEach, at + key.size()))
    text.replace(at, 2, key);
}

class ClaimReader : config::TomlReader {
 public:
  using TomlReader::at;
  using TomlReader::TomlReader;

  /// Adds one claim, or one for each value of a table of published ones.
  void read(const toml::table& table, const Location& where, std::vector<Claim>& to) {
    claim_ = {};
    claim_.where = where;
    entries_.clear();
    Term shared;
    shared.where = where;
    const toml::node* terms = nullptr;
    keys_.clear();
    for (auto&& [key, node] : table) {
      const std::string name(key.str());
      const Location at_key = at(key.source());
      keys_.push_back(name);
      if (name == "terms")
        terms = &node;
      else if (name == "long")
        claim_.is_long = truth_of(node, at_key);
      else if (!read_text(name, node) && !read_list(name, node, at_key) && !read_number(name, node, at_key) &&
               !read_term(name, node, at_key, shared))
        throw UserError(at_key, name + " is not a key of a claim" + config::suggestion(name, keys()));
    }
    if (terms) read_terms(*terms, shared);
    if (!terms && !shared.value.empty()) claim_.terms.push_back(shared);
    if (terms) claim_.value = shared.value;
    check();
    add(to);
  }

 private:
  static std::vector<std::string> keys() {
    return {"name",   "rows",  "source", "statement", "note",      "unit",  "role",     "lacks", "parameters",
            "within", "study", "board",  "at",        "published", "value", "ordering", "terms", "long"};
  }

  /// A text that a table can show.
  std::string line_of(const toml::node& node, const std::string& name) const {
    std::string text = string_of(node, name);
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
      throw UserError(at(node.source()), name + " must be one line of text");
    const std::size_t longest = name == "name" || name == "unit" ? kLongestName : kLongestText;
    if (text.size() > longest)
      throw UserError(at(node.source()), fmt::format("{} must have at most {} characters", name, longest));
    return text;
  }

  bool read_text(const std::string& name, const toml::node& node) {
    const std::array<std::pair<const char*, std::string*>, 6> texts = {{{"name", &claim_.name},
                                                                        {"source", &claim_.source},
                                                                        {"statement", &claim_.statement},
                                                                        {"note", &claim_.note},
                                                                        {"unit", &claim_.unit},
                                                                        {"lacks", &claim_.lacks}}};
    for (const auto& [key, text] : texts)
      if (name == key) return *text = line_of(node, name), true;
    return false;
  }

  bool read_list(const std::string& name, const toml::node& node, const Location& where) {
    if (name != "rows" && name != "parameters") return false;
    const auto* list = node.as_array();
    if (!list) throw UserError(where, name + " must be a list of names");
    for (const auto& e : *list) (name == "rows" ? claim_.rows : claim_.parameters).push_back(line_of(e, name));
    return true;
  }

  /// What is published, how far off it may be, and in which role or order.
  bool read_number(const std::string& name, const toml::node& node, const Location& where) {
    if (name == "role")
      claim_.role = role_of(string_of(node, name), where);
    else if (name == "published")
      read_published(node, where);
    else if (name == "within")
      claim_.within = share_of(node, "within", where);
    else if (name == "ordering")
      read_ordering(string_of(node, name), where);
    else
      return false;
    return true;
  }

  bool read_term(const std::string& name, const toml::node& node, const Location& where, Term& term) const {
    if (name == "study")
      term.study = line_of(node, name);
    else if (name == "board")
      term.board = line_of(node, name);
    else if (name == "value")
      term.value = string_of(node, name);
    else if (name == "at")
      term.settings = settings_of(node, where);
    else
      return false;
    return true;
  }

  static Role role_of(const std::string& text, const Location& where) {
    std::vector<std::string> names;
    for (const auto& [name, role] : kRoles) {
      if (name == text) return role;
      names.emplace_back(name);
    }
    throw UserError(where, fmt::format("role must not be {}{}", text, config::suggestion(text, names)));
  }

  static bool truth_of(const toml::node& node, const Location& where) {
    if (const auto* b = node.as_boolean()) return b->get();
    throw UserError(where, "long must be true or false");
  }

  static double number_of(const toml::node& node, const Location& where) {
    if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
    const auto* number = node.as_floating_point();
    if (!number || !std::isfinite(number->get()))
      throw UserError(where, "published must be a number, a range [LEAST, MOST], or a table of such by KEY");
    return number->get();
  }

  static Published published_of(const toml::node& node, const Location& where) {
    const auto* range = node.as_array();
    if (!range) {
      const double value = number_of(node, where);
      return {value, value};
    }
    if (range->size() != 2) throw UserError(where, "a published range must be [LEAST, MOST]");
    const Published p{number_of(*range->get(0), where), number_of(*range->get(1), where)};
    if (p.most < p.least) throw UserError(where, "a published range must have its least value first");
    return p;
  }

  void read_published(const toml::node& node, const Location& where) {
    const auto* table = node.as_table();
    if (!table) {
      entries_.push_back({"", published_of(node, where), where});
      return;
    }
    std::vector<std::pair<toml::source_position, Entry>> by_place;
    for (auto&& [key, value] : *table) {
      const Location at_key = at(key.source());
      check_key(std::string(key.str()), at_key);
      by_place.emplace_back(key.source().begin, Entry{std::string(key.str()), published_of(value, at_key), at_key});
    }
    if (by_place.empty()) throw UserError(where, "published is empty");
    put_in_order(by_place, entries_);
  }

  /// "direct < dma < cold"
  void read_ordering(const std::string& text, const Location& where) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find('<', from), text.size());
      std::string name = text.substr(from, end - from);
      name.erase(0, name.find_first_not_of(' '));
      name.erase(name.find_last_not_of(' ') + 1);
      if (name.empty()) throw UserError(where, "ordering must be names of terms with < between them");
      if (std::find(claim_.ordering.begin(), claim_.ordering.end(), name) != claim_.ordering.end())
        throw UserError(where, "ordering has " + name + " twice");
      claim_.ordering.push_back(std::move(name));
      from = end + 1;
    }
    if (claim_.ordering.size() < 2) throw UserError(where, "ordering must have two terms or more, with < between them");
  }

  std::vector<config::BoardFile::Setting> settings_of(const toml::node& node, const Location& where) const {
    if (!node.is_table()) throw UserError(where, "at must be a table of parameters that the study sweeps");
    std::vector<config::BoardFile::Setting> all;
    for (auto&& [key, below] : *node.as_table()) {
      const Location at_key = at(key.source());
      check_key(std::string(key.str()), at_key);
      if (!below.is_table()) throw UserError(at_key, "at has parameters, such as pcie.slot0.lanes");
      add_settings(*below.as_table(), std::string(key.str()), at_key, all);
    }
    std::erase_if(all, [](const auto& s) { return s.is_table; });
    return all;
  }

  void read_terms(const toml::node& node, const Term& shared) {
    const auto* table = node.as_table();
    if (!table) throw UserError(at(node.source()), "terms must be tables: [claim.terms.NAME]");
    std::vector<std::pair<toml::source_position, Term>> by_place;
    for (auto&& [key, below] : *table) {
      Term term = shared;
      term.value.clear();
      term.name = key.str();
      term.where = at(key.source());
      if (!below.is_table()) throw UserError(term.where, "terms must be tables: [claim.terms.NAME]");
      for (auto&& [inner, value] : *below.as_table())
        if (!read_term(std::string(inner.str()), value, at(inner.source()), term))
          throw UserError(at(inner.source()),
                          fmt::format("{} is not a key of a term{}", inner.str(),
                                      config::suggestion(inner.str(), {"study", "board", "at", "value"})));
      by_place.emplace_back(key.source().begin, std::move(term));
    }
    put_in_order(by_place, claim_.terms);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(claim_.where, (claim_.name.empty() ? "a claim" : claim_.name) + " " + why);
  }

  void check() const {
    if (claim_.name.empty()) refuse("must have a name");
    if (claim_.source.empty()) refuse("must have a source");
    if (!claim_.lacks.empty()) {
      if (!claim_.terms.empty()) refuse("has a value, so the models do not lack it");
      if (claim_.statement.empty()) refuse("must have a statement, because no model holds it");
      for (const std::string& key : keys_)
        if (std::find(kOfLacking.begin(), kOfLacking.end(), key) == kOfLacking.end())
          refuse(fmt::format("has {}, which has no use where the models lack something", key));
      return;
    }
    if (!claim_.parameters.empty() && claim_.role != Role::input)
      refuse("has parameters, which only an input has; those of a fitted claim name it themselves");
    if (!claim_.role) refuse("must have a role; valid: fitted, input, arithmetic, tested, reported");
    if (claim_.terms.empty()) refuse("must have a study, a board and a value; or say what the models lack");
    for (const Term& t : claim_.terms) {
      const std::string name = claim_.name + (t.name.empty() ? "" : ": " + t.name);
      if (t.study.empty() || t.board.empty() || t.value.empty())
        throw UserError(t.where, name + " must have a study, a board and a value");
      for (const std::string& quantity : study::names_in(t.value))
        if (study::depends_on_machine(quantity))
          throw UserError(t.where, quantity + " depends on the machine, and is no quantity of a claim");
      if (study::names_in(t.value).empty())
        throw UserError(t.where, fmt::format("{} has the value '{}', in which no result has a part", name, t.value));
      if (!t.name.empty() && !study::is_name(t.name))
        throw UserError(t.where, name + " cannot be in an expression; give the term another name");
    }
    check_published();
    check_terms();
  }

  void check_published() const {
    const bool has_value = !entries_.empty();
    if (!claim_.ordering.empty()) {
      if (has_value || claim_.within) refuse("is an ordering, which has no published value and no tolerance");
      if (claim_.role == Role::reported || claim_.role == Role::input)
        refuse("is an ordering: tested, fitted or arithmetic");
      return;
    }
    if (claim_.unit.empty()) refuse("must have a unit; 1 for a share or a ratio");
    if (has_value && claim_.role == Role::reported) refuse("is reported, so it has no published value");
    if (!has_value && claim_.role != Role::reported) refuse("must have a published value, unless its role is reported");
    const bool limited = claim_.role != Role::tested && claim_.role != Role::reported;
    if (limited != claim_.within.has_value())
      refuse(limited ? "must say within how much of the published value it holds"
                     : "must not have a tolerance: its error is shown, whatever it is");
  }

  void check_terms() const {
    std::vector<std::string> names;
    for (const Term& t : claim_.terms) names.push_back(t.name);
    const std::vector<std::string> used = claim_.ordering.empty() ? study::names_in(claim_.value) : claim_.ordering;
    if (claim_.ordering.empty() && names.front().empty()) return;
    if (!claim_.ordering.empty() && !claim_.value.empty()) refuse("has an ordering and a value; leave one of them out");
    if (used.empty()) refuse("must have a value, an expression over its terms, or an ordering of them");
    for (const std::string& name : used)
      if (std::find(names.begin(), names.end(), name) == names.end())
        refuse(fmt::format("names {}, which is none of its terms{}", name, config::suggestion(name, names)));
    for (const std::string& name : names)
      if (std::find(used.begin(), used.end(), name) == used.end())
        refuse(fmt::format("has no use for its term {}", name));
  }

  void add(std::vector<Claim>& to) const {
    if (entries_.empty()) {
      to.push_back(claim_);
      return;
    }
    for (const Entry& e : entries_) {
      Claim c = claim_;
      c.published = e.published;
      if (!e.key.empty()) {
        if (c.name.find(kEach) == std::string::npos)
          refuse("has several published values, so its name must have {} where their keys go");
        c.where = e.where;
        replace_each(c.name, e.key);
        replace_each(c.value, e.key);
        for (Term& t : c.terms) {
          replace_each(t.value, e.key);
          for (auto& s : t.settings)
            if (auto* text = std::get_if<std::string>(&s.value.data)) replace_each(*text, e.key);
        }
      }
      to.push_back(std::move(c));
    }
  }

  Claim claim_;
  std::vector<Entry> entries_;
  std::vector<std::string> keys_;  ///< that the claim has
};

}  // namespace

std::string_view to_text(Role role) {
  for (const auto& [name, value] : kRoles)
    if (value == role) return name;
  return {};
}

std::vector<Claim> parse_claims(const std::string& text, const std::string& file) {
  std::vector<Claim> all;
  ClaimReader reader(file);
  const toml::table root = config::parse_toml(text, file);
  for (auto&& [key, node] : root) {
    const Location where = reader.at(key.source());
    if (key.str() != "claim" || !node.is_array_of_tables())
      throw UserError(where, "a file of claims has [[claim]] tables, and nothing else");
    for (const auto& e : *node.as_array()) reader.read(*e.as_table(), reader.at(e.source()), all);
  }
  if (all.empty()) throw UserError({file, 0}, "has no [[claim]]");
  return all;
}

}  // namespace sluice::claims
