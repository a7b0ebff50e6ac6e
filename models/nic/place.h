// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The parameters that say where a NIC is on a board, the same for every model of [nic.NAME].

#include <string>

#include "models/base/parameters/schema.h"
#include "models/net/frame.h"

namespace sluice::nic {

struct Attachment {
  std::string slot = "pcie.slot0";
  std::string wire = "net.wire0";
  static void describe(base::Schema<Attachment>& s) {
    s.summary("where a NIC is attached");
    s.add("slot", &Attachment::slot, "PCIe slot that it sits in").refers_to("pcie").setting();
    s.add("wire", &Attachment::wire, "Ethernet link that it is attached to").refers_to("net").setting();
  }
};

struct HostAddress {
  std::string ipv4 = "10.0.0.2";
  static void describe(base::Schema<HostAddress>& s) {
    s.summary("the host's address on a NIC");
    s.add("ipv4", &HostAddress::ipv4, "the firmware's address on this NIC").setting();
    s.rule("ipv4", &HostAddress::ipv4, net::parse_host_ipv4);
  }
};

}  // namespace sluice::nic
