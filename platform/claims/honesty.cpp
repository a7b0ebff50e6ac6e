// SPDX-License-Identifier: Apache-2.0
#include "platform/claims/honesty.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace sluice::claims {
namespace {

using Paths = std::map<std::string, std::vector<std::string>>;

/// Adds the parameters of a board that were fitted, by the names of the claims.
void add_fitted(const config::BoardConfig& board, Paths& to) {
  for (const config::Instance& instance : board.instances())
    for (const auto& p : instance.schema().parameters()) {
      const std::string path = instance.path() + "." + p->key();
      for (const std::string& point : instance.origin(p->key()).provenance.points) {
        std::vector<std::string>& paths = to[point];
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
      }
    }
}

bool has_parameter(const config::BoardConfig& board, const std::string& path) {
  return std::any_of(board.instances().begin(), board.instances().end(), [&path](const config::Instance& i) {
    return path.starts_with(i.path() + ".") && i.find_origin(path.substr(i.path().size() + 1)) != nullptr;
  });
}

[[noreturn]] void refuse(const Claim& claim, const std::string& why) {
  throw config::UserError(claim.where, claim.name + " " + why);
}

void check_fitted(const Claim& claim, const Paths& everywhere, const Paths& here) {
  if (const auto found = everywhere.find(claim.name); found != everywhere.end() && claim.role != Role::fitted)
    refuse(claim, fmt::format("is not {}: {} was fitted to it", claim.role ? to_text(*claim.role) : "lacking",
                              fmt::join(found->second, ", ")));
  if (claim.role == Role::fitted && !here.contains(claim.name))
    refuse(claim, "is not fitted: no parameter of its boards says that it was fitted to it");
}

void check_input(const Claim& claim, const std::vector<const config::BoardConfig*>& boards) {
  if (claim.role != Role::input) return;
  if (claim.parameters.empty()) refuse(claim, "is an input, and must say in parameters whose value it is");
  for (const std::string& path : claim.parameters)
    if (std::none_of(boards.begin(), boards.end(), [&path](const auto* b) { return has_parameter(*b, path); }))
      refuse(claim, path + " is no parameter of its boards");
}

/// Throws for a name that is the first parts of another: nobody could ask for that claim alone.
void check_names(const std::vector<ClaimOnBoards>& list, const std::set<std::string>& names) {
  for (const ClaimOnBoards& c : list)
    if (const auto next = names.lower_bound(c.claim->name + "."); next != names.end())
      if (next->starts_with(c.claim->name + "."))
        refuse(*c.claim, "has a name that stands for all below it, as " + *next);
}

}  // namespace

Paths check_honesty(const std::vector<ClaimOnBoards>& list) {
  Paths everywhere;
  std::set<std::string> names;
  for (const ClaimOnBoards& c : list) {
    if (!names.insert(c.claim->name).second) refuse(*c.claim, "is claimed twice");
    for (const auto* board : c.boards) add_fitted(*board, everywhere);
  }
  check_names(list, names);
  for (const auto& [name, paths] : everywhere)
    if (!names.contains(name))
      throw config::UserError(
          fmt::format("{}: fitted to {}, which is not in the list of claims", fmt::join(paths, ", "), name));
  for (const ClaimOnBoards& c : list) {
    Paths here;
    for (const auto* board : c.boards) add_fitted(*board, here);
    check_fitted(*c.claim, everywhere, here);
    check_input(*c.claim, c.boards);
  }
  return everywhere;
}

}  // namespace sluice::claims
