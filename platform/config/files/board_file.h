// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One TOML file of a board, read but not yet understood: a flat list of dotted paths and values, each with its line.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/parameters/schema.h"
#include "platform/config/user_error.h"

namespace sluice::config {

struct BoardFile {
  struct Setting {
    std::string path;                            ///< "nic.eth0.queues"
    base::Value value;                           ///< meaningless for a table
    bool is_table = false;                       ///< the path is a table; it has no value of its own
    std::optional<base::Provenance> provenance;  ///< where the file says { value, kind, source, points, uncertainty }
    Location where;
  };
  struct Extends {
    std::string name;
    Location where;
  };

  struct Plugin {
    std::string path;  ///< relative to the file
    Location where;
  };

  std::string summary;
  std::vector<Extends> extends;
  std::vector<Plugin> plugins;
  std::vector<Setting> settings;  ///< in the order of the file
};

/// Reads the text of a TOML file. name is used in messages. Throws UserError for text that is not TOML or not a board
/// file: an unknown top-level key, a date, a list of tables, an incomplete { value, kind, source }.
BoardFile parse_board_file(std::string_view text, const std::string& name);

/// Reads a value in quotes or brackets, as a file has it after a key: "poll", ["1 us", "2 us"]. Several values between
/// commas, such as "1 us","2 us", become a list. Nothing where the text is none of these, such as a list of elements
/// without quotes. Throws UserError for a quote without its other one, and for a list whose elements no parameter
/// takes.
std::optional<base::Value> parse_quoted(std::string_view text, const Location&);

/// The text, or the content of the string that it is. Throws as parse_quoted().
std::string unquoted(const std::string& text, const Location&);

/// The whole of a regular file of at most 1 MiB. Throws UserError that names the file and the reason.
std::string read_text_file(const std::string& path, const std::string& name);

/// A value as a TOML file would write it, for messages: "x", -1, [1, 2].
std::string toml_text(const base::Value&);

}  // namespace sluice::config
