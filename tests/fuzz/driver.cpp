// SPDX-License-Identifier: Apache-2.0
/// fuzz_TARGET [--seed S] [--runs N] [--first K] | FILE...: gives the target inputs K to K + N - 1 of the seed, or the
/// files. Input k follows from seed and k alone, so one that fails is made again by --first k --runs 1. Without
/// arguments: the target's count for a ctest, or with SLUICE_FULL=1 its acceptance count.
///
/// For libFuzzer the same mutations are its custom mutator, and --seeds=DIR writes the corpus and ends.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "tests/full.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

const std::vector<Bytes>& corpus() {
  static const std::vector<Bytes> inputs = target.corpus();
  return inputs;
}

void mutate(Bytes& input, Random& random) {
  if (target.mutate && random.chance(7, 8)) target.mutate(input, random);
  if (!target.mutate || random.chance(1, 4)) mutate_bytes(input, random, target.words, corpus());
  if (input.size() > target.longest) input.resize(target.longest);
}

}  // namespace
}  // namespace sluice::fuzz

using namespace sluice::fuzz;

// Debian's libsystemc refers to it.
extern "C" int sc_main(int, char**) { return 0; }

#ifdef SLUICE_LIBFUZZER

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string word = (*argv)[i];
    if (!word.starts_with("--seeds=")) continue;
    for (std::size_t n = 0; n < corpus().size(); ++n) {
      std::FILE* file = std::fopen(fmt::format("{}/seed-{}", word.substr(8), n).c_str(), "wb");
      if (!file || std::fwrite(corpus()[n].data(), 1, corpus()[n].size(), file) != corpus()[n].size() ||
          std::fclose(file) != 0)
        fail("cannot write to " + word.substr(8));
    }
    std::exit(0);
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random({seed, size}, target.name, "libFuzzer");
  if (random.chance(1, 2)) return LLVMFuzzerMutate(data, size, most);
  Bytes input(data, data + size);
  mutate(input, random);
  const std::size_t length = std::min(most, input.size());
  std::copy_n(input.begin(), length, data);
  return length;
}

#else

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
// SystemC's threads have stacks of their own; its kernel is never freed.
extern "C" const char* __asan_default_options() {
  return "detect_stack_use_after_return=0:detect_leaks=0:allocator_may_return_null=0";
}
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }
#endif

namespace {

constexpr unsigned kPatience = 60;  ///< seconds of wall time for one input, then it hangs

std::uint64_t seed = 1;
std::uint64_t run = 0;
Bytes input;

/// Says which input has failed, and keeps it in a file.
void tell_input() {
  const std::string path = fmt::format("{}-{}.input", target.name, run);
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    if (!input.empty()) std::fwrite(input.data(), 1, input.size(), file);
    std::fclose(file);
  }
  fmt::print(stderr,
             "{}: input {} of seed {} failed ({} bytes, kept in {}); again: fuzz_{} --seed {} --first {} "
             "--runs 1, or, if what came before it matters, --first 0 --runs {}\n",
             target.name, run, seed, input.size(), path, target.name, seed, run, run + 1);
}

void on_signal(int number) {
  std::signal(number, SIG_DFL);
  if (number == SIGALRM) fmt::print(stderr, "{}: no end after {} s\n", target.name, kPatience);
  tell_input();
  std::raise(number == SIGALRM ? SIGABRT : number);
}

void make_input() {
  Random random({seed, run}, target.name, "input");
  if (random.chance(1, 32)) {
    input = noise(random, random.below(std::min<std::size_t>(target.longest, 2048)));
    return;
  }
  input = corpus()[random.below(corpus().size())];
  mutate(input, random);
}

void give(const Bytes& bytes) {
  // Of exactly its size, so that a read behind its end is seen.
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  alarm(kPatience);
  try {
    LLVMFuzzerTestOneInput(exact.get(), bytes.size());
  } catch (const std::exception& e) {
    fail(fmt::format("exception left the target: {}", e.what()));
  }
  alarm(0);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 0;
  std::uint64_t runs = sluice::tests::is_full() ? target.full_runs : target.runs;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::uint64_t* number = word == "--seed" ? &seed : word == "--runs" ? &runs : word == "--first" ? &first : nullptr;
    if (number && i + 1 < argc)
      *number = std::strtoull(argv[++i], nullptr, 0);
    else
      files.push_back(word);
  }
  for (const int number : {SIGABRT, SIGALRM}) std::signal(number, on_signal);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(tell_input);
#endif
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& file : files) {
    input = read_file(file);
    give(input);
  }
  if (!files.empty()) runs = 0;
  if (runs != 0 && first == 0)
    for (const Bytes& good : corpus()) {
      input = good;
      give(input);
    }
  for (run = first; run < first + runs; ++run) {
    make_input();
    give(input);
  }
  input.clear();
  if (target.finish) target.finish();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}: {} inputs, {:.1f} s\n", target.name, runs != 0 ? runs : files.size(), seconds);
}

#endif
