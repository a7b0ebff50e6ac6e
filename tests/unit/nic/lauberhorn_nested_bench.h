// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What harts do whose handlers call services.
#include "tests/unit/nic/lauberhorn_bench.h"

namespace sluice::lauberhorn_test {

inline constexpr std::uint64_t kCode = 0x7'1234'5678, kData = 0x7'8765'4321;
inline constexpr unsigned kAsked = 1;  ///< the service of process 2: opaque data, to be given back

/// Number of the request that a line has.
inline std::uint32_t request_in(Side& line) { return line.get(LAUB_HEAD_SESSION) >> 16; }

/// Writes a call into the transmit line that is held.
inline void write_call(Side& tx, std::uint32_t request, std::uint32_t service, const Bytes& data, std::uint32_t count) {
  tx.set(LAUB_HEAD_CODE, kCode, 8);
  tx.set(LAUB_HEAD_DATA, kData, 8);
  tx.set(LAUB_HEAD_SESSION, request << 16);
  Bytes bytes(4);
  std::memcpy(bytes.data(), &count, 4);
  bytes.insert(bytes.end(), data.begin(), data.end());
  bytes.resize((bytes.size() + 3) / 4 * 4);
  for (unsigned n = 0; n < bytes.size(); ++n) REQUIRE(tx.hart.store(tx.place(n), bytes[n]));
  tx.reply(LAUB_CALL, static_cast<unsigned>(bytes.size()), service);
}
/// Commits it, too. Returns the word of the next line.
inline std::uint32_t commit_call(Side& tx, std::uint32_t request, std::uint32_t service, const Bytes& data,
                                 std::uint32_t count) {
  write_call(tx, request, service, data, count);
  tx.next();
  return static_cast<std::uint32_t>(tx.get(0));
}
inline std::uint32_t call_service(Side& tx, std::uint32_t request, const Bytes& data) {
  return commit_call(tx, request, kAsked, data, static_cast<std::uint32_t>(data.size()));
}

/// Waits for a message, however long it takes.
inline int wait_long(Side& line) {
  int type;
  while ((type = line.wait()) == -1) line.next();
  return type;
}

/// A call comes to a handler, which holds a transmit line. Returns the number of the request.
inline std::uint32_t take_call(Bench& at, Side& line, Side& tx) {
  tx.wait();
  at.send(call(1, 0));
  REQUIRE(line.wait() == LAUB_CALL);
  return request_in(line);
}

/// Gives back what the line has, with one added to its first byte of data.
inline void serve(Side& line) {
  REQUIRE(wait_long(line) == LAUB_CALL);
  const unsigned bytes = line.length();
  REQUIRE(line.hart.store(line.place(4), static_cast<std::uint8_t>(line.hart.load(line.place(4)) + 1)));
  line.reply(LAUB_REPLY, bytes);
  line.next();
}

/// The rest of a test ends here: a load that waits keeps its hart.
inline void rest(Side& line) { line.wait(); }

}  // namespace sluice::lauberhorn_test
