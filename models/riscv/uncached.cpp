// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/uncached.h"

namespace sluice::riscv {

using namespace base::literals;

void UncachedParameters::describe(base::Schema<UncachedParameters>& s) {
  using P = UncachedParameters;
  s.summary("accesses of a hart to memory of types NC and write-through");
  s.add("read_block", &P::read_block,
        "what a load reads, aligned; loads of the rest that follow directly take no further read")
      .range(8_B, 64_B)
      .power_of_two()
      .acts_with({"uncached_reads"}, "no hart has read memory of type NC")
      .stated("RISC-V: a load has at most 8 B; other hosts load more with one instruction");
  s.add("combining_buffers", &P::combining_buffers, "write-combining buffers of a hart; 0: no store waits in one")
      .range(0, 64)
      .unit("buffers")
      .acts_with({"combined_displaced", "combined_waits"}, "no store to memory of type NC found all of them in use")
      .assumed("as many as the line fill buffers that Intel's cores have for it");
  s.add("combining_block", &P::combining_block, "what such a buffer combines, aligned")
      .range(8_B, 128_B)
      .power_of_two()
      .acts_with({"combined_stores"}, "no hart has stored to memory of type NC")
      .stated("Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3: a line");
  s.add("combining_drain", &P::combining_drain,
        "beyond bus.latency, until PCIe has accepted a buffer's writes and the buffer is free")
      .range(0_ns, 10_us)
      .acts_with({"combined_waits"}, "no store waited for a free buffer")
      .assumed("as core.posted_store");
  s.add("write_through_lines", &P::write_through_lines,
        "lines of write-through memory, which is PBMT 3, that a hart holds; 0: PBMT 3 is reserved")
      .range(0, 65'536)
      .unit("lines")
      .acts_with({"line_reads"}, "no hart has loaded from write-through memory")
      .stated("RISC-V Svpbmt: PBMT 3 is reserved");
}

}  // namespace sluice::riscv
