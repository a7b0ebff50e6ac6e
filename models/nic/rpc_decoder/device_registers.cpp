// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_decoder/device_registers.h"

#include <iterator>
#include <string>
#include <utility>

namespace sluice::nic::rpc {

void declare_registers(CallDecoder& decoder, base::RegisterBank& bank, std::uint64_t offset) {
  const auto add = [&](const char* name, std::uint32_t at, bool reads, bool writes, unsigned count = 1,
                       unsigned stride = 4) {
    base::RegisterDeclaration d;
    d.name = std::string("rpc_") + name;
    d.offset = offset + at;
    d.access = reads && writes ? base::Access::rw : reads ? base::Access::ro : base::Access::wo;
    d.count = count;
    d.stride = stride;
    if (reads) d.on_read = [&decoder, at, stride](unsigned i) { return decoder.read(at + stride * i); };
    if (writes)
      d.on_write = [&decoder, at, stride](const base::RegisterWrite& w) {
        decoder.write(at + stride * w.index, static_cast<std::uint32_t>(w.written));
      };
    bank.add(std::move(d));
  };
  add("identity", RPCD_IDENTITY, true, false);
  add("capacity", RPCD_CAPACITY, true, false);
  add("error", RPCD_ERROR, true, true);
  add("program", RPCD_PROGRAM, false, true);
  add("version", RPCD_VERSION, false, true);
  add("procedure", RPCD_PROCEDURE, false, true);
  add("port", RPCD_PORT, false, true);
  add("function_low", RPCD_FUNCTION_LOW, false, true);
  add("function_high", RPCD_FUNCTION_HIGH, false, true);
  add("owner", RPCD_OWNER, false, true);
  add("commit", RPCD_COMMIT, false, true);
  add("part_classes", RPCD_PART_CLASSES(0), false, true, RPCD_PARTS, 8);
  add("part_shape", RPCD_PART_SHAPE(0), false, true, RPCD_PARTS, 8);
  add("counters", RPCD_COUNTERS, true, false, RPCD_VERDICTS);
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
