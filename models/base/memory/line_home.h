// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Cache lines whose home is not RAM but a device, or a directory in front of one. A core's access to such a line waits
/// until the home grants it. Plain C++. docs/models/memory.md describes the protocol.

#include <cstdint>
#include <span>
#include <string>

#include "models/base/memory/line_state.h"
#include "models/base/time/time.h"

namespace sluice::base {

class LineCaches;

/// What a hart wants of a home.
struct LineRequest {
  std::uint64_t number;  ///< identifies the request in the answer; never reused
  std::uint64_t line;    ///< address
  bool own;              ///< true: to write the line; false: to read it
  unsigned hart;         ///< number of the hart that waits; more harts may wait for the same line later
};

/// The home of the lines of one address range. All functions are called at now(). Addresses are bus addresses of lines.
class LineHome {
 public:
  virtual ~LineHome() = default;
  /// Passes the caches that may hold lines of this home. base: address of its first line. Called once, before simulated
  /// time begins.
  virtual void attach(LineCaches&, std::uint64_t base) = 0;
  /// A hart waits for a line: base::access_site() is the instruction. One answer follows, at once or later:
  /// LineCaches::grant() or refuse() with the request's number. Without an answer the hart waits for ever.
  virtual void line_requested(const LineRequest&) = 0;
  /// The caches have evicted a modified line.
  virtual void line_written_back(std::uint64_t line, std::span<const std::uint8_t> bytes) = 0;
  /// The caches have been reset: they hold no line, and nobody waits for one.
  virtual void caches_reset() {}
};

/// The caches of a system-on-chip, as the homes on it see them.
class LineCaches {
 public:
  struct Held {
    LineState::State state = LineState::kInvalid;
    std::span<const std::uint8_t> bytes;  ///< empty where the line is not held; valid until the next call
  };

  virtual ~LineCaches() = default;
  virtual unsigned line_bytes() const = 0;
  /// Answers a request with line_bytes() bytes. own: the caches may modify the line. Returns false, and does nothing,
  /// if a reset has withdrawn the request. Throws std::logic_error for a second answer, for a wrong size, and when the
  /// hart wants to write the line and `own` is false.
  virtual bool grant(std::uint64_t request, std::span<const std::uint8_t> bytes, bool own) = 0;
  /// As grant(), but the access ends with a bus error.
  virtual bool refuse(std::uint64_t request) = 0;
  /// What the caches hold of a line. Changes nothing.
  virtual Held probe(std::uint64_t line) const = 0;
  /// Takes a line away (`to` kInvalid) or leaves it to be read only (kShared); returns what the caches held until now.
  /// A reservation (LR) of the line ends; a hart that needs the line again asks its home. If a home recalls a line at
  /// the time of its grant, before the hart that asked has had its turn, this hart asks again, too.
  virtual Held recall(std::uint64_t line, LineState::State to) = 0;
};

/// Adds homes to the caches of a system-on-chip.
class LineHomes {
 public:
  virtual ~LineHomes() = default;
  /// From now on the home serves the lines of [base, base + size). path: the home's path, for the stall diagnosis.
  /// Throws std::logic_error for a range that is not whole lines and whole 4 KiB pages, or that overlaps another
  /// home's.
  virtual void add_home(LineHome&, std::uint64_t base, std::uint64_t size, std::string path) = 0;
};

}  // namespace sluice::base
