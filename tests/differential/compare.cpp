// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/compare.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tests/differential/differences.h"

namespace sluice::differential {
namespace {

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(v));
  return text;
}

/// Collects the first few differences of one program.
class Report {
 public:
  void field(const std::string& name, std::uint64_t qemu, std::uint64_t iss) {
    if (qemu == iss) return;
    if (++count_ <= kMost) text_ += "  " + name + ": QEMU " + hex(qemu) + ", ISS " + hex(iss) + "\n";
  }
  bool any() const { return count_ != 0; }
  std::string text() const {
    return count_ > kMost ? text_ + "  and " + std::to_string(count_ - kMost) + " more\n" : text_;
  }
  /// Code offset of the first log entry that differs; the code around it is shown.
  std::int64_t place = -1;

 private:
  static constexpr std::uint64_t kMost = 8;
  std::string text_;
  std::uint64_t count_ = 0;
};

void compare_logs(Report& report, const Image& qemu, const Image& iss, const Descriptor& d, std::uint64_t at,
                  std::uint64_t n, bool to_supervisor) {
  for (std::uint64_t i = 0; i < std::min(n, d.log_limit); ++i) {
    auto q = qemu.get<LogEntry>(at + (i << L_SHIFT));
    const auto s = iss.get<LogEntry>(at + (i << L_SHIFT));
    std::int64_t place = -1;
    for (const std::uint64_t base : d.code)
      if (q.epc - base < d.size) place = static_cast<std::int64_t>(q.epc - base);
    expect(q, s, place < 0 ? 0 : iss.get<std::uint32_t>(d.code_at + static_cast<std::uint64_t>(place)), d,
           to_supervisor);
    const bool before = report.any();
    const std::string trap = std::string(to_supervisor ? "S" : "M") + " trap " + std::to_string(i) + " ";
    report.field(trap + "cause", q.cause, s.cause);
    report.field(trap + "epc", q.epc, s.epc);
    report.field(trap + "tval", q.tval, s.tval);
    report.field(trap + "status", q.status, s.status);
    report.field(trap + "vector", q.vector, s.vector);
    report.field(trap + "digest of x", q.digest, s.digest);
    if (before || !report.any()) continue;
    report.place = place;
    return;
  }
}

void compare_results(Report& report, Result q, const Result& s) {
  expect(q, s);
  report.field("mstatus at the end", q.status, s.status);
  report.field("fcsr", q.fcsr, s.fcsr);
  for (unsigned n = 0; n < 32; ++n) report.field("x" + std::to_string(n), q.x[n], s.x[n]);
  for (unsigned n = 0; n < 32; ++n) report.field("f" + std::to_string(n), q.f[n], s.f[n]);
  std::uint64_t from_qemu[kFinalCsrs], from_iss[kFinalCsrs];
  std::memcpy(from_qemu, &q.csr, sizeof from_qemu);
  std::memcpy(from_iss, &s.csr, sizeof from_iss);
  for (unsigned n = 0; n < kFinalCsrs; ++n) report.field(kFinalCsrNames[n], from_qemu[n], from_iss[n]);
}

std::string place_name(const Descriptor& d, std::uint64_t address) {
  const auto within = [&](std::uint64_t from, const char* name) { return name + (" + " + hex(address - from)); };
  if (address >= d.code_at) return within(d.code_at, "code");
  return within(d.begin, "package");
}

void compare_memory(Report& report, const Image& qemu, const Image& iss, const Descriptor& d) {
  const std::uint64_t logs_end = d.supervisor_log + (d.log_limit << L_SHIFT);
  for (std::uint64_t at = d.begin; at < d.end; at += 8) {
    if (at == d.log) at = logs_end;
    if (at == d.result) at += sizeof(Result);
    const auto q = qemu.get<std::uint64_t>(at), s = iss.get<std::uint64_t>(at);
    if (q != s) report.field("memory " + hex(at) + " (" + place_name(d, at) + ")", q, s);
  }
}

std::string disassembly(const Image& image, const Descriptor& d, std::int64_t place) {
  const std::uint64_t step = std::max<std::uint64_t>(d.step, 16);
  const std::uint64_t from = place < 0 ? 0 : static_cast<std::uint64_t>(place) / step * step;
  const std::uint64_t first = from > 2 * step ? from - 2 * step : 0;
  char path[] = "/tmp/sluice-differential-XXXXXX";
  const int descriptor = mkstemp(path);
  if (descriptor < 0) return {};
  std::FILE* file = fdopen(descriptor, "wb");
  const std::uint64_t bytes = std::min<std::uint64_t>(from + step - first, d.size - first);
  std::fwrite(image.at(d.code_at + first), 1, bytes, file);
  std::fclose(file);
  std::string text;
  const std::string command =
      "riscv64-unknown-elf-objdump -D -b binary -m riscv:rv64 --adjust-vma=" + std::to_string(first) + " " + path +
      " 2>/dev/null | tail -n +8";
  if (std::FILE* pipe = popen(command.c_str(), "r")) {
    char line[200];
    while (std::fgets(line, sizeof line, pipe)) text += std::string("    ") + line;
    pclose(pipe);
  }
  std::remove(path);
  return text;
}

}  // namespace

std::vector<Mismatch> compare(const Image& qemu, const Image& iss) {
  std::vector<Mismatch> found;
  for (std::uint64_t n = 0; n < qemu.programs(); ++n) {
    const Descriptor d = qemu.descriptor(n);
    Report report;
    const auto q = qemu.get<Result>(d.result), s = iss.get<Result>(d.result);
    const std::uint64_t at_supervisor = d.supervisor_data + S_LOGGED;
    compare_logs(report, qemu, iss, d, d.log, std::max(q.logged, s.logged), false);
    compare_logs(report, qemu, iss, d, d.supervisor_log,
                 std::max(qemu.get<std::uint64_t>(at_supervisor), iss.get<std::uint64_t>(at_supervisor)), true);
    report.field("end", q.done, s.done);
    report.field("traps to M", q.logged, s.logged);
    compare_results(report, q, s);
    compare_memory(report, qemu, iss, d);
    if (!report.any()) continue;
    found.push_back({n, d.index, d.kind, report.text() + disassembly(iss, d, report.place)});
  }
  return found;
}

void TrapCount::add(const Image& image) {
  const auto count = [&](bool supervisor, const LogEntry& e) {
    const unsigned from = supervisor ? e.status >> 8 & 1 : e.status >> 11 & 3;
    ++counts[supervisor][from][(e.cause & 31) + (e.cause >> 63 ? 32 : 0)];
  };
  for (std::uint64_t n = 0; n < image.programs(); ++n) {
    const Descriptor d = image.descriptor(n);
    const std::uint64_t traps = image.get<Result>(d.result).logged;
    const auto supervisor = image.get<std::uint64_t>(d.supervisor_data + S_LOGGED);
    for (std::uint64_t i = 0; i < traps; ++i) count(false, image.get<LogEntry>(d.log + (i << L_SHIFT)));
    for (std::uint64_t i = 0; i < supervisor; ++i) count(true, image.get<LogEntry>(d.supervisor_log + (i << L_SHIFT)));
  }
}

std::string TrapCount::table() const {
  std::string text = "  traps (from mode: cause times count)\n";
  for (const bool supervisor : {false, true})
    for (const unsigned from : {0u, 1u, 3u}) {
      std::string line;
      for (unsigned cause = 0; cause < 64; ++cause)
        if (const std::uint64_t n = counts[supervisor][from][cause])
          line += (cause < 32 ? " " : " i") + std::to_string(cause % 32) + "x" + std::to_string(n);
      if (!line.empty()) text += std::string("    ") + "US?M"[from] + " to " + (supervisor ? "S:" : "M:") + line + "\n";
    }
  return text;
}

}  // namespace sluice::differential
