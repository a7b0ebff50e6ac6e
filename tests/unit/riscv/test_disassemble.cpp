// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/decode/disassemble.h"
#include "models/riscv/iss/privileged/csr.h"

using namespace sluice::riscv;

namespace {

constexpr const char* kArchitecture = "rv64gc_zicsr_zifencei_zicbom_zicbop_zicboz_zihintpause_zawrs_zba_zbb_zbs";
/// Far enough from 0 that targets of branches stay positive: objdump writes negative ones in another way.
constexpr std::uint64_t kStart = 0x8000'0000;

struct Folder {
  Folder() {
    char name[] = "/tmp/sluice-disassemble-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::system(("rm -r " + path).c_str()); }
  std::string path;
};

/// What objdump makes of these instructions, one behind the other from kStart on.
std::vector<std::string> by_objdump(const std::vector<std::uint32_t>& words) {
  const Folder folder;
  std::ofstream source(folder.path + "/all.s");
  for (const std::uint32_t w : words) source << ".insn " << (is_compressed(w) ? 2 : 4) << ", " << w << "\n";
  source.close();
  const std::string command = "cd " + folder.path + " && riscv64-unknown-elf-as -march=" + kArchitecture +
                              " -mno-relax all.s -o all.o && riscv64-unknown-elf-ld -e 0 -Ttext=0x80000000 all.o -o "
                              "all.elf && riscv64-unknown-elf-objdump -d -M no-aliases all.elf > all.txt";
  REQUIRE(std::system(command.c_str()) == 0);
  std::vector<std::string> lines;
  std::ifstream text(folder.path + "/all.txt");
  for (std::string line; std::getline(text, line);) {
    // address ":\t" code "\t" mnemonic "\t" operands [" <" symbol ">"] [" # " remark]
    const auto colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    const auto tab = line.find('\t', colon + 2);
    if (tab == std::string::npos) continue;
    std::string what = line.substr(tab + 1);
    for (const char* end : {" <", " # "})
      if (const auto at = what.find(end); at != std::string::npos) what.resize(at);
    while (!what.empty() && what.back() == ' ') what.pop_back();
    lines.push_back(what);
  }
  return lines;
}

/// Random words that decode to instructions, until each operation and form has come often enough.
std::vector<std::uint32_t> drawn_words(std::map<Opcode, unsigned>& drawn) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> words;
  std::map<std::uint32_t, unsigned> forms;
  std::set<unsigned> csrs;
  PrivilegedConfig config;
  config.aia = true;
  for (const CsrInfo& c : csr_list(config)) csrs.insert(c.number);
  constexpr unsigned kOfEach = 40;
  constexpr std::uint32_t kMajor[] = {0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37,
                                      0x3b, 0x43, 0x47, 0x4b, 0x4f, 0x53, 0x63, 0x67, 0x6f, 0x73};
  for (unsigned round = 0; round < 600'000; ++round) {
    std::uint32_t word = random();
    if (round % 4 != 0) word = (word & ~0x7fu) | kMajor[random() % std::size(kMajor)];
    // Most operations take few values of these fields.
    if (round % 8 == 1) word = (word & 0x01ff'ffff) | (random() % 64) << 26;
    if (round % 8 == 2) word &= 0xfe0f'ffff;
    if (round % 16 == 3) word = (word & 0x000f'ffff & ~0xf80u) | (random() % 32) << 20;
    if (round % 16 == 5) word = 0x73 | (random() % 4096) << 20;
    if (round == 0) word = 0x0100'000f;  // pause
    const Instruction i = decode(word);
    if (i.op == Opcode::illegal) continue;
    // objdump has no words for fences with reserved fields and for exact conversions with a rounding mode, which a hart
    // executes. Sluice has no names for CSRs that no hart has.
    if (i.op == Opcode::fence && i.raw & 0xf00f'8f80) continue;
    if (i.op == Opcode::fence_i && i.raw != 0x100f) continue;
    if ((i.op == Opcode::fcvt_d_w || i.op == Opcode::fcvt_d_wu || i.op == Opcode::fcvt_d_s) && i.aux != 0) continue;
    if (i.op >= Opcode::csrrw && i.op <= Opcode::csrrci && !csrs.contains(static_cast<unsigned>(i.imm))) continue;
    const std::uint32_t form =
        static_cast<std::uint32_t>(i.op) << 16 | (i.length == 2 ? 0x8000u | (i.raw & 0xe003u) >> 1 : i.aux);
    if (++forms[form] > kOfEach) continue;
    ++drawn[i.op];
    words.push_back(i.length == 2 ? word & 0xffff : word);
  }
  // Operations with few encodings.
  std::vector<std::uint32_t> rare = {0x0000'0073, 0x0010'0073, 0x3020'0073, 0x1020'0073, 0x1050'0073, 0x00d0'0073,
                                     0x01d0'0073, 0x0100'000f, 0x8330'000f, 0x0ff0'000f, 0x0000'100f, 0x9002,
                                     0x0001,      0x2875'd513, 0x6b85'd513, 0x0805'c53b};
  for (const std::uint32_t unary : {0x600u, 0x601u, 0x602u, 0x604u, 0x605u}) rare.push_back(0x0005'9513 | unary << 20);
  for (const std::uint32_t unary : {0x600u, 0x601u, 0x602u}) rare.push_back(0x0005'951b | unary << 20);
  for (const unsigned number : csrs) rare.push_back(0x0005'a573 | number << 20);
  for (const std::uint32_t w : rare) {
    CAPTURE(w);
    CHECK(decode(w).op != Opcode::illegal);
    ++drawn[decode(w).op];
    words.push_back(w);
  }
  return words;
}

}  // namespace

TEST_CASE("every instruction reads as objdump writes it", "[disassemble]") {
  if (std::system("riscv64-unknown-elf-objdump --version >/dev/null 2>&1") != 0) {
    WARN("no riscv64-unknown-elf-objdump: nothing to compare with");
    return;
  }
  std::map<Opcode, unsigned> drawn;
  const auto words = drawn_words(drawn);
  for (unsigned op = 0; op < static_cast<unsigned>(Opcode::count); ++op) {
    if (static_cast<Opcode>(op) == Opcode::illegal) continue;
    CAPTURE(op);
    CHECK(drawn[static_cast<Opcode>(op)] > 0);
  }
  const auto expected = by_objdump(words);
  REQUIRE(expected.size() == words.size());
  std::uint64_t pc = kStart;
  unsigned differences = 0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::string ours = disassemble(words[n], pc);
    if (ours != expected[n] && ++differences <= 60)
      UNSCOPED_INFO(std::hex << words[n] << ": " << ours << " | " << expected[n]);
    pc += is_compressed(words[n]) ? 2 : 4;
  }
  INFO(words.size() << " instructions");
  CHECK(differences == 0);
}

TEST_CASE("what is no instruction is shown as data", "[disassemble]") {
  CHECK(disassemble(0xffff'ffff, 0) == ".4byte\t0xffffffff");
  CHECK(disassemble(0x0000'9c41 | 0x1234'0000, 0) == ".2byte\t0x9c41");
  CHECK(disassemble(0, 0) == "c.unimp");
}
