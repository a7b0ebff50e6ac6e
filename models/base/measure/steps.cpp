// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/steps.h"

namespace sluice::base {

const char* step_title(Step step) {
  static constexpr const char* titles[] = {
#define SLUICE_STEP(name, title, meaning) title,
      SLUICE_STEPS(SLUICE_STEP)
#undef SLUICE_STEP
  };
  return titles[step];
}

const char* owner_title(Owner owner) {
  static constexpr const char* titles[] = {"NIC", "host", "kernel", "application"};
  return titles[static_cast<unsigned>(owner)];
}

StepSet steps_of(sluice_stage stage) {
  switch (stage) {
    case SLUICE_STAGE_mac:
    case SLUICE_STAGE_poll:
    case SLUICE_STAGE_copy:
      return {SLUICE_STEP_read_packet};
    case SLUICE_STAGE_demultiplex:
      return {SLUICE_STEP_demultiplex};
    case SLUICE_STAGE_interrupt:
    case SLUICE_STAGE_interrupt_delivery:
    case SLUICE_STAGE_idle_exit:
    case SLUICE_STAGE_trap_entry:
    case SLUICE_STAGE_user_interrupt:
      return {SLUICE_STEP_interrupt};
    case SLUICE_STAGE_kernel_protocol:
      return {SLUICE_STEP_general_protocol};
    case SLUICE_STAGE_schedule_decision:
    case SLUICE_STAGE_remote_decision:
    case SLUICE_STAGE_commit:
      return {SLUICE_STEP_schedule};
    case SLUICE_STAGE_context_switch:
      return {SLUICE_STEP_context_switch};
    case SLUICE_STAGE_unmarshal:
      return {SLUICE_STEP_unmarshal};
    default:
      return {};
  }
}

}  // namespace sluice::base
