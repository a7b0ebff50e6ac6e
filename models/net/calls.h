#pragma once
/// The calls that a traffic source makes to the firmware's programs, and what their replies must be, byte by byte. What
/// a call contains follows from one number, so nothing is stored to check its reply. Plain C++.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/random.h"
#include "models/base/schema.h"

namespace sluice::net {

/// What a call asks for.
enum class Procedure : std::uint8_t {
  null,      ///< echo's NULL procedure: no work at all
  echo,      ///< `bytes` of opaque data and back
  add,       ///< the sum of two integers
  checksum,  ///< the Adler-32 sum of `bytes` of opaque data
  sort,      ///< `bytes` / 4 integers and back in order
  kv,        ///< get and put: values of `bytes`
  raw,       ///< no RPC: `bytes` of UDP payload that the other side sends back as they are
};

struct CallParameters {
  Procedure program = Procedure::null;
  std::uint32_t bytes = 64;          ///< of data
  std::uint32_t keys = 64;           ///< kv: different keys used
  std::uint32_t reads_percent = 90;  ///< kv: gets among the calls, once a key has been put
  static void describe(base::Schema<CallParameters>&);
  /// Bytes of the largest call's or reply's UDP payload.
  std::uint32_t largest_message() const;
  /// Bytes of the smallest call's UDP payload.
  std::uint32_t smallest_call() const;
};

/// One call, as far as its reply must be known.
struct Call {
  std::uint64_t seed = 0;  ///< its data follow from this
  std::uint32_t key = 0;   ///< kv
  bool put = false;        ///< kv
};

class CallMaker {
 public:
  /// path: of the component that makes the calls.
  CallMaker(const CallParameters&, base::RandomSeed, std::string_view path);

  /// Chooses the next call.
  Call next();
  /// Writes the UDP payload of a call; returns its length.
  std::uint32_t encode(const Call&, std::uint32_t xid, std::uint8_t* out) const;
  /// The xid of a reply, or 0 when it is too short to have one.
  static std::uint32_t xid_of(const std::uint8_t* payload, std::size_t length);
  /// Returns null when a payload is the right reply to the call, to the last byte, else what is wrong with it.
  const char* check(const Call&, std::uint32_t xid, const std::uint8_t* payload, std::size_t length) const;
  /// The right reply has arrived.
  void answered(const Call&);

 private:
  const char* check_opaque(std::uint64_t seed, const std::uint8_t* results, std::size_t length) const;
  const char* check_sorted(std::uint64_t seed, const std::uint8_t* results, std::size_t length) const;
  const char* check_kv(const Call&, const std::uint8_t* results, std::size_t length) const;

  CallParameters parameters_;
  base::RandomStream random_;
  std::vector<bool> stored_;  ///< kv: keys that a put has been answered for
};

}  // namespace sluice::net
