// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_decoder/device_registers.h"

#include <iterator>

#include "models/nic/rpc_decoder/forwarded_registers.h"

namespace sluice::nic::rpc {

void declare_registers(CallDecoder& decoder, base::RegisterBank& bank, std::uint64_t offset) {
  using base::Access;
  const ForwardedRegisters registers(decoder, bank, "rpc_", offset);
  registers.add("identity", RPCD_IDENTITY, Access::ro);
  registers.add("capacity", RPCD_CAPACITY, Access::ro);
  registers.add("error", RPCD_ERROR, Access::rw);
  registers.add("program", RPCD_PROGRAM, Access::wo);
  registers.add("version", RPCD_VERSION, Access::wo);
  registers.add("procedure", RPCD_PROCEDURE, Access::wo);
  registers.add("port", RPCD_PORT, Access::wo);
  registers.add("function_low", RPCD_FUNCTION_LOW, Access::wo);
  registers.add("function_high", RPCD_FUNCTION_HIGH, Access::wo);
  registers.add("owner", RPCD_OWNER, Access::wo);
  registers.add("commit", RPCD_COMMIT, Access::wo);
  registers.add("part_classes", RPCD_PART_CLASSES(0), Access::wo, RPCD_PARTS, 8);
  registers.add("part_shape", RPCD_PART_SHAPE(0), Access::wo, RPCD_PARTS, 8);
  registers.add("counters", RPCD_COUNTERS, Access::ro, RPCD_VERDICTS);
}

void register_statistics(const CallDecoder& decoder, base::StatisticsGroup& group) {
  struct Entry {
    unsigned verdict;
    const char* name;
    const char* meaning;
  };
  static constexpr Entry entries[] = {
      {RPCD_CALL, "rpc_calls", "calls of a service in the decoder's table"},
      {RPCD_TRUNCATED, "rpc_truncated", "no call: they end before a header of them says"},
      {RPCD_NOT_IPV4, "rpc_not_ipv4", "no call: not IPv4"},
      {RPCD_IPV4_HEADER, "rpc_ipv4_header", "no call: an IPv4 header that cannot be"},
      {RPCD_IPV4_CHECKSUM, "rpc_ipv4_checksum", "no call: wrong IPv4 checksum"},
      {RPCD_FRAGMENT, "rpc_fragment", "no call: fragment"},
      {RPCD_NOT_UDP, "rpc_not_udp", "no call: not UDP"},
      {RPCD_UDP_LENGTH, "rpc_udp_length", "no call: a UDP length that cannot be"},
      {RPCD_UDP_CHECKSUM, "rpc_udp_checksum", "no call: wrong UDP checksum"},
      {RPCD_NOT_CALL, "rpc_not_call", "no call: another RPC message type"},
      {RPCD_RPC_VERSION, "rpc_version", "no call: RPC version is not 2"},
      {RPCD_CREDENTIAL, "rpc_credential", "no call: credential of another flavour, or too long"},
      {RPCD_VERIFIER, "rpc_verifier", "no call: verifier of another flavour, or too long"},
      {RPCD_NO_SERVICE, "rpc_no_service", "calls of no service in the decoder's table"},
      {RPCD_ARGUMENTS, "rpc_arguments", "calls whose arguments are not as their schema says"},
  };
  static_assert(std::size(entries) == RPCD_VERDICTS);
  for (const Entry& e : entries) group.counter(e.name, "frames", e.meaning, decoder.count(e.verdict));
  group.counter("rpc_late", "frames", "that the decoder in RTL was offered later than hardware would be",
                decoder.late());
}

}  // namespace sluice::nic::rpc
