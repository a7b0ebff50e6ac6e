// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Cache lines whose home is not RAM but a device, or a directory in front of one. A core's access to such a line waits
/// until the home grants it. Plain C++. docs/models/coherent-links.md describes the protocol.

#include <cstdint>
#include <span>
#include <string>

#include "models/base/memory/guest_ram.h"
#include "models/base/time/time.h"

namespace sluice::base {

class Journey;
class LineCaches;

/// What a hart wants of a home.
struct LineRequest {
  std::uint64_t number;    ///< identifies the request in the answer; never reused
  std::uint64_t line;      ///< address
  bool own;                ///< true: to write the line; false: to read it
  unsigned hart;           ///< number of the hart that waits; more harts may wait for the same line later
  bool is_unheld;          ///< no cache has any of the line, so the device may change its bytes before it answers
  RequestId serves;        ///< the ledger's request that the hart works for; 0: none
  const Journey& journey;  ///< of the message, up to its arrival here, where `serves` is not 0
};

/// Bytes of a line that caches have changed.
struct LineWritten {
  std::uint64_t line;  ///< address
  std::span<const std::uint8_t> bytes;
  RequestId request;  ///< the ledger's request that they belong to; 0: none
  /// Of the message, behind that of the snoop which it answers at once. Only where `request` is not 0.
  const Journey& journey;
};

/// The home of the lines of one address range. All functions are called at now(). Addresses are bus addresses of lines.
/// The device has bytes for each line, and may change them only while no cache has any of the line: until it answers a
/// request with LineRequest::is_unheld, and between line_recalled() and LineCaches::unlock() where it has taken the
/// line away.
class LineHome {
 public:
  virtual ~LineHome() = default;
  /// Passes the caches that may hold lines of this home. base: address of its first line. Called once, before simulated
  /// time begins.
  virtual void attach(LineCaches&, std::uint64_t base) = 0;
  /// A hart waits for a line: base::access_site() is its instruction. One answer follows, at once or later:
  /// LineCaches::grant() or refuse() with the request's number. A home answers no request for a line that it recalls
  /// until it unlocks the line.
  virtual void line_requested(const LineRequest&) = 0;
  /// The caches have changed a line and give it back: they have evicted it, or somebody else asks for it. These are the
  /// device's bytes of the line from now on.
  virtual void line_written(const LineWritten&) = 0;
  /// What LineCaches::recall() has asked for is done. line_written() has come before if the caches had changed the
  /// line.
  virtual void line_recalled(std::uint64_t line) { (void)line; }
  /// The caches have been reset: they hold no line, nobody waits for one, and nothing is recalled.
  virtual void caches_reset() {}
};

/// What a recall leaves in the caches.
enum class Recall : std::uint8_t {
  nothing,  ///< they give the line up: clean-invalidate
  to_read,  ///< they may go on reading it
};

/// The caches of a system-on-chip, as one home sees them. The functions throw std::logic_error for what the protocol
/// does not allow.
class LineCaches {
 public:
  virtual ~LineCaches() = default;
  virtual unsigned line_bytes() const = 0;
  /// Answers a request with line_bytes() bytes. own: the hart that reads may have the line alone if no other cache has
  /// it, and then write it without a request; one that asks to write has it alone anyway. The bytes reach the hart
  /// unless a cache has changed the line since the device got it. Returns false, and does nothing, if a reset has
  /// withdrawn the request. of: the ledger's request that the bytes belong to, which enters `coherence message`;
  /// firmware names it by an address in the line (probe, bind), and what the caches give back of the line names it too.
  virtual bool grant(std::uint64_t request, std::span<const std::uint8_t> bytes, bool own, RequestId of = 0) = 0;
  /// As grant(), but the access ends with a bus error.
  virtual bool refuse(std::uint64_t request) = 0;
  /// Takes a line away, or leaves it to be read only. LineHome::line_recalled() follows, at once or later; the line is
  /// locked from then on.
  virtual void recall(std::uint64_t line, Recall) = 0;
  /// The home goes on without the line: requests for it are served again.
  virtual void unlock(std::uint64_t line) = 0;
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
