// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A TLM-2.0 target socket in front of a register file. Addresses are offsets from the start of the device: the
/// bus that decodes the map subtracts the base. Accesses take no time here: the path to the device has the latency.

#include <utility>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "models/base/registers/register_bank.h"
#include "models/base/time/callback.h"

namespace sluice::base {

class RegisterSocket : public tlm_utils::simple_target_socket<RegisterSocket> {
 public:
  using Read = Callback<Answer(std::uint64_t offset, void* data, unsigned size), 16>;
  using Write = Callback<Answer(std::uint64_t offset, const void* data, unsigned size), 16>;

  /// The bank must outlive the socket.
  RegisterSocket(const char* name, RegisterBank& bank)
      : RegisterSocket(
            name, [&bank](std::uint64_t offset, void* data, unsigned size) { return bank.read(offset, data, size); },
            [&bank](std::uint64_t offset, const void* data, unsigned size) { return bank.write(offset, data, size); }) {
  }
  /// For a device that decodes (part of) its range itself.
  RegisterSocket(const char* name, Read read, Write write)
      : simple_target_socket(name), read_(std::move(read)), write_(std::move(write)) {
    register_b_transport(this, &RegisterSocket::transport);
  }

 private:
  static tlm::tlm_response_status response(Answer answer) {
    switch (answer) {
      case Answer::ok:
        return tlm::TLM_OK_RESPONSE;
      case Answer::unmapped:
        return tlm::TLM_ADDRESS_ERROR_RESPONSE;
      case Answer::misaligned:
      case Answer::wrong_width:
        return tlm::TLM_BURST_ERROR_RESPONSE;
      case Answer::read_only:
      case Answer::write_only:
        return tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    return tlm::TLM_GENERIC_ERROR_RESPONSE;
  }

  void transport(tlm::tlm_generic_payload& access, sc_core::sc_time&) {
    const unsigned size = access.get_data_length();
    if (access.get_byte_enable_ptr() != nullptr) return access.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    if (access.get_streaming_width() < size) return access.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    Answer answer = Answer::ok;
    if (access.is_read())
      answer = read_(access.get_address(), access.get_data_ptr(), size);
    else if (access.is_write())
      answer = write_(access.get_address(), access.get_data_ptr(), size);
    access.set_response_status(response(answer));
  }

  Read read_;
  Write write_;
};

}  // namespace sluice::base
