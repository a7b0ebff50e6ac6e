// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The points of a study: its cases, in the order of the file, each with every seed and replication.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/config/board_config.h"
#include "platform/study/study_file.h"

namespace sluice::study {

/// A value of a swept parameter as a person writes it and, where it is one, as a number in the parameter's unit.
struct SweptValue {
  std::string path;
  std::string text;
  std::optional<double> number;
};

/// A parameter that any grid sweeps.
struct SweptParameter {
  std::string path;
  std::string unit;  ///< of the numbers: ns, B, b/s, Hz, or what the model says; may be empty
};

/// A board with a choice of values.
struct Case {
  std::size_t grid = 0;
  std::size_t board = 0;  ///< of board_names()
  std::vector<SweptValue> values;
};

/// Cases of which a search is to find the last one that is as it must be.
struct Search {
  const Axis* axis;                ///< of the study
  std::vector<std::size_t> cases;  ///< in the order of the axis's values
};

/// A case with its random streams: one run.
struct Point {
  std::uint64_t number = 0;
  std::size_t case_number = 0;
  std::optional<std::uint64_t> seed;  ///< nothing: that of the board
  std::optional<unsigned> replication;
};

/// Nothing here grows with what a point holds, so that a study of millions of points fits in memory.
class Points {
 public:
  /// Whether the values of cases are checked before any is run: all of up to 20,000 cases; of more, each value once as
  /// far as 20,000 boards go.
  enum class Check { values, nothing };

  /// Reads the boards and decides the conditions. Throws config::UserError with the line for boards, parameters and
  /// values that are not valid wherever they are used first, for a condition that leaves nothing, for two points that
  /// are the same, and for more points than kMostPoints. The registry must outlive this.
  Points(Study, const config::Registry&, const config::BoardDirectories&, Check check = Check::values);

  const Study& study() const { return study_; }
  /// Whether results decide which points are run.
  bool is_adaptive() const;
  /// The searches, in the order of their first cases.
  std::vector<Search> searches() const;
  std::size_t cases() const { return chosen_.size(); }
  std::uint64_t size() const { return cases() * per_case(); }
  /// Points of each case.
  std::uint64_t per_case() const { return std::max<std::size_t>(1, study_.seeds.size()) * study_.replications; }

  Case case_at(std::size_t number) const;
  Point at(std::uint64_t number) const;

  /// Throws config::UserError, which names the point, when its values do not fit together.
  config::BoardConfig board_of(const Point&) const;
  /// "e810-poll, workload.outstanding = 4, seed 2, replication 0"
  std::string describe(const Point&) const;

  const std::vector<std::string>& board_names() const { return names_; }
  /// The board's own file.
  std::string board_path(const Point&) const;
  /// The board files of all boards, those that they extend included.
  std::vector<std::string> files() const;
  /// A value of a parameter as a board of this number shows it: "1 us" for "1000 ns". As it is written where the board
  /// has no such parameter.
  std::string shown_text(std::size_t board, const std::string& path, const base::Value& value) const {
    return shown(boards_[board], {path, {}, {value}, {}, {}}, 0).text;
  }
  /// A value of an axis as the first board writes it.
  std::string value_text(const Axis& axis, std::size_t value) const { return shown(boards_.front(), axis, value).text; }
  /// In the order in which the grids name them.
  const std::vector<SweptParameter>& swept() const { return swept_; }

 private:
  /// A grid on one of its boards.
  struct Source {
    std::size_t grid = 0;
    std::size_t board = 0;
  };
  /// A case, as the places of its values in the grid's dimensions, the last one counting fastest.
  struct Chosen {
    std::uint32_t source = 0;
    std::uint64_t combination = 0;
  };
  struct Board {
    Named named;
    config::BoardLayers layers;
    std::optional<config::BoardConfig> plain;  ///< without what is swept; nothing where it needs that
  };

  void read_boards(const config::BoardDirectories&);
  std::size_t board_number(const Named&, const config::BoardDirectories&);
  void check_number() const;
  void check_axis(const Source&, const Axis&) const;
  void choose();
  void choose_in(const Source&, std::uint32_t number);
  void check_texts(const Source&) const;
  std::vector<std::pair<std::uint64_t, std::size_t>> hashes(const std::vector<std::string>& paths) const;
  void find_duplicates() const;
  void check_values() const;

  /// A parameter and the schema that declares it; null: there is none.
  struct Declared {
    const base::SchemaBase* schema = nullptr;
    const base::Parameter* parameter = nullptr;
    const config::Instance* instance = nullptr;  ///< that has it; null: only its model is known
  };
  Declared parameter_of(const Board&, const std::string& path) const;
  void check_value(const Board&, const Axis&, std::size_t value) const;
  SweptValue shown(const Board&, const Axis&, std::size_t value) const;
  /// Text of what a case has for a path that some grid sets or sweeps.
  std::string value_in(const Chosen&, const std::string& path) const;
  std::vector<std::size_t> places_of(const Grid&, std::uint64_t combination) const;
  config::AddedSettings settings_of(const Point&) const;

  Study study_;
  const config::Registry& registry_;
  std::vector<Board> boards_;
  std::vector<std::string> names_;
  std::vector<Source> sources_;
  std::vector<Chosen> chosen_;
  std::vector<SweptParameter> swept_;
};

}  // namespace sluice::study
