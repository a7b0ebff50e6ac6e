// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Settings of a study that are without effect in every run that has them.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "platform/study/study_file.h"

namespace sluice::sweep {

struct IdleSetting {
  std::string path;    ///< "workload.rate"
  std::string set_by;  ///< "--set", "calls.toml:7"
  std::string text;    ///< "workload.rate (calls.toml:7) has no effect: workload.kind is closed-loop"
};

/// Gathers what results say of the settings in them that did nothing. Of what did not act because something has not
/// happened, only what is swept or of the command line: `settings` have what other runs of the study may need.
class IdleSettings {
 public:
  explicit IdleSettings(const study::Study&);

  /// Takes the result of a run that did not fail, whose case is of the grid of this number.
  void add(const nlohmann::ordered_json& result, std::size_t grid);

  /// Those that did nothing in any run that has them, in the order of the first run.
  std::vector<IdleSetting> list() const;

 private:
  /// Which line sets a path. A result may be of an earlier state of the study, so its own word does not count.
  struct Setter {
    std::string name;  ///< "--set", "calls.toml:7"
    bool is_varied;    ///< swept, or of the command line
  };
  struct Seen {
    IdleSetting setting;
    std::uint64_t runs = 0;
  };

  std::vector<std::map<std::string, Setter>> setters_;  ///< by grid, by path
  std::vector<std::uint64_t> runs_;                     ///< by grid
  std::vector<Seen> seen_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  ///< in seen_, by setter and path
};

}  // namespace sluice::sweep
