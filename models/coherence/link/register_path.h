// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The way from a system's bus over a coherent link to the registers of a device.

#include <cstdint>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "models/base/measure/mistakes.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/scheduler.h"
#include "models/coherence/link/coherent_link.h"

namespace sluice::coherence {

class RegisterPath;

struct RegisterAccess {
  RegisterPath& path;
  tlm::tlm_generic_payload& transaction;
  std::uint64_t number;
  base::Site by;  ///< the instruction that waits
  bool done = false;
  base::Event answered;
};

/// A load or store waits at the bus until its answer has come back. The device's registers answer at once.
class RegisterPath : public base::Model {
 public:
  tlm_utils::simple_target_socket<RegisterPath> from_bus;
  tlm_utils::simple_initiator_socket<RegisterPath> to_device;

  /// device: its path, for the stall diagnosis.
  RegisterPath(const sc_core::sc_module_name&, CoherentLink&, std::string device);

  /// The request has arrived at the device.
  void arrive(RegisterAccess&);
  /// The answer has arrived at the host.
  void end(RegisterAccess&);
  /// The link has forgotten what was under way: accesses end with a bus error.
  void reset();

 private:
  void report_down(const char* how, const tlm::tlm_generic_payload&, const base::Site&) const;
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&);
  unsigned transport_dbg(tlm::tlm_generic_payload& trans) { return to_device->transport_dbg(trans); }
  /// Calls f after a time, unless the access has been given up meanwhile.
  template <class F>
  void after(base::Time, RegisterAccess&, F f);

  CoherentLink& link_;
  const std::string device_;
  std::vector<RegisterAccess*> open_;
  std::uint64_t accesses_ = 0;
};

}  // namespace sluice::coherence
