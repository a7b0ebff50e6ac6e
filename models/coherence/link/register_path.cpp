// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/register_path.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sluice::coherence {

RegisterPath::RegisterPath(const sc_core::sc_module_name& name, CoherentLink& link, std::string device)
    : Model(name), from_bus("from_bus"), to_device("to_device"), link_(link), device_(std::move(device)) {
  link.add_registers(*this);
  from_bus.register_b_transport(this, &RegisterPath::b_transport);
  from_bus.register_transport_dbg(this, &RegisterPath::transport_dbg);
}

template <class F>
void RegisterPath::after(base::Time time, RegisterAccess& access, F f) {
  base::calendar().after(time, key(), [this, n = access.number, f] {
    const auto open = std::find_if(open_.begin(), open_.end(), [n](const RegisterAccess* a) { return a->number == n; });
    if (open != open_.end()) f(**open);
  });
}

void RegisterPath::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
  const base::Site by = base::access_site();
  if (!link_.is_up()) {
    report_down("is down", transaction, by);
    return transaction.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  RegisterAccess access{*this, transaction, ++accesses_, by, false, {}};
  open_.push_back(&access);
  transaction.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  after(link_.latencies().host_io, access, [this](RegisterAccess& a) { link_.send_access(a, false); });
  while (!access.done) base::wait_for(access.answered, "an answer", device_.c_str());
  std::erase(open_, &access);
}

void RegisterPath::arrive(RegisterAccess& access) {
  after(link_.latencies().device_io, access, [this](RegisterAccess& a) {
    sc_core::sc_time delay;
    const base::AccessSiteScope scope(a.by);
    base::name_what_is_thrown(device_, [&] { to_device->b_transport(a.transaction, delay); });
    after(link_.latencies().device_io + base::from_sc_time(delay), a,
          [this](RegisterAccess& answered) { link_.send_access(answered, true); });
  });
}

void RegisterPath::end(RegisterAccess& access) {
  after(link_.latencies().host_io, access, [](RegisterAccess& a) {
    a.done = true;
    a.answered.notify();
  });
}

void RegisterPath::report_down(const char* how, const tlm::tlm_generic_payload& access, const base::Site& by) const {
  base::mistakes().report(fmt::format("{}: {} of {} bytes at register {:#x} of {}: access fault, {} {}",
                                      by.hart ? *by.hart : path(), access.is_write() ? "store" : "load",
                                      access.get_data_length(), access.get_address(), device_, link_.path(), how),
                          by);
}

void RegisterPath::reset() {
  // Their threads go on later; timers of this instant must not find them.
  for (RegisterAccess* a : std::exchange(open_, {})) {
    if (!link_.is_up()) report_down("went down", a->transaction, a->by);
    a->transaction.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    a->done = true;
    a->answered.notify();
  }
}

}  // namespace sluice::coherence
