// SPDX-License-Identifier: Apache-2.0
#include "platform/config/board_layers.h"

#include <algorithm>

#include "platform/config/nearest_name.h"
#include "platform/config/resources.h"

namespace sluice::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDeepest = 64;  // files in one chain of extends

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

std::string with_extension(const std::string& name) { return name.ends_with(".toml") ? name : name + ".toml"; }

class LayerReader {
 public:
  explicit LayerReader(const BoardDirectories& directories) : directories_(directories) {}

  void read(const BoardDirectories::Found& found, const Location& extended_at) {
    if (std::find(done_.begin(), done_.end(), found.path) != done_.end()) return;
    for (const auto& open : open_) {
      if (open.path == found.path) throw UserError(extended_at, "extends forms a cycle: " + cycle_text(found));
    }
    if (open_.size() == kDeepest) throw UserError(extended_at, "extends is nested more than 64 deep");
    open_.push_back(found);
    BoardFile file = parse_board_file(read_text_file(found.path, found.shown), found.shown);
    for (const auto& part : file.extends) read(directories_.find_part(part, found), part.where);
    open_.pop_back();
    done_.push_back(found.path);
    result.layers.push_back({found, std::move(file)});
  }

  BoardLayers result;

 private:
  std::string cycle_text(const BoardDirectories::Found& closing) const {
    std::string text;
    for (const auto& open : open_) {
      if (open.path == closing.path || !text.empty()) text += open.shown + " -> ";
    }
    return text + closing.shown;
  }

  const BoardDirectories& directories_;
  std::vector<BoardDirectories::Found> open_;
  std::vector<fs::path> done_;
};

}  // namespace

BoardDirectories::BoardDirectories() : directories_(resource_directories("boards")) {}

std::vector<std::string> BoardDirectories::board_names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::path& directory : directories_) {
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (entry.path().extension() == ".toml" && is_file(entry.path())) names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> BoardDirectories::part_names() const {
  std::vector<std::string> names = board_names();
  std::error_code error;
  for (const fs::path& directory : directories_) {
    for (const auto& entry : fs::recursive_directory_iterator(directory, error)) {
      if (entry.path().extension() != ".toml" || !is_file(entry.path())) continue;
      names.push_back(entry.path().lexically_relative(directory).replace_extension());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

BoardDirectories::Found BoardDirectories::found(const fs::path& path, std::string shown, std::string name) const {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  if (error) canonical = path;
  for (const fs::path& directory : directories_) {
    const std::string relative = canonical.lexically_relative(directory);
    if (!relative.empty() && !relative.starts_with("..")) return {canonical, relative, relative};
  }
  return {canonical, std::move(shown), std::move(name)};
}

BoardDirectories::Found BoardDirectories::find_board(const std::string& board) const {
  if (board.find('/') != std::string::npos || board.ends_with(".toml")) {
    return found(board, board, fs::path(board).filename());
  }
  for (const fs::path& directory : directories_) {
    const fs::path path = directory / (board + ".toml");
    if (is_file(path)) return found(path, path.filename(), path.filename());
  }
  if (directories_.empty()) throw UserError(board + ": no directory of boards was found; set SLUICE_BOARDS");
  throw UserError(board + ": no such board" + suggestion(board, board_names()));
}

BoardDirectories::Found BoardDirectories::find_part(const BoardFile::Extends& part, const Found& from) const {
  const std::string file = with_extension(part.name);
  const fs::path beside = from.path.parent_path() / file;
  if (is_file(beside)) {
    const auto named = [&](const std::string& of) -> std::string {
      return (fs::path(of).parent_path() / file).lexically_normal();
    };
    const bool absolute = fs::path(file).is_absolute();
    return found(beside, named(from.shown), absolute ? fs::path(file).filename().string() : named(from.name));
  }
  for (const fs::path& directory : directories_) {
    if (is_file(directory / file)) return found(directory / file, file, file);
  }
  throw UserError(part.where, "extends " + part.name + ", which is no file beside it and no shipped part" +
                                  suggestion(part.name, part_names()));
}

BoardLayers read_layers(const std::string& board, const BoardDirectories& directories) {
  LayerReader reader(directories);
  reader.read(directories.find_board(board), {});
  return std::move(reader.result);
}

}  // namespace sluice::config
