#pragma once
/// What went wrong with a run, in words.

#include <string>

#include "platform/board/board.h"

namespace sluice::platform {

/// The name of an exception by its cause, without the interrupt bit: "load page fault".
const char* exception_name(std::uint64_t cause);

/// What every diagnosis ends with, a line each: the faults that have happened and whether they last, who waits for
/// whom, and the harts: where each is, in which function, how far it has come.
std::string describe_state(Board&);

/// Whether the trap that a hart's handler is in, or has just returned from to trap again, went to machine mode.
bool in_machine_trap(riscv::Core&);

/// The trap that a hart's handler is in, or has just returned from to trap again: cause, where, and the value that came
/// with it.
std::string describe_trap(const Firmware&, riscv::Core&);

/// The firmware's failure and where the hart was, in one sentence without a full stop. It says what the code means
/// (firmware/kernel/exit_codes.h) where the image is of the firmware library. hart: whose write it was; null where it
/// was no hart's.
std::string describe_failure(unsigned code, Board&, riscv::Core* hart);

/// The firmware has ended the run by its tohost, likewise. what: the end of a sentence about the firmware.
std::string describe_exit(const std::string& what, Board&, riscv::Core* hart);

/// The firmware has asked for a reset, likewise.
std::string describe_reset(Board&, riscv::Core* hart);

/// The firmware resets its board again and again: a sentence and a line break. Before the last of these resets.
std::string describe_reset_loop(Board&, riscv::Core* hart, std::uint64_t resets);

/// The run has met run.time_limit: a sentence and a line break.
std::string describe_time_limit(Board&);

/// Why no request ends: a sentence in the first line, then describe_state().
std::string describe_stall(Board&, base::Time stall_limit);

}  // namespace sluice::platform
