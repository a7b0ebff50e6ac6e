#pragma once
/// What software on the board does wrong: a log for whoever writes it. A mistake is answered as hardware answers it,
/// and changes nothing for being noted here.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/time.h"

namespace sluice::base {

/// The instruction behind an access to a device. It travels with the access, through posted writes too.
struct Site {
  const std::string* hart = nullptr;  ///< its path; null: no hart's access, or none that is known
  std::uint64_t pc = 0;
};

/// Says whose access the code below handles, until it ends or time goes on: what waits for simulated time meanwhile is
/// somebody else's.
class AccessBy {
 public:
  explicit AccessBy(const Site&);
  ~AccessBy();
  AccessBy(const AccessBy&) = delete;
  AccessBy& operator=(const AccessBy&) = delete;

 private:
  Site before_;
  Time before_at_;
};

/// Whose access is handled now.
Site access_site();

struct Mistake {
  Time at;           ///< of the first time
  std::string what;  ///< "nic.eth0: read of 4 bytes at 0x14: no register there"
  std::string hart;  ///< whose instruction it was; empty: not known
  std::uint64_t pc = 0;
  std::uint64_t times = 1;  ///< from the same instruction
};

class Mistakes {
 public:
  static constexpr std::size_t kMost = 64;  ///< different ones that are listed

  /// The mistake of access_site().
  void report(std::string what) { report(std::move(what), access_site()); }
  void report(std::string what, const Site&);
  /// In order of their first times.
  const std::vector<Mistake>& list() const { return list_; }
  /// Times of those that found no room in the list.
  std::uint64_t unlisted() const { return unlisted_; }
  void clear();

 private:
  std::vector<Mistake> list_;
  std::uint64_t unlisted_ = 0;
};

/// Of the simulation in this process.
Mistakes& mistakes();

}  // namespace sluice::base
