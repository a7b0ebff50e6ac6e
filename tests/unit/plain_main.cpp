// main() of tests of what needs no SystemC: test_main.cpp brings it along.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
