// SPDX-License-Identifier: Apache-2.0
// The pool of packet buffers, compiled for the host.

#include <algorithm>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

extern "C" {
#include "firmware/drivers/descriptor/pool.h"
}

namespace {

constexpr std::uint32_t kStack = NIC_POOL_STACK, kFlush = NIC_POOL_FLUSH;
using Buffers = std::vector<nic_buffer*>;

Buffers take(nic_pool& pool, std::uint32_t count) {
  Buffers buffers(count);
  REQUIRE(nic_pool_take(&pool, buffers.data(), count));
  return buffers;
}

std::size_t index_of(const nic_pool& pool, const nic_buffer* buffer) {
  return static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(buffer) - pool.memory) / NIC_POOL_STRIDE;
}

}  // namespace

TEST_CASE("a pool's buffers are apart by an odd number of cache lines, and their frames are where the NIC puts them") {
  static nic_pool pool;
  nic_pool_setup(&pool, 8, 1);
  const Buffers all = take(pool, 8);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(all[i]);
    CHECK((at - pool.memory) % NIC_POOL_STRIDE == 0);
    CHECK(all[i]->room == at + 128);
    CHECK(all[i]->frame.data == at + 128 + NIC_POOL_HEADROOM);
    CHECK(nic_pool_buffer(&pool, all[i]->room) == all[i]);
    CHECK(nic_pool_buffer(&pool, all[i]->room + NIC_POOL_ROOM - 1) == all[i]);
  }
  nic_buffer* none;
  CHECK_FALSE(nic_pool_take(&pool, &none, 1));
  nic_pool_give(&pool, all.data(), 1);
  CHECK(take(pool, 1)[0] == all[0]);
}

TEST_CASE("a pool gives out first what came back last") {
  static nic_pool pool;
  nic_pool_setup(&pool, 64, 1);
  const Buffers first = take(pool, 32);
  nic_pool_give(&pool, first.data(), 32);
  Buffers again = take(pool, 32);
  std::reverse(again.begin(), again.end());
  CHECK(again == first);
}

TEST_CASE("a pool fills its stack from the ring, and returns what is too much") {
  static nic_pool pool;
  constexpr std::uint32_t kAll = 2 * kFlush;
  nic_pool_setup(&pool, kAll, 1);
  CHECK(pool.stacked == 0);
  Buffers held = take(pool, 32);
  CHECK(pool.stacked == kStack);
  CHECK(pool.ring_count == kAll - 32 - kStack);
  while (held.size() < kFlush) {
    const Buffers more = take(pool, std::min<std::uint32_t>(32, kFlush - static_cast<std::uint32_t>(held.size())));
    held.insert(held.end(), more.begin(), more.end());
  }
  const std::uint32_t stacked = pool.stacked;
  std::uint32_t given = 0;
  for (; stacked + given + 1 < kFlush; ++given) nic_pool_give(&pool, &held[given], 1);
  CHECK(pool.stacked == kFlush - 1);
  nic_pool_give(&pool, &held[given++], 1);
  CHECK(pool.stacked == kStack);
  CHECK(pool.stacked + pool.ring_count + held.size() - given == kAll);
  std::set<std::size_t> free;
  nic_buffer* buffer;
  while (nic_pool_take(&pool, &buffer, 1)) free.insert(index_of(pool, buffer));
  CHECK(free.size() == kAll - held.size() + given);
}

TEST_CASE("with a frame's buffer, those of its further pieces go back") {
  static nic_pool pool;
  nic_pool_setup(&pool, 4, 1);
  const Buffers all = take(pool, 4);
  all[0]->next = all[2];
  all[2]->next = all[3];
  nic_pool_give(&pool, all.data(), 2);
  CHECK(take(pool, 4) == Buffers{all[1], all[3], all[2], all[0]});
  for (const nic_buffer* b : all) CHECK(b->next == nullptr);
}
