// SPDX-License-Identifier: Apache-2.0
// differential: random and systematic programs on the ISS and on QEMU. See docs/differential.md.

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "tests/differential/compare.h"
#include "tests/differential/coverage.h"
#include "tests/differential/differences.h"
#include "tests/differential/machines.h"
#include "tests/differential/random_program.h"
#include "tests/differential/systematic.h"
#include "tests/full.h"

using namespace sluice::differential;

namespace {

constexpr std::uint64_t kBlock = 1000;  ///< random programs; every block begins with all the systematic ones
constexpr std::uint64_t kBatch = 50;    ///< programs for one start of QEMU: the last may lock PMP rules
constexpr unsigned kMostSeconds = 120;  ///< for QEMU to run a batch

struct Options {
  std::uint64_t seed = 1, programs = sluice::tests::is_full() ? 20'000 : kBlock;
  std::int64_t program = -1;
  std::string harness, work, reference;
  bool keep = false, first = false, coverage = false, differences = false;
};

/// A program's number in its block. Below systematic_programs(): that systematic program; else a random one.
std::uint64_t number_in_block(std::uint64_t index) { return index % (systematic_programs() + kBlock); }

struct Totals {
  std::uint64_t random = 0, systematic = 0, instructions = 0, differing = 0;
  TrapCount traps;
  Coverage coverage;

  void count(const Image& image) {
    for (std::uint64_t n = 0; n < image.programs(); ++n)
      ++(number_in_block(image.descriptor(n).index) < systematic_programs() ? systematic : random);
  }
};

std::uint64_t build(Image& image, std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t n = number_in_block(index);
  if (n < systematic_programs()) return build_systematic(image, n, seed, index);
  return build_random(image, seed, index, index % kBatch == kBatch - 1);
}

std::string batch_file(const std::string& folder, std::uint64_t seed, std::uint64_t batch) {
  return folder + "/batch-" + std::to_string(seed) + "-" + std::to_string(batch);
}

void report(const std::vector<Mismatch>& mismatches, std::uint64_t seed, Totals& totals) {
  constexpr std::uint64_t kMost = 20;
  for (const Mismatch& m : mismatches)
    if (++totals.differing <= kMost)
      std::printf("differs: --seed %llu --program %llu (%s)\n%s", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(m.index), m.kind.c_str(), m.text.c_str());
}

void trouble(const std::string& what, const Image& image, Totals& totals) {
  ++totals.differing;
  std::printf("%s, in program %llu\n", what.c_str(),
              static_cast<unsigned long long>(image.descriptor(image.running()).index));
}

/// Runs the same image again, an instruction at a time. Counts what is covered; the end state must be the same.
void step(const Image& image, const Image& whole, Totals& totals) {
  Image stepped = image;
  const RunEnd end = step_on_iss(stepped, totals.coverage);
  if (!end.trouble.empty()) return trouble("stepped: " + end.trouble, stepped, totals);
  if (stepped.bytes() == whole.bytes()) return;
  ++totals.differing;
  std::printf("the ISS ends in another state when it is stepped\n");
}

/// Runs the image with an instruction window, which must change nothing but time.
void run_windowed(Image image, const Image& reference, const Options& options, Totals& totals) {
  const RunEnd end = run_on_iss(image, true);
  if (!end.trouble.empty()) trouble("the ISS with an instruction window: " + end.trouble, image, totals);
  const std::uint64_t before = totals.differing;
  report(compare(reference, image), options.seed, totals);
  if (totals.differing != before) std::printf("with an instruction window\n");
}

/// Runs one image on both. Prints what differs.
void run_batch(const Options& options, const Image& image, std::uint64_t batch, Totals& totals) {
  const std::string file = batch_file(options.work, options.seed, batch);
  image.save(file + ".after");
  if (options.keep) image.save(file + ".before");
  Qemu qemu(file + ".after");
  Image iss = image;
  const RunEnd end = run_on_iss(iss);
  const std::string qemu_end = qemu.wait(kMostSeconds);
  const Image reference = Image::load(file + ".after");
  if (!options.keep) std::filesystem::remove(file + ".after");
  if (!qemu_end.empty()) trouble(qemu_end, reference, totals);
  if (!end.trouble.empty()) trouble("the ISS: " + end.trouble, iss, totals);
  report(compare(reference, iss), options.seed, totals);
  run_windowed(image, reference, options, totals);
  totals.count(image);
  totals.instructions += end.instructions;
  totals.traps.add(iss);
  if (options.coverage && end.trouble.empty()) step(image, iss, totals);
}

/// Runs the images that a call with --keep left, on the ISS alone.
void run_reference(const Options& options, Totals& totals) {
  for (std::uint64_t batch = 0; !options.first || totals.differing == 0; ++batch) {
    const std::string file = batch_file(options.reference, options.seed, batch);
    if (!std::filesystem::exists(file + ".before")) break;
    Image iss = Image::load(file + ".before");
    const Image reference = Image::load(file + ".after");
    const RunEnd end = run_on_iss(iss);
    if (!end.trouble.empty()) trouble("the ISS: " + end.trouble, iss, totals);
    report(compare(reference, iss), options.seed, totals);
    totals.count(iss);
    totals.instructions += end.instructions;
  }
  if (totals.random + totals.systematic == 0)
    throw std::runtime_error("no images of this seed in " + options.reference);
}

void run_programs(const Options& options, Totals& totals) {
  std::uint64_t index = 0;
  const std::uint64_t blocks = (options.programs + kBlock - 1) / kBlock;
  const std::uint64_t end = options.program >= 0 ? static_cast<std::uint64_t>(options.program) + 1
                                                 : options.programs + blocks * systematic_programs();
  for (std::uint64_t batch = 0; index < end; ++batch) {
    Image image(options.harness);
    std::vector<std::uint64_t> descriptors;
    // A single program lies where it lies in its batch, because what it does may depend on addresses.
    for (bool last = false; index < end && !last && image.has_room(kLargestSystematic); ++index) {
      last = index % kBatch == kBatch - 1;
      const std::uint64_t descriptor = build(image, options.seed, index);
      if (options.program < 0 || index == static_cast<std::uint64_t>(options.program))
        descriptors.push_back(descriptor);
    }
    if (descriptors.empty()) continue;
    image.set_programs(descriptors);
    run_batch(options, image, batch, totals);
  }
}

/// True when nothing is missing.
bool report_coverage(const Totals& totals) {
  std::printf("coverage:\n%s%s", totals.coverage.table().c_str(), totals.traps.table().c_str());
  const std::vector<std::string> missing = totals.coverage.missing();
  constexpr std::size_t kMost = 30;
  for (std::size_t n = 0; n < missing.size() && n < kMost; ++n) std::printf("  not covered: %s\n", missing[n].c_str());
  std::printf("  %zu combinations are not covered\n", missing.size());
  return missing.empty();
}

int run(const Options& options) {
  Totals totals;
  if (!options.reference.empty())
    run_reference(options, totals);
  else
    run_programs(options, totals);
  const bool covered = !options.coverage || report_coverage(totals);
  std::printf("%llu random and %llu systematic programs, %llu instructions, %llu differ\n",
              static_cast<unsigned long long>(totals.random), static_cast<unsigned long long>(totals.systematic),
              static_cast<unsigned long long>(totals.instructions), static_cast<unsigned long long>(totals.differing));
  return totals.differing == 0 && covered ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Programs on the ISS and on QEMU"};
  Options options;
  app.add_option("--seed", options.seed, "of all that is drawn")->capture_default_str();
  app.add_option(
         "--programs", options.programs,
         "how many random ones, and the systematic ones with each 1,000; SLUICE_FULL=1 in the environment: 20,000")
      ->capture_default_str();
  app.add_option("--program", options.program, "this one alone");
  app.add_flag("--coverage", options.coverage, "count what is executed; fail unless it is everything");
  app.add_option("--harness", options.harness, "flat binary of harness.S");
  app.add_option("--work", options.work, "folder for the machines' RAM");
  app.add_flag("--keep", options.keep, "leave the images, before and after QEMU, in --work");
  app.add_option("--reference", options.reference, "folder of images that were kept: run those, without QEMU");
  app.add_flag("--first", options.first, "with --reference: stop after the first image that differs");
  app.add_flag("--differences", options.differences, "print what is not compared, and why");
  CLI11_PARSE(app, argc, argv);
  if (options.differences) {
    for (const Difference& d : known_differences())
      std::printf("%s\n  %s\n  tested by: %s\n", d.what, d.why, d.tested_by);
    return 0;
  }
  try {
    if (options.reference.empty()) {
      if (!Qemu::installed()) {
        std::printf("skipped: qemu-system-riscv64 is not installed\n");
        return 77;
      }
      if (options.harness.empty() || options.work.empty()) throw std::runtime_error("--harness and --work are needed");
      std::filesystem::create_directories(options.work);
    }
    return run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "differential: %s\n", e.what());
    return 2;
  }
}
