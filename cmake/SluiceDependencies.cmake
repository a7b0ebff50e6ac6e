# Debian's packages, found once. SystemC has no CMake file of its own; its headers must see SC_CPLUSPLUS=201703L
# because Debian's library was built as C++17 and checks it by a link-time symbol.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)

add_library(sluice_systemc INTERFACE)
target_link_libraries(sluice_systemc INTERFACE PkgConfig::SYSTEMC Threads::Threads)
target_compile_definitions(sluice_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
# libsystemc refers to sc_main, which only a program that leaves main() to libsystemc defines.
target_link_options(sluice_systemc INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
