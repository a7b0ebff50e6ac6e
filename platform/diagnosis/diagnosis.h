// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What went wrong with a run, in words.

#include <string>

#include "platform/board/board.h"

namespace sluice::platform {

/// The name of an exception by its cause: "load page fault". A cause with the interrupt bit is called an interrupt that
/// nothing handles.
const char* exception_name(std::uint64_t cause);

/// Describes the board at the end of a diagnosis: one line for each fault so far, each wait, and each hart (pc,
/// function, process, instructions, local time).
std::string describe_state(Board&);

/// Whether the last trap of a hart went to machine mode. Call this while the trap's handler runs, or when the handler
/// has returned and the hart is about to trap again.
bool in_machine_trap(riscv::Core&);

/// Describes the last trap of a hart, as for in_machine_trap(): its cause, where it happened, and the value that came
/// with it.
std::string describe_trap(const Cluster&, riscv::Core&);

/// Describes the firmware's failure and where the hart was, in one sentence without a full stop. It explains the code
/// (firmware/kernel/exit_codes.h) if the image belongs to the firmware library. hart: the hart that wrote the code;
/// null where no hart did.
std::string describe_failure(unsigned code, Board&, riscv::Core* hart);

/// Describes the end of a run by the firmware's tohost, in one sentence without a full stop. what: completes
/// the sentence "the firmware ...", such as "wrote 7 to tohost".
std::string describe_exit(const std::string& what, Board&, riscv::Core* hart);

/// Describes a reset that the firmware asked for, in one sentence without a full stop.
std::string describe_reset(Board&, riscv::Core* hart);

/// Describes repeated resets by the firmware: a sentence and a line break. Call it before the last of these resets.
std::string describe_reset_loop(Board&, const SystemOnChip&, riscv::Core* hart, std::uint64_t resets);

/// Says that the run has reached run.time_limit: a sentence and a line break.
std::string describe_time_limit(Board&);

/// Why no request ends: a sentence in the first line, then describe_state().
std::string describe_stall(Board&, base::Time stall_limit);

}  // namespace sluice::platform
