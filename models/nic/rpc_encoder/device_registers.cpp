// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_encoder/device_registers.h"

#include <string>
#include <utility>

namespace sluice::nic::rpc {

void declare_registers(MessageEncoder& encoder, base::RegisterBank& bank, std::uint64_t offset) {
  const auto add = [&](const char* name, std::uint32_t at, base::Access access, unsigned count = 1,
                       unsigned stride = 4) {
    base::RegisterDeclaration d;
    d.name = std::string("rpc_encoder_") + name;
    d.offset = offset + at;
    d.access = access;
    d.count = count;
    d.stride = stride;
    d.on_read = [&encoder, at, stride](unsigned i) { return encoder.read(at + stride * i); };
    if (access != base::Access::ro)
      d.on_write = [&encoder, at, stride](const base::RegisterWrite& w) {
        encoder.write(at + stride * w.index, static_cast<std::uint32_t>(w.written));
      };
    bank.add(std::move(d));
  };
  using base::Access;
  add("identity", RPCE_IDENTITY, Access::ro);
  add("capacity", RPCE_CAPACITY, Access::ro);
  add("error", RPCE_ERROR, Access::rw);
  add("commit", RPCE_COMMIT, Access::wo);
  add("arm_value", RPCE_ARM_VALUE(0), Access::wo, RPCE_ARMS, 8);
  add("arm", RPCE_ARM(0), Access::wo, RPCE_ARMS, 8);
  add("part_classes", RPCE_PART_CLASSES(0), Access::wo, RPCE_PARTS, 8);
  add("part_shape", RPCE_PART_SHAPE(0), Access::wo, RPCE_PARTS, 8);
  add("counters", RPCE_COUNTERS, Access::ro, RPCE_VERDICTS);
}

}  // namespace sluice::nic::rpc
