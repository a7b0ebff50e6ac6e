// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The identity of a run: a digest of everything that determines its result.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "platform/config/board_config.h"
#include "platform/firmware/sha256.h"
#include "platform/study/points.h"

namespace sluice::sweep {

/// 32 hexadecimal digits of the SHA-256 of the board's name, every parameter (seed and replication among them), the
/// files that the run reads (firmware, plug-ins, captures, scripts) and the program's sources. What only describes a
/// value, such as its source, is no part of it.
std::string identity_of(const config::BoardConfig&, platform::FileDigests&);

/// What tells the run of a point from all others.
struct Identity {
  std::string id;
  std::uint64_t seed = 0;
  std::uint64_t replication = 0;
};

/// The identities of a study's points, by the files as they were when first read; each is made once.
class Identities {
 public:
  /// The points must outlive this.
  explicit Identities(const study::Points& points) : points_(points) {}
  const Identity& of(std::uint64_t number);

 private:
  const study::Points& points_;
  platform::FileDigests digests_;
  std::unordered_map<std::uint64_t, Identity> known_;
};

}  // namespace sluice::sweep
