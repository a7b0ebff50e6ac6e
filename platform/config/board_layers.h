// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Finding the file of a board and the files that it extends.

#include <filesystem>
#include <string>
#include <vector>

#include "platform/config/files/board_file.h"

namespace sluice::config {

/// The directories of shipped boards, and what is in them.
class BoardDirectories {
 public:
  /// Uses the standard directories: resource_directories("boards").
  BoardDirectories();
  explicit BoardDirectories(std::vector<std::filesystem::path> directories) : directories_(std::move(directories)) {}

  const std::vector<std::filesystem::path>& directories() const { return directories_; }

  struct Found {
    std::filesystem::path path;
    std::string shown;  ///< in messages: "hosts/i9-9960x.toml", or the path as the user gave it
    std::string name;   ///< in results: never absolute, the same from every working directory
  };
  /// The names of all boards, sorted. Files in sub-directories are parts of boards and are not listed.
  std::vector<std::string> board_names() const;
  /// Finds the BOARD that the user typed: a path when it has a slash or ends in .toml, else the name of a shipped
  /// board. Throws UserError.
  Found find_board(const std::string& board) const;
  /// Finds a name in the extends list of the file `from`: first beside that file, then in the board directories. Throws
  /// UserError.
  Found find_part(const BoardFile::Extends&, const Found& from) const;

 private:
  Found found(const std::filesystem::path& path, std::string shown, std::string name) const;
  std::vector<std::string> part_names() const;
  std::vector<std::filesystem::path> directories_;
};

/// A board's files in the order in which they apply: each file comes after those that it extends, and the board itself
/// is last. A file that is extended twice applies once, the first time. Throws UserError, also for a cycle.
struct BoardLayers {
  struct Layer {
    BoardDirectories::Found found;
    BoardFile file;
  };
  std::vector<Layer> layers;
};
BoardLayers read_layers(const std::string& board, const BoardDirectories&);

}  // namespace sluice::config
