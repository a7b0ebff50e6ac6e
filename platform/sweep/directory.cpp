// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/directory.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/config/files/result_directory.h"
#include "platform/config/files/schemas.h"
#include "platform/config/files/whole_file.h"
#include "platform/config/user_error.h"
#include "platform/firmware/sha256.h"
#include "platform/report/result.h"

namespace sluice::sweep {
namespace {

namespace fs = std::filesystem;
using config::UserError;
using Json = nlohmann::ordered_json;

constexpr const char* kOwnerSchema = "sluice-sweep-1";
constexpr const char* kMistake = "mistake.txt";

fs::path owner_file(const fs::path& directory) { return directory / "sweep.json"; }

/// What a whole result file has behind its member "failure", without reading the rest as JSON: thousands of files are
/// looked at. report::to_text() writes each member of the file on a line of its own, two blanks before it.
std::optional<std::string> failure_in(const std::string& text, const std::string& id) {
  const std::string schema = fmt::format("{{\n  \"schema\": \"{}\",\n", config::kResultSchema);
  constexpr std::string_view kMember = "\n  \"failure\": ";
  if (!text.starts_with(schema) || !text.ends_with(fmt::format("\n  \"identity\": \"{}\"\n}}\n", id))) return {};
  const std::size_t at = text.find(kMember);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kMember.size(), end = text.find('\n', begin);
  const Json value = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                 text.begin() + static_cast<std::ptrdiff_t>(end - 1), nullptr, false);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

/// Why a text is no result file, as the end of a sentence.
std::string what_is_wrong(const std::string& text, const std::string& id) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return "is cut off, or no JSON";
  const auto schema = json.find("schema");
  if (schema == json.end() || *schema != config::kResultSchema)
    return fmt::format("is no result file of schema {}", config::kResultSchema);
  if (json.value("identity", Json()) != id) return "is the result of another run";
  return "is no result file that this program has written";
}

}  // namespace

Directory Directory::open(const fs::path& path, const study::Study& study) {
  Directory directory(path);
  directory.check_owner(study);
  std::error_code error;
  const fs::path points = path / "points";
  if (fs::exists(points, error) || error) (void)fs::directory_iterator(points, error);
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", points.string(), error.message()));
  return directory;
}

Directory Directory::create(const fs::path& path, const study::Study& study) {
  std::error_code error;
  fs::create_directories(path / "points", error);
  if (!error && !fs::is_directory(path / "points", error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw UserError(fmt::format("--out {}: cannot be made: {}", path.string(), error.message()));
  Directory directory(path);
  directory.check_owner(study);
  config::remove_left_overs(path);
  const Json owner = {{"schema", kOwnerSchema}, {"study", study.name}};
  if (!fs::exists(owner_file(path), error)) config::write_whole(owner_file(path), owner.dump(2) + "\n");
  return directory;
}

void Directory::check_owner(const study::Study& study) const {
  std::error_code error;
  const fs::path file = owner_file(path_);
  if (!fs::exists(file, error)) {
    config::refuse_results_of_others(path_, "--out " + path_.string(), {"study.json", "sweep.json"});
    return;
  }
  const Json owner = Json::parse(config::read_whole(file), nullptr, false);
  if (!owner.is_object() || owner.value("schema", Json()) != kOwnerSchema || !owner.contains("study") ||
      !owner["study"].is_string())
    throw UserError(fmt::format("{}: is not what sluice sweep has written; name another directory", file.string()));
  if (const auto name = owner["study"].get<std::string>(); name != study.name)
    throw UserError(fmt::format("--out {}: has results of the study {}, not of {}; name another directory",
                                path_.string(), name, study.name));
}

Found Directory::find(const std::string& id) const {
  std::error_code error;
  Found found;
  if (const fs::path result = result_of(id); fs::exists(result, error)) {
    std::string text;
    try {
      text = config::read_whole(result);
    } catch (const UserError&) {
      found.broken = "cannot be read";
      return found;
    }
    if (const auto failure = failure_in(text, id))
      return {failure->empty() ? State::done : State::failed, std::move(text), *failure, {}};
    found.broken = what_is_wrong(text, id);
    return found;
  }
  if (const fs::path mistake = of_point(id) / kMistake; fs::exists(mistake, error)) {
    try {
      found.why = config::read_whole(mistake);
    } catch (const UserError&) {
      return found;
    }
    found.state = State::failed;
    while (found.why.ends_with('\n')) found.why.pop_back();
  }
  return found;
}

fs::path Directory::outcome_of(const std::string& id) const {
  std::error_code error;
  const fs::path result = result_of(id);
  return fs::exists(result, error) ? result : of_point(id) / kMistake;
}

std::string Directory::mark_of(const std::string& id) const {
  struct stat s {};
  if (::stat(outcome_of(id).c_str(), &s) != 0) return {};
  return fmt::format("{}:{}.{}", s.st_ino, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

fs::file_time_type Directory::time() const {
  const fs::path file = path_ / fmt::format("time.{}", getpid());
  config::write_whole(file, "");
  std::error_code error;
  const fs::file_time_type now = fs::last_write_time(file, error);
  fs::remove(file, error);
  return now;
}

bool Directory::is_newer(const std::string& id, fs::file_time_type than) const {
  std::error_code error;
  const fs::file_time_type at = fs::last_write_time(outcome_of(id), error);
  return !error && at >= than;
}

void Directory::set_aside(const std::string& id) const {
  std::error_code ignored;
  fs::rename(result_of(id), result_of(id).string() + ".broken", ignored);
}

void Directory::forget(const std::string& id) const {
  std::error_code error;
  fs::remove_all(result_of(id), error);
  fs::remove(of_point(id) / kMistake, error);
}

namespace {

/// Of all that a sweep has read when it begins.
std::string digest_of(const study::Points& points) {
  std::string text = study::whole_text(points.study());
  for (const std::string& file : points.files()) text += "\n" + platform::sha256_of_file(file);
  return platform::sha256_of(text);
}

}  // namespace

StudyLock::StudyLock(const Directory& directory, const study::Points& points) {
  const fs::path path = directory.path() / "running";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw UserError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  const std::string digest = digest_of(points);
  const bool first = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
  if (!first && errno != EWOULDBLOCK) return;  // without locks nothing is known of others
  if (first && (::ftruncate(file_, 0) != 0 || ::pwrite(file_, digest.data(), digest.size(), 0) < 0)) {
    // A full disk is found when a result is written.
  }
  // While one lock becomes the other, another sweep may take the file: the digest that is there then counts.
  ::flock(file_, LOCK_SH);
  std::string found(digest.size(), ' ');
  const ssize_t n = ::pread(file_, found.data(), found.size(), 0);
  if (n != static_cast<ssize_t>(digest.size()) || found == digest) return;
  ::close(file_);
  throw UserError(
      fmt::format("{}: has changed, or a board or --set has, since the sweep that runs in {} has begun; wait for its "
                  "end, or give --out",
                  points.study().file, directory.path().string()));
}

StudyLock::~StudyLock() {
  if (file_ >= 0) ::close(file_);
}

PointDirectory::PointDirectory(const Directory& directory, const std::string& id) : path_(directory.of_point(id)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", path_.string(), error.message()));
  lock_ = std::make_unique<config::DirectoryLock>(path_);
  if (lock_->is_held()) config::remove_left_overs(path_);
}

void PointDirectory::put_result(const std::string& text) const {
  std::error_code ignored;
  config::write_whole(path_ / "result.json", text);
  fs::remove(path_ / kMistake, ignored);
}

void PointDirectory::put_mistake(const std::string& sentence) const {
  std::error_code ignored;
  config::write_whole(path_ / kMistake, sentence + "\n");
  fs::remove(path_ / "result.json", ignored);
}

}  // namespace sluice::sweep
