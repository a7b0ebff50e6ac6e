// SPDX-License-Identifier: Apache-2.0
// Linked, besides plain_main.cpp, into every unit test that needs SystemC.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include <systemc>

#include "tests/unit/fresh_kernel.h"

namespace {
/// Each case starts at time 0 with nothing elaborated, alone or after others.
struct FreshKernel : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo&) override { sluice::fresh_kernel(); }
};
CATCH_REGISTER_LISTENER(FreshKernel)
}  // namespace

#ifdef __SANITIZE_ADDRESS__
// The kernel never frees its context, nor what modules made with it.
extern "C" const char* __lsan_default_suppressions() { return "leak:libsystemc"; }
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
#endif

// Debian's libsystemc refers to sc_main; the tests start the kernel themselves.
int sc_main(int, char**) { return 0; }
