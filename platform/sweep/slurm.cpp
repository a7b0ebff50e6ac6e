// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/slurm.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/config/files/whole_file.h"
#include "platform/config/quoting.h"
#include "platform/config/user_error.h"
#include "platform/firmware/sha256.h"
#include "platform/sweep/outside_program.h"

namespace sluice::sweep {
namespace {

namespace fs = std::filesystem;
using config::UserError;
using Json = nlohmann::ordered_json;

constexpr const char* kTasksSchema = "sluice-tasks-1";

/// The number behind "NAME = " in what scontrol says of the configuration.
std::uint64_t configured(const std::string& text, const std::string& name, std::uint64_t otherwise) {
  const std::size_t at = text.find("\n" + name);
  const std::size_t equals = at == std::string::npos ? at : text.find('=', at);
  if (equals == std::string::npos) return otherwise;
  const std::size_t digits = text.find_first_not_of(' ', equals + 1);
  std::uint64_t value = otherwise;
  if (digits != std::string::npos) std::from_chars(text.data() + digits, text.data() + text.size(), value);
  return value;
}

fs::path slurm_directory(const Directory& directory) { return directory.path() / "slurm"; }

/// A list of tasks as its file has it; null for what is none.
Json read_tasks(const fs::path& file) {
  Json json = Json::parse(config::read_whole(file), nullptr, false);
  const bool good = json.is_object() && json.value("schema", Json()) == kTasksSchema && json.contains("tasks") &&
                    json["tasks"].is_array() && json.contains("study") && json["study"].is_string();
  return good ? json : Json();
}

void add_points(const Json& task, Task& to) {
  for (const Json& number : task)
    if (number.is_number_unsigned()) to.push_back(number.get<std::uint64_t>());
}

/// Tasks of arrays that wait or run: by the number of the job, which an array keeps for all its tasks.
std::map<std::string, std::set<std::uint64_t>> live_tasks() {
  // A controller may be away for a while, as when it starts again.
  constexpr int kAttempts = 30;
  Called squeue;
  for (int n = 0; n < kAttempts; ++n) {
    squeue = call({"squeue", "--me", "--noheader", "--array", "--format=%F %K"});
    if (squeue.status == 0 || squeue.status == 127) break;
    std::this_thread::sleep_for(std::chrono::seconds(10));
  }
  if (squeue.status != 0) throw UserError(fmt::format("--slurm: squeue failed: {}", squeue.errors));
  std::map<std::string, std::set<std::uint64_t>> live;
  for (std::size_t begin = 0; begin < squeue.output.size();) {
    const std::size_t end = squeue.output.find('\n', begin);
    const std::string line = squeue.output.substr(begin, end - begin);
    begin = end == std::string::npos ? squeue.output.size() : end + 1;
    std::uint64_t task = 0;
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const auto [rest, error] = std::from_chars(line.data() + blank + 1, line.data() + line.size(), task);
    if (error == std::errc()) live[line.substr(0, blank)].insert(task);
  }
  return live;
}

std::string digest_of(const study::Study& study) { return platform::sha256_of(study::whole_text(study)); }

/// Calls sbatch with these options, then those that the user gave, and the script. Returns what it prints.
std::string sbatch(std::vector<std::string> words, const SlurmOptions& options, const fs::path& script) {
  words.insert(words.begin(), {"sbatch", "--parsable"});
  words.insert(words.end(), options.sbatch.begin(), options.sbatch.end());
  words.push_back(script.string());
  const Called submitted = call(words);
  if (submitted.status != 0) throw UserError(fmt::format("--slurm: sbatch refused: {}", submitted.errors));
  return submitted.output;
}

}  // namespace

Slurm::Slurm(const Directory& directory, const study::Study& study) : directory_(directory), study_(study) {
  const Called scontrol = call({"scontrol", "show", "config"});
  if (scontrol.status == 127) throw UserError("--slurm: this machine has no Slurm: there is no scontrol in PATH");
  if (scontrol.status != 0) throw UserError(fmt::format("--slurm: Slurm does not answer: {}", scontrol.errors));
  // An index must be less than MaxArraySize.
  most_tasks_ = std::max<std::uint64_t>(1, configured(scontrol.output, "MaxArraySize", 1001));
}

/// The tasks of an array of this study. Those of the study as it was have points of other numbers, and are none; they
/// find out themselves.
Json Slurm::tasks_in(const fs::path& file) const {
  Json tasks = read_tasks(file);
  const bool is_ours = !tasks.is_null() && tasks["study"] == digest_of(study_);
  return is_ours ? tasks["tasks"] : Json::array();
}

std::set<std::uint64_t> Slurm::queued() const {
  std::set<std::uint64_t> numbers;
  std::error_code ignored;
  if (!fs::is_directory(slurm_directory(directory_), ignored)) return numbers;
  const auto live = live_tasks();
  for (const auto& entry : fs::directory_iterator(slurm_directory(directory_), ignored)) {
    const auto job = live.find(entry.path().stem().string());
    if (entry.path().extension() != ".json" || job == live.end()) continue;
    const Json tasks = tasks_in(entry.path());
    Task points;
    for (const std::uint64_t t : job->second)
      if (t < tasks.size()) add_points(tasks[t], points);
    numbers.insert(points.begin(), points.end());
  }
  return numbers;
}

std::vector<std::string> Slurm::submit(const std::vector<std::uint64_t>& points, const SlurmOptions& options,
                                       const OnSubmitted& on_submitted) {
  const std::uint64_t fewest = (points.size() + most_tasks_ - 1) / most_tasks_;
  const std::uint64_t each = std::max<std::uint64_t>(1, options.points_per_task ? options.points_per_task : fewest);
  for (const std::string& o : options.sbatch)
    if (!o.starts_with('-') || o.starts_with("--array") || o.starts_with("-a") || o.starts_with("--wrap") ||
        o.starts_with("--parsable") || o.starts_with("--dependency") || o.starts_with("-d"))
      throw UserError(
          fmt::format("--sbatch={}: must be an option of sbatch that does not change what is submitted, such "
                      "as --time=30",
                      o));
  std::vector<std::string> jobs;
  std::vector<Task> tasks;
  for (std::size_t first = 0; first < points.size(); first += each) {
    const std::size_t end = std::min<std::size_t>(points.size(), first + each);
    tasks.emplace_back(points.begin() + static_cast<std::ptrdiff_t>(first),
                       points.begin() + static_cast<std::ptrdiff_t>(end));
    if (tasks.size() < most_tasks_ && end < points.size()) continue;
    jobs.push_back(submit_array(tasks, options, on_submitted));
    tasks.clear();
  }
  return jobs;
}

/// The directory of lists and scripts, which is made.
fs::path Slurm::place() const {
  fs::path place = fs::absolute(slurm_directory(directory_));
  std::error_code error;
  fs::create_directories(place, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", place.string(), error.message()));
  return place;
}

/// The command line of a sweep of this study in this directory, to its options.
std::string Slurm::command() const {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const fs::path study = fs::absolute(study_.file), out = fs::absolute(directory_.path());
  std::string command = fmt::format("{} sweep {} --out={}", config::shell_word(program),
                                    config::shell_word(study.string()), config::shell_word(out.string()));
  for (const std::string& s : study_.overrides) command += " " + config::shell_word("--set=" + s);
  return command;
}

void Slurm::submit_next(const SlurmOptions& options) {
  const fs::path place = this->place(), script = place / "next.sh";
  const std::string name =
      fmt::format("sluice-{}-next-{}", study_.name,
                  platform::sha256_of(place.string() + "\n" + study::whole_text(study_)).substr(0, 8));
  // The job that calls this still runs under that name.
  if (!call({"squeue", "--me", "--noheader", "--format=%i", "--states=PENDING", "--name=" + name}).output.empty())
    return;
  std::vector<std::string> jobs;
  for (const auto& [job, tasks] : live_tasks())
    if (fs::exists(place / (job + ".json"))) jobs.push_back(job);
  if (jobs.empty()) return;
  std::string more = options.page ? " --report" : "";
  if (options.points_per_task != 0) more += fmt::format(" --points-per-task={}", options.points_per_task);
  for (const std::string& o : options.sbatch) more += " " + config::shell_word("--sbatch=" + o);
  config::write_whole(script, fmt::format("#!/bin/sh\n"
                                          "# Submits what the results of the jobs before make the study need.\n"
                                          "exec {} --slurm --after={}{}\n",
                                          command(), fmt::join(jobs, ","), more));
  sbatch({fmt::format("--dependency=afterany:{}", fmt::join(jobs, ":")), "--job-name=" + name,
          "--output=" + (place / "%j.log").string()},
         options, script);
}

Task Slurm::points_of(const std::string& jobs) const {
  Task points;
  for (std::size_t begin = 0; begin <= jobs.size();) {
    const std::size_t end = std::min(jobs.find(',', begin), jobs.size());
    const std::string job = jobs.substr(begin, end - begin);
    begin = end + 1;
    if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos)
      throw UserError(fmt::format("--after {}: must be numbers of jobs", jobs));
    for (const Json& task : tasks_in(slurm_directory(directory_) / (job + ".json"))) add_points(task, points);
  }
  return points;
}

/// The job is held until the list of its tasks, whose name is the job's number, is there.
std::string Slurm::submit_array(const std::vector<Task>& tasks, const SlurmOptions& options,
                                const OnSubmitted& on_submitted) {
  const fs::path place = this->place(), script = place / "task.sh";
  config::write_whole(script,
                      fmt::format("#!/bin/sh\n"
                                  "# One task of an array: the points that the list named after the job has for it.\n"
                                  "exec {} --task={}/\"$SLURM_ARRAY_JOB_ID\".json\n",
                                  command(), config::shell_word(place.string())));
  const std::string printed = sbatch({"--hold", fmt::format("--array=0-{}", tasks.size() - 1),
                                      "--job-name=sluice-" + study_.name, "--output=" + (place / "%A.%a.log").string()},
                                     options, script);
  std::string job = printed.substr(0, printed.find_first_of(";\n"));
  config::write_whole(place / (job + ".json"),
                      Json{{"schema", kTasksSchema}, {"study", digest_of(study_)}, {"tasks", tasks}}.dump() + "\n");
  for (const Task& task : tasks) on_submitted(task);
  if (const Called released = call({"scontrol", "release", job}); released.status != 0)
    throw UserError(fmt::format("--slurm: job {} cannot be released: {}", job, released.errors));
  return job;
}

Task Slurm::task(const fs::path& file, const std::string& index, const study::Study& study) {
  const Json tasks = read_tasks(file);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), number);
  if (tasks.is_null() || error != std::errc() || end != index.data() + index.size() || number >= tasks["tasks"].size())
    throw UserError(
        fmt::format("--task {}: has no task {}", file.string(), index.empty() ? "without a number" : index));
  if (tasks["study"] != digest_of(study))
    throw UserError(fmt::format("{}: has changed since its points were submitted; submit them again", study.file));
  Task task;
  add_points(tasks["tasks"][number], task);
  return task;
}

}  // namespace sluice::sweep
