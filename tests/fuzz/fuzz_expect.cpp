// SPDX-License-Identifier: Apache-2.0
/// Scripts that talk to firmware, as [uart] expect and --expect name them.

#include "platform/config/user_error.h"
#include "platform/run/expect_file.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

std::vector<Bytes> corpus() {
  return {
      to_bytes(
          "# a comment\ntimeout 10 ms\nexpect \"hello from supervisor mode\\r\\n\"\nsend \"x\\n\"\nexpect \"# \"\n"),
      to_bytes("send \"\\x41\\\\\\\"\\t\"\n  expect \"y\"  \r\n\n")};
}

}  // namespace

const Target target{.name = "expect",
                    .corpus = corpus,
                    .words = {"expect ", "send ", "timeout ", "\"", "\\", "\\x", "\\x4", "\\\"", "#", " ", "\t", "\r",
                              "\n", "1 us", "99999999999 s"},
                    .runs = 100'000,
                    .full_runs = 2'000'000,
                    .longest = 4096};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  try {
    const auto steps = platform::parse_expect({reinterpret_cast<const char*>(data), size}, "script");
    fuzz::require(!steps.empty(), "a script without steps was accepted");
    std::size_t bytes = 0;
    for (const auto& s : steps) bytes += s.expect.size() + s.send.size();
    fuzz::require(bytes < size, "a script says more than its text");
  } catch (const config::UserError& e) {
    fuzz::require(std::string(e.what()).starts_with("script:"), e.what());
  }
  return 0;
}
