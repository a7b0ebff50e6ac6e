// SPDX-License-Identifier: Apache-2.0
#pragma once
/// RAM as a TLM-2.0 target, for foreign initiators and debuggers. Harts and DMA reach its bytes through GuestRam.

#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "models/base/memory/guest_ram.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/systemc/model.h"

namespace sluice::memory {

using namespace base::literals;

class Ram : public base::Model {
 public:
  struct Parameters {
    std::uint64_t base = 0x8000'0000;
    base::Bytes size = 256_MiB;
    base::Time latency = 85_ns;  ///< of an access through the socket
    static void describe(base::Schema<Parameters>&);
  };

  tlm_utils::simple_target_socket<Ram> socket;  ///< addresses are offsets into this RAM

  Ram(const sc_core::sc_module_name&, const Parameters&);
  base::GuestRam& bytes() { return ram_; }

 private:
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time& delay);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&);
  unsigned transport_dbg(tlm::tlm_generic_payload&);

  Parameters parameters_;
  base::GuestRam ram_;
};

}  // namespace sluice::memory
