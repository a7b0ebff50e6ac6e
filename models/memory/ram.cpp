// SPDX-License-Identifier: Apache-2.0
#include "models/memory/ram.h"

#include "models/base/systemc/scheduler.h"

namespace sluice::memory {

void Ram::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("DRAM of the host");
  s.add("base", &Parameters::base, "first address").multiple_of(4096).hexadecimal().setting();
  s.add("size", &Parameters::size, "bytes; host memory is used only for pages touched")
      .range(1_MiB, 64_GiB)
      .multiple_of(4096)
      .setting();
  s.add("latency", &Parameters::latency, "of an access by a TLM initiator that is no hart and no root complex")
      .range(0_ns, 10_us)
      .assumed("as caches.dram_latency")
      .uncertainty("18 %");
}

Ram::Ram(const sc_core::sc_module_name& name, const Parameters& p)
    : Model(name), socket("socket"), parameters_(p), ram_(p.base, p.size.count()) {
  socket.register_b_transport(this, &Ram::b_transport);
  socket.register_get_direct_mem_ptr(this, &Ram::get_direct_mem_ptr);
  socket.register_transport_dbg(this, &Ram::transport_dbg);
}

unsigned Ram::transport_dbg(tlm::tlm_generic_payload& trans) {
  const std::uint64_t address = parameters_.base + trans.get_address();
  const unsigned length = trans.get_data_length();
  if (!ram_.contains(address, length)) return 0;
  if (trans.is_write())
    ram_.write(address, trans.get_data_ptr(), length);
  else if (trans.is_read())
    ram_.read(address, trans.get_data_ptr(), length);
  return length;
}

void Ram::b_transport(tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) {
  if (trans.get_byte_enable_ptr() || trans.get_streaming_width() < trans.get_data_length()) {
    trans.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (transport_dbg(trans) != trans.get_data_length()) {
    trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  delay += base::to_sc_time(parameters_.latency);
  trans.set_response_status(tlm::TLM_OK_RESPONSE);
}

/// Grants DMI for reads only, because writes must respect watched pages and DMI writes cannot.
bool Ram::get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(ram_.at(parameters_.base));
  dmi.set_start_address(0);
  dmi.set_end_address(ram_.size() - 1);
  dmi.set_granted_access(tlm::tlm_dmi::DMI_ACCESS_READ);
  dmi.set_read_latency(base::to_sc_time(parameters_.latency));
  return true;
}

}  // namespace sluice::memory
