// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What caches and the home of a line say to each other, whatever link carries it. Plain C++.

#include <cstdint>
#include <stdexcept>

namespace sluice::coherence::protocol {

/// Stands for the bytes of a line. The state machines pass it on and never look at it.
using Data = std::uint32_t;

/// What the home takes a cache to hold of a line.
enum class Holding : std::uint8_t {
  none,
  shared,
  owned,     ///< changed, and others may read the same bytes
  exclusive  ///< alone, and perhaps changed
};

enum class Kind : std::uint8_t {
  // Requests of a cache, of which one is open for a line at a time.
  read_shared,
  read_unique,
  upgrade,  ///< to write a line that it may read
  // Victims of a cache. The home answers with evict_done.
  evict,  ///< of an unchanged line
  write_back,
  // Answers of a cache to snoops.
  ack,       ///< without bytes
  ack_data,  ///< with bytes that the home does not have
  conflict,  ///< not yet: has the home seen my request before it sent this snoop? (CXL)
  // Answers of the home.
  grant_shared,
  grant_exclusive,
  grant_upgrade,  ///< without bytes: the cache has them
  refuse,         ///< the access ends with an error
  evict_done,
  conflict_done,  ///< stands behind a grant that was sent before it
  // Snoops by the home. `holding` says what it takes the cache to hold.
  snoop_shared,  ///< the line is to be read by others
  snoop_unique   ///< the line is to be given up
};

inline constexpr unsigned kKinds = 16;
const char* to_text(Kind);  ///< "read shared"

struct Message {
  Kind kind{};
  Holding holding = Holding::none;  ///< of a snoop: as above; of an ack: what the cache keeps
  Data data = 0;                    ///< where the kind has any

  bool operator==(const Message&) const = default;
};

constexpr bool is_request(Kind k) { return k <= Kind::upgrade; }
constexpr bool is_victim(Kind k) { return k == Kind::evict || k == Kind::write_back; }
/// Of a cache, to a snoop.
constexpr bool is_answer(Kind k) { return k >= Kind::ack && k <= Kind::conflict; }
constexpr bool is_snoop(Kind k) { return k >= Kind::snoop_shared; }
/// Of a home, to a request.
constexpr bool is_end_of_request(Kind k) { return k >= Kind::grant_shared && k <= Kind::refuse; }
/// Whether a home says it, and not a cache.
constexpr bool is_of_home(Kind k) { return k >= Kind::grant_shared; }
constexpr bool has_data(Kind k) {
  return k == Kind::write_back || k == Kind::ack_data || k == Kind::grant_shared || k == Kind::grant_exclusive;
}

/// How the caches and the links of a system differ in what they say.
struct Rules {
  /// A cache that others read from keeps what it has changed (MOESI); else it gives it to the home (MESI).
  bool has_owned = false;
  /// An unchanged line goes without a word, so the home may take a cache to hold what it has lost, and a snoop may mean
  /// a line from before the cache's open request or that request's grant: the cache asks which (CXL). Else the home is
  /// told of each, and a snoop says by what it takes the cache to hold which of them it means (ECI).
  bool has_conflicts = false;
};

/// A message that the protocol does not allow in this state.
class ProtocolError : public std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace sluice::coherence::protocol
