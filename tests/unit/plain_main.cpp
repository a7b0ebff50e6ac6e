// SPDX-License-Identifier: Apache-2.0
// Catch2 and its main(), linked into every unit test. Tests that need SystemC also link test_main.cpp.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
