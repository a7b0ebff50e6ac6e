// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a coherent link calls the protocol's messages, how long they are, and which virtual channels they take.

#include "models/coherence/link/coherent_message.h"

namespace sluice::coherence {

struct Dialect {
  const char* name;     ///< "ECI"
  unsigned line_bytes;  ///< that the link carries; 0: any
  bool has_conflicts;   ///< protocol::Rules
  Format (*format)(const protocol::Message&, unsigned line_bytes);
  std::uint16_t header;  ///< bytes of a message without content, which is padded to a multiple of it
  const char *read, *read_data, *write, *write_done;  ///< accesses to registers and their answers
  bool pulls_writes;        ///< the bytes of a device's write to host memory follow when the host asks for them
  std::uint16_t host_unit;  ///< bytes of host memory that travel are whole ones of these; 0: whole lines
  /// A device's accesses to host memory, by HostPart::Kind.
  const char* host_names[8];

  Format format_of_access(bool writes, bool is_answer, unsigned bytes) const;
  /// bytes: of host memory, from `address` on, all in one line. line: bytes of a line.
  Format format_of_host(HostPart::Kind, std::uint64_t address, unsigned bytes, unsigned line) const;
};

/// Enzian's link between processor and FPGA. Names and virtual channels are those of the public hardware sources; a
/// message is a word of 8 B, with the line's 16 words behind it where it has bytes.
extern const Dialect kEci;
/// CXL.mem with back-invalidation (Compute Express Link Specification 3.0): slots of 16 B, four more with a line.
extern const Dialect kCxl;
/// Caches and home on one die; the names are the protocol's own.
extern const Dialect kOnDie;

}  // namespace sluice::coherence
