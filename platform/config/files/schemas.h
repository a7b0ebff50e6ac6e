// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The `schema` of each kind of file that a command writes and others read.

namespace sluice::config {

inline constexpr const char* kResultSchema = "sluice-result-1";
inline constexpr const char* kComparisonSchema = "sluice-compare-1";
inline constexpr const char* kStudySchema = "sluice-study-1";
inline constexpr const char* kClaimsSchema = "sluice-claims-1";

}  // namespace sluice::config
