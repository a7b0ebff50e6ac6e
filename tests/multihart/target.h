// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A device at which harts meet.

#include <cstring>
#include <functional>
#include <vector>

#include <tlm_utils/simple_target_socket.h>

#include "tests/multihart/machine.h"

namespace sluice::multihart {

/// Numbers its accesses from 0 and notes when they came. A read brings the access's number, or `value` if that is set.
struct Target : sc_core::sc_module {
  tlm_utils::simple_target_socket<Target> socket{"socket"};
  std::vector<Time> came;
  std::uint64_t value = 0;
  std::function<Time(std::uint64_t)> busy;       ///< how long a foreign one waits in the access of this number
  std::function<void(std::uint64_t)> on_access;  ///< with the access's number

  /// own: called as a model of Sluice, which does not wait in the kernel.
  Target(const sc_core::sc_module_name& name, Machine& m, bool own, std::uint64_t at = kAt) : sc_module(name) {
    socket.register_b_transport(this, &Target::b_transport);
    m.bus.map({this->name(), at, 0x1000, own, false}, socket);
  }
  void b_transport(tlm::tlm_generic_payload& t, sc_core::sc_time&) {
    const std::uint64_t number = came.size();
    came.push_back(base::now());
    if (on_access) on_access(number);
    if (busy && busy(number) > Time{}) wait(base::to_sc_time(busy(number)));
    const std::uint64_t answer = value != 0 ? value : number;
    if (t.is_read()) std::memcpy(t.get_data_ptr(), &answer, t.get_data_length());
    t.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  static constexpr std::uint64_t kAt = 0x4000'0000;
};

}  // namespace sluice::multihart
