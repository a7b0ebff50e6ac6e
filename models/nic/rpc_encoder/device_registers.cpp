// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_encoder/device_registers.h"

#include "models/nic/rpc_decoder/forwarded_registers.h"

namespace sluice::nic::rpc {

void declare_registers(MessageEncoder& encoder, base::RegisterBank& bank, std::uint64_t offset) {
  using base::Access;
  const ForwardedRegisters registers(encoder, bank, "rpc_encoder_", offset);
  registers.add("identity", RPCE_IDENTITY, Access::ro);
  registers.add("capacity", RPCE_CAPACITY, Access::ro);
  registers.add("error", RPCE_ERROR, Access::rw);
  registers.add("commit", RPCE_COMMIT, Access::wo);
  registers.add("arm_value", RPCE_ARM_VALUE(0), Access::wo, RPCE_ARMS, 8);
  registers.add("arm", RPCE_ARM(0), Access::wo, RPCE_ARMS, 8);
  registers.add("part_classes", RPCE_PART_CLASSES(0), Access::wo, RPCE_PARTS, 8);
  registers.add("part_shape", RPCE_PART_SHAPE(0), Access::wo, RPCE_PARTS, 8);
  registers.add("counters", RPCE_COUNTERS, Access::ro, RPCE_VERDICTS);
}

}  // namespace sluice::nic::rpc
