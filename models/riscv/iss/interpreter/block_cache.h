// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Decoded code: straight runs of instructions of one hart, found by physical address.
///
/// A block belongs to one virtual and one physical address; the same code mapped twice gives two blocks. A block may be
/// entered only while `validated` equals the generation of the present translation context, so pointers to a block need
/// not be searched for when translations change or the block is removed.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

/// What the interpreter executes.
struct Op {
  const void* handler;
  std::uint8_t rd, rs1, rs2, aux;
  std::int32_t imm;
};
static_assert(sizeof(Op) == 16);

/// Further data of an Op, for everything that is not straight execution.
struct Site {
  std::uint32_t cost_before;  ///< slots of the block's instructions before this one
  std::uint16_t cost;         ///< slots of this instruction; 0 for pseudo-operations
  std::uint16_t opcode;       ///< Opcode or the interpreter's Pseudo
  std::uint16_t pc_offset;    ///< from Block::pc, bytes
  std::uint8_t index;         ///< instructions of the block before this one
  std::uint8_t length;        ///< bytes
  std::uint32_t raw;          ///< Instruction::raw
};

struct alignas(16) Block {
  static constexpr unsigned kMaxInstructions = 64;
  static constexpr std::uint64_t kNoLine = 1;
  static constexpr std::uint64_t kNoPage = ~std::uint64_t{0};

  /// Generation in which it was last checked that pc leads to this block. 0: never checked, or the block was removed.
  std::uint64_t validated = 0;
  std::uint32_t last_start = 0;  ///< slots from the block's start to the start of its last instruction
  std::uint32_t cost = 0;        ///< slots of all instructions
  std::uint32_t count = 0;       ///< instructions
  std::uint32_t ops_count = 0;   ///< operations, pseudo-operations included
  std::uint64_t pc = 0;
  std::uint64_t end_pc = 0;  ///< after the last instruction
  Block* taken = nullptr;    ///< successor by the branch or jump at the end
  Block* fall = nullptr;     ///< successor in sequence
  std::uint64_t physical = 0;
  std::uint64_t second_page = kNoPage;  ///< physical page of the second half of an instruction that crosses pages
  Block* next = nullptr;                ///< in the hash chain
  /// Cached timing: L1I line of the first instruction, which ops[0] fetches. kNoLine where ops[0] is a breakpoint.
  std::uint64_t first_line = kNoLine;
  Op* ops = nullptr;
  Site* sites = nullptr;
  TimedRun* timed = nullptr;  ///< timing = "interval": of all instructions

  const Site& site(const Op* op) const { return sites[op - ops]; }
};

class BlockCache {
 public:
  BlockCache();
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// The block at this address, or null. The caller must check the block's second page.
  Block* find(std::uint64_t physical, std::uint64_t pc) const {
    for (Block* b = buckets_[bucket(physical)]; b; b = b->next)
      if (b->physical == physical && b->pc == pc) return b;
    return nullptr;
  }
  /// A block with room for `ops` operations, in no index yet.
  Block* allocate(unsigned ops);
  /// A run with room for its records, which lives as long as blocks do.
  TimedRun* allocate_run(unsigned instructions);
  /// Puts a complete block into the indexes.
  void insert(Block* block);
  /// Removes all blocks with any of these bytes, and returns how many. Their memory is not freed.
  unsigned remove(std::uint64_t physical, std::uint64_t length);
  void remove_all();
  /// True if a block was decoded from any of these bytes.
  bool has_decoded(std::uint64_t physical, std::uint64_t length) const;
  bool has_code(std::uint64_t physical_page) const { return pages_.count(physical_page) != 0; }
  /// Whether memory should be freed by release(), which invalidates every Block pointer.
  bool full() const { return used_ > kCapacity; }
  void release();

  /// A block that is never valid: a pointer that has not been resolved points to it.
  static Block* never() { return &never_; }

 private:
  static constexpr std::size_t kBuckets = 4096;
  static constexpr std::size_t kChunk = 128 << 10;
  static constexpr std::size_t kCapacity = 12 << 20;  ///< bytes, about 300,000 instructions

  std::byte* take(std::size_t size);
  static std::size_t bucket(std::uint64_t physical) { return ((physical >> 1) ^ (physical >> 13)) & (kBuckets - 1); }
  /// What stores to a page with code must check.
  struct CodePage {
    std::uint64_t lines = 0;  ///< bit n: some block was decoded from the page's n-th 64 bytes
    std::vector<Block*> blocks;
  };
  static std::uint64_t lines_of(std::uint64_t page, std::uint64_t first, std::uint64_t last);
  void insert_into(std::uint64_t page, Block* block, std::uint64_t first, std::uint64_t last);
  void unlink(Block* block);

  static Block never_;
  std::vector<Block*> buckets_;
  std::unordered_map<std::uint64_t, CodePage> pages_;  ///< never iterated
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t chunk_left_ = 0;
  std::byte* chunk_at_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace sluice::riscv
