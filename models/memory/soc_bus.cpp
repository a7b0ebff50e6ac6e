// SPDX-License-Identifier: Apache-2.0
#include "models/memory/soc_bus.h"

#include "models/base/systemc/scheduler.h"
#include "models/base/time/who_waits.h"

namespace sluice::memory {

void SocBus::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("on-chip bus between harts and local devices");
  s.add("latency", &Parameters::latency, "hart to device and back, added to every access")
      .range(0_ns, 10_us)
      .assumed("no modelled system publishes it");
}

SocBus::SocBus(const sc_core::sc_module_name& name, const Parameters& p)
    : Model(name), from_initiators("from_initiators"), parameters_(p) {
  from_initiators.register_b_transport(this, &SocBus::b_transport);
  from_initiators.register_transport_dbg(this, &SocBus::transport_dbg);
}

SocBus::Initiator* SocBus::add(const Region& region) {
  regions_.push_back(region);
  target_of_.push_back(targets_.size());
  // A socket becomes a child of the module that is under construction, so this bus is put there for a moment.
  simcontext()->hierarchy_push(this);
  targets_.push_back(std::make_unique<Initiator>(("to_" + std::to_string(targets_.size())).c_str()));
  simcontext()->hierarchy_pop();
  return targets_.back().get();
}

int SocBus::find(std::uint64_t address, std::uint64_t length) const {
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region& r = regions_[i];
    if (address >= r.base && address - r.base < r.size && length <= r.size - (address - r.base))
      return static_cast<int>(i);
  }
  return -1;
}

std::string SocBus::name_at(std::uint64_t address) const {
  const int i = find(address, 1);
  return i < 0 ? std::string() : region(i).name;
}

void SocBus::b_transport(int, tlm::tlm_generic_payload& trans, sc_core::sc_time& delay) {
  const std::uint64_t address = trans.get_address();
  const int i = find(address, trans.get_data_length());
  if (i < 0) {
    ++unmapped_;
    trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  const Region& at = region(i);
  if (!at.whole_address) trans.set_address(address - at.base);
  delay += base::to_sc_time(parameters_.latency);
  ++accesses_;
  Initiator& socket = target(i);
  try {
    base::name_what_is_thrown(at.name, [&] {
      if (at.own)
        socket->b_transport(trans, delay);
      else
        call_foreign(at, socket, trans, delay);
    });
  } catch (const base::ComponentError&) {
    base::Scheduler::instance().keep_exception();  // the caller may be a plain module's process
    throw;
  }
  trans.set_address(address);
}

void SocBus::call_foreign(const Region& at, Initiator& socket, tlm::tlm_generic_payload& trans,
                          sc_core::sc_time& delay) {
  base::Runner* hart = base::Scheduler::instance().running();
  const base::Waiting waiting(hart ? hart->path().c_str() : "a module", "an answer", at.name.c_str());
  if (hart) hart->enter_foreign();
  socket->b_transport(trans, delay);
  if (hart) hart->leave_foreign();
}

unsigned SocBus::transport_dbg(int, tlm::tlm_generic_payload& trans) {
  const std::uint64_t address = trans.get_address();
  const int i = find(address, trans.get_data_length());
  if (i < 0) return 0;
  const Region& at = region(i);
  if (!at.whole_address) trans.set_address(address - at.base);
  const unsigned done = target(i)->transport_dbg(trans);
  trans.set_address(address);
  return done;
}

bool SocBus::takes_interrupts(std::uint64_t address) const {
  const int i = find(address, 1);
  return i >= 0 && region(i).interrupts;
}

bool SocBus::posts(std::uint64_t address) const {
  const int i = find(address, 1);
  return i >= 0 && region(i).posts;
}

bool SocBus::write_now(std::uint64_t address, const void* data, unsigned size) {
  const int i = find(address, size);
  if (i < 0 || !region(i).own || region(i).waits) {
    ++unmapped_;
    return false;
  }
  const Region& at = region(i);
  tlm::tlm_generic_payload trans;
  trans.set_command(tlm::TLM_WRITE_COMMAND);
  trans.set_address(at.whole_address ? address : address - at.base);
  trans.set_data_ptr(static_cast<unsigned char*>(const_cast<void*>(data)));
  trans.set_data_length(size);
  trans.set_streaming_width(size);
  sc_core::sc_time delay;
  base::name_what_is_thrown(at.name, [&] { target(i)->b_transport(trans, delay); });
  return trans.is_response_ok();
}

void SocBus::register_statistics(base::StatisticsGroup& group) {
  group.counter("accesses", "accesses", "of harts to devices, PCIe's included: each takes the bus's latency",
                accesses_);
  group.counter("unmapped", "accesses", "to where nothing is", unmapped_);
}

}  // namespace sluice::memory
