// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A claim: what somebody has published of a system, and how the models' value for it is made.
/// docs/reference/claims.md documents the files.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/files/board_file.h"
#include "platform/study/expression.h"

namespace sluice::claims {

/// What a claim says of the models that hold it.
enum class Role {
  fitted,      ///< a parameter was fitted to it: validates nothing
  input,       ///< the published value is itself a parameter
  arithmetic,  ///< a formula, or a number that follows from one: tests the mechanism
  tested,      ///< nothing in the models was chosen by it
  reported     ///< nothing is published; for completeness
};
std::string_view to_text(Role);

/// A number of one case of a study.
struct Term {
  std::string name;                                  ///< in the claim's expression or ordering; empty: the only one
  std::string study;                                 ///< a shipped one's name, or a path
  std::string board;                                 ///< of the study's
  std::vector<config::BoardFile::Setting> settings;  ///< what else tells the case from the others of the study
  std::string value;                                 ///< an expression over quantities of result files
  config::Location where;
};

/// Of expressions of claims, for messages.
inline constexpr study::Expression::Use kClaimExpression = {"value", "which is no name"};

/// What is published: a value (both are equal), or a range.
struct Published {
  double least = 0, most = 0;
};

struct Claim {
  std::string name;               ///< from general to special: "pcie.read.warm.64"
  std::vector<std::string> rows;  ///< of the calibration page: "V5"
  std::string source;             ///< who has published it, and where
  std::string statement;          ///< what is claimed, in words; may be empty
  std::string note;               ///< what else a reader must know; may be empty
  std::string unit;               ///< of the published and the modelled value; empty for an ordering
  std::optional<Role> role;       ///< nothing: no model holds it yet
  std::optional<Published> published;
  std::optional<double> within;         ///< the largest error with which it holds; nothing: any
  std::vector<std::string> parameters;  ///< of an input: those whose value it is
  std::vector<Term> terms;              ///< none: no model holds it yet
  std::string value;                    ///< an expression over the terms' names; empty: the only term
  std::vector<std::string> ordering;    ///< the terms' names, the least first; empty: it is about a value
  bool is_long = false;                 ///< takes minutes: --quick leaves it out
  std::string lacks;                    ///< what the models lack; empty: they hold it
  config::Location where;
};

}  // namespace sluice::claims
