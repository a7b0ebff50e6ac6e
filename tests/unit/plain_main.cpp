// SPDX-License-Identifier: Apache-2.0
// Catch2 itself, and main(), of every unit test; of what needs SystemC, test_main.cpp comes with it.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
