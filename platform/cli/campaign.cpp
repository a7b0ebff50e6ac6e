// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/campaign.h"

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/cli/progress.h"
#include "platform/sweep/jobs.h"
#include "platform/sweep/tables.h"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kMostNamed = 10;

}  // namespace

unsigned runs_at_a_time(const std::string& jobs) {
  return jobs.empty() ? sweep::processors() : whole_number("--jobs", jobs, 1, kMostJobs);
}

Few::~Few() {
  if (count_ > kMostNamed) say("sluice: {}: and {} more {}\n", command_, count_ - kMostNamed, what_);
}

void Few::tell(const std::string& sentence) {
  if (++count_ <= kMostNamed) say("sluice: {}: {}\n", command_, sentence);
}

sweep::Rows Campaign::states(const char* so) {
  Few broken(command_, "such files");
  const sweep::OnBroken tell = [&](const std::string& s) { broken.tell(s + so); };
  needs.look(tell);
  return sweep::read_states(points, directory, identities, needs, tell);
}

sweep::Rows Campaign::rows() {
  Few broken(command_, "such files");
  const sweep::OnBroken tell = [&](const std::string& s) { broken.tell(s + kLeftOut); };
  needs.look(tell);
  return sweep::read_rows(points, directory, identities, needs, tell);
}

std::vector<std::uint64_t> Campaign::missing(bool retry_failed) {
  const auto start = retry_failed ? directory.time() : std::filesystem::file_time_type();
  std::vector<std::uint64_t> numbers;
  const sweep::Rows found = states(kRunsAgain);
  for (std::uint64_t n = 0; n < found.rows.size(); ++n) {
    // Another sweep may have run it again just now.
    const bool again =
        retry_failed && found.rows[n].state == sweep::State::failed && !directory.is_newer(found.rows[n].run.id, start);
    if (again) {
      again_[n] = directory.mark_of(found.rows[n].run.id);
      needs.forget(n);
    }
    if (again || found.rows[n].state == sweep::State::missing) numbers.push_back(n);
  }
  return numbers;
}

void Campaign::forget_failed(const std::vector<std::uint64_t>& numbers) {
  for (const std::uint64_t n : numbers) {
    const auto again = again_.find(n);
    if (again == again_.end()) continue;
    if (const std::string& id = identities.of(n).id; directory.mark_of(id) == again->second) directory.forget(id);
    again_.erase(again);
  }
}

bool Campaign::say_failed(const sweep::Rows& rows) const {
  Few failed(command_, "points that failed");
  bool any = false;
  for (std::uint64_t n = 0; n < rows.rows.size(); ++n) {
    if (rows.rows[n].state != sweep::State::failed || told_.contains(n)) continue;
    any = true;
    failed.tell(fmt::format("{} failed: {}", text_of(points.at(n)), rows.rows[n].why));
  }
  return any;
}

sweep::Rows Campaign::write_tables() {
  sweep::Rows all = rows();
  sweep::write_tables(points, all, needs, directory);
  return all;
}

const char* Campaign::run(const std::vector<std::uint64_t>& numbers, unsigned at_a_time) {
  sweep::Jobs jobs(points, directory, identities, at_a_time);
  jobs.again = again_;
  Progress line(command_);
  Few trouble(command_, "points that failed");
  jobs.on_trouble = [&](const study::Point& point, const sweep::Attempt& attempt) {
    line.clear();
    told_.insert(point.number);
    trouble.tell(fmt::format("{} failed: {}", text_of(point), attempt.why));
  };
  jobs.on_progress = [&line](const sweep::Progress& p) {
    if (Progress::wanted())
      line.show(
          fmt::format("{} of {} points done, {} of them failed, {} running", p.ended, p.points, p.failed, p.running));
  };
  const char* signal = jobs.run(numbers);
  line.clear();
  return signal;
}

std::string Campaign::text_of(const study::Point& point) const {
  return fmt::format("point {} ({})", point.number, points.describe(point));
}

}  // namespace sluice::cli
