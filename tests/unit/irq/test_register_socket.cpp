// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "models/irq/finisher.h"
#include "models/irq/finisher_regs.h"

using namespace sluice;

namespace {

struct Initiator : sc_core::sc_module {
  explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name) {}
  tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::uint64_t& data, unsigned size,
                                  unsigned char* enable = nullptr) {
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(address);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    p.set_data_length(size);
    p.set_streaming_width(size);
    p.set_byte_enable_ptr(enable);
    sc_core::sc_time delay;
    socket->b_transport(p, delay);
    CHECK(delay == sc_core::SC_ZERO_TIME);
    return p.get_response_status();
  }
};

}  // namespace

TEST_CASE("a register file answers through TLM-2.0, each mistake in its own way", "[register_socket]") {
  irq::Finisher finisher("finisher");
  Initiator initiator("initiator");
  initiator.socket.bind(finisher.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  std::uint64_t data = ~0ull;
  CHECK(initiator.access(tlm::TLM_READ_COMMAND, FINISHER_CONTROL, data, 4) == tlm::TLM_OK_RESPONSE);
  CHECK(data == 0xffff'ffff'0000'0000);
  CHECK(initiator.access(tlm::TLM_READ_COMMAND, 8, data, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(initiator.access(tlm::TLM_READ_COMMAND, FINISHER_CONTROL, data, 8) == tlm::TLM_BURST_ERROR_RESPONSE);
  unsigned char enable = 0xff;
  CHECK(initiator.access(tlm::TLM_READ_COMMAND, 0, data, 4, &enable) == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  CHECK(initiator.access(tlm::TLM_IGNORE_COMMAND, 0, data, 4) == tlm::TLM_OK_RESPONSE);
  CHECK_FALSE(finisher.verdict());
  data = FINISHER_PASS;
  CHECK(initiator.access(tlm::TLM_WRITE_COMMAND, FINISHER_CONTROL, data, 4) == tlm::TLM_OK_RESPONSE);
  CHECK(finisher.verdict());
}
