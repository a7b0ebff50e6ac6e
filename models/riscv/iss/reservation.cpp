// SPDX-License-Identifier: Apache-2.0
/// A hart's reservation (LR, SC, wrs): how it is made, and what ends it.

#include "models/riscv/iss/hart.h"

namespace sluice::riscv {
namespace {

constexpr std::uint64_t kReservationLine = 64;

bool overlaps(std::uint64_t a, std::uint64_t a_length, std::uint64_t b, std::uint64_t b_length) {
  return a < b + b_length && b < a + a_length;
}

}  // namespace

void Hart::reserve(std::uint64_t address) {
  state_.reservation = true;
  state_.reservation_address = address & ~(kReservationLine - 1);
}

void Hart::reserve(base::GuestRam& ram, std::uint64_t address) {
  reserve(address);
  // The watch stays after the reservation ends, as another usually follows; own_write() drops it at a later review.
  ram.set_watch(address, base::GuestRam::kReservation);
}

void Hart::line_changed(std::uint64_t address, std::uint64_t length) {
  if (!awaits(address, length)) return;
  state_.reservation = false;
  if (waiting_ && reservation_lost_) reservation_lost_();
}

bool Hart::awaits(std::uint64_t address, std::uint64_t length) const {
  return state_.reservation && overlaps(address, length, state_.reservation_address, kReservationLine);
}

}  // namespace sluice::riscv
