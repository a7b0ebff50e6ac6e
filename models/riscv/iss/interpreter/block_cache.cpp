// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/interpreter/block_cache.h"

#include <algorithm>
#include <cstddef>
#include <new>

namespace sluice::riscv {
namespace {

constexpr std::uint64_t kPageMask = ~std::uint64_t{0xfff};

bool covers(const Block& b, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t begin = b.physical;
  const std::uint64_t size = b.end_pc - b.pc;
  if (b.second_page == Block::kNoPage) return begin <= last && begin + size > first;
  // A crossing instruction: two bytes at the end of one page and two at the start of another.
  return (begin <= last && begin + 2 > first) || (b.second_page <= last && b.second_page + 2 > first);
}

}  // namespace

Block BlockCache::never_;

BlockCache::BlockCache() : buckets_(kBuckets, nullptr) {}
BlockCache::~BlockCache() = default;

/// Memory aligned to 16 bytes.
std::byte* BlockCache::take(std::size_t size) {
  size = (size + 15) & ~std::size_t{15};
  if (size > chunk_left_) {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunk));
    chunk_at_ = chunks_.back().get();
    chunk_left_ = kChunk;
  }
  std::byte* p = chunk_at_;
  chunk_at_ += size;
  chunk_left_ -= size;
  used_ += size;
  return p;
}

Block* BlockCache::allocate(unsigned ops) {
  static_assert(sizeof(Block) % 16 == 0 && sizeof(Site) == 16);
  std::byte* p = take(sizeof(Block) + ops * sizeof(Op) + ops * sizeof(Site));
  auto* block = new (p) Block;
  block->taken = block->fall = &never_;
  block->ops = new (p + sizeof(Block)) Op[ops];
  block->sites = new (p + sizeof(Block) + ops * sizeof(Op)) Site[ops];
  block->ops_count = ops;
  return block;
}

TimedRun* BlockCache::allocate_run(unsigned instructions) {
  auto* run = new (take(sizeof(TimedRun))) TimedRun;
  run->records = new (take(instructions * sizeof(TimingRecord))) TimingRecord[instructions];
  run->count = instructions;
  return run;
}

std::uint64_t BlockCache::lines_of(std::uint64_t page, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t low = std::max(first, page) - page;
  const std::uint64_t high = std::min(last - page, std::uint64_t{0xfff});
  return (~std::uint64_t{0} << (low / 64)) & (~std::uint64_t{0} >> (63 - high / 64));
}

void BlockCache::insert_into(std::uint64_t page, Block* block, std::uint64_t first, std::uint64_t last) {
  CodePage& code = pages_[page];
  code.lines |= lines_of(page, first, last);
  code.blocks.push_back(block);
}

void BlockCache::insert(Block* block) {
  Block*& head = buckets_[bucket(block->physical)];
  block->next = head;
  head = block;
  const std::uint64_t page = block->physical & kPageMask;
  if (block->second_page == Block::kNoPage) {
    insert_into(page, block, block->physical, block->physical + (block->end_pc - block->pc) - 1);
  } else {
    insert_into(page, block, block->physical, block->physical + 1);
    insert_into(block->second_page, block, block->second_page, block->second_page + 1);
  }
}

void BlockCache::unlink(Block* block) {
  block->validated = 0;
  Block** at = &buckets_[bucket(block->physical)];
  while (*at && *at != block) at = &(*at)->next;
  if (*at) *at = block->next;
}

unsigned BlockCache::remove(std::uint64_t physical, std::uint64_t length) {
  unsigned removed = 0;
  if (length == 0) return 0;
  const std::uint64_t last = physical + length - 1;
  for (std::uint64_t page = physical & kPageMask;; page += 0x1000) {
    const auto found = pages_.find(page);
    if (found != pages_.end() && found->second.lines & lines_of(page, physical, last)) {
      std::vector<Block*>& blocks = found->second.blocks;
      const auto dead = std::remove_if(blocks.begin(), blocks.end(), [&](Block* b) {
        if (!covers(*b, physical, last)) return false;
        unlink(b);
        ++removed;
        return true;
      });
      blocks.erase(dead, blocks.end());
      if (blocks.empty()) pages_.erase(found);
    }
    if (last - page < 0x1000) break;
  }
  return removed;
}

bool BlockCache::has_decoded(std::uint64_t physical, std::uint64_t length) const {
  if (length == 0) return false;
  const std::uint64_t last = physical + length - 1;
  for (std::uint64_t page = physical & kPageMask; page <= last; page += 0x1000) {
    const auto found = pages_.find(page);
    if (found == pages_.end() || !(found->second.lines & lines_of(page, physical, last))) continue;
    const std::vector<Block*>& blocks = found->second.blocks;
    if (std::any_of(blocks.begin(), blocks.end(), [=](const Block* b) { return covers(*b, physical, last); }))
      return true;
  }
  return false;
}

void BlockCache::remove_all() {
  for (Block*& head : buckets_) {
    for (Block* b = head; b; b = b->next) b->validated = 0;
    head = nullptr;
  }
  pages_.clear();
}

void BlockCache::release() {
  remove_all();
  chunks_.clear();
  chunk_left_ = 0;
  chunk_at_ = nullptr;
  used_ = 0;
}

}  // namespace sluice::riscv
