#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <systemc>

// Debian's libsystemc refers to sc_main; the tests start the kernel themselves.
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
