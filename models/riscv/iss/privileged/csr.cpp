// SPDX-License-Identifier: Apache-2.0
// CSR access: the checks that precede it, and the registers that are more than storage.
#include "models/riscv/iss/privileged/csr.h"

#include "models/riscv/iss/privileged/csr_table.h"
#include "models/riscv/iss/privileged/privileged.h"

namespace sluice::riscv {

namespace {

constexpr std::uint64_t kSstatusWritable =
    mstatus::kSie | mstatus::kSpie | mstatus::kSpp | mstatus::kFs | mstatus::kSum | mstatus::kMxr;
constexpr std::uint64_t kMstatusWritable = kSstatusWritable | mstatus::kMie | mstatus::kMpie | mstatus::kMpp |
                                           mstatus::kMprv | mstatus::kTvm | mstatus::kTw | mstatus::kTsr;
constexpr std::uint64_t kSstatusVisible = kSstatusWritable | mstatus::kUxl | mstatus::kSd;

constexpr std::uint64_t extension(char letter) { return std::uint64_t{1} << (letter - 'A'); }
constexpr std::uint64_t kMisa = std::uint64_t{2} << 62 | extension('I') | extension('M') | extension('A') |
                                extension('F') | extension('D') | extension('C') | extension('S') | extension('U');

constexpr std::uint64_t kCounterTime = 2;  // mcounteren.TM
constexpr std::uint64_t kInhibitCycle = 1, kInhibitInstret = 4;

bool is_read_only(unsigned number) { return number >> 10 == 3; }

/// With all iprio bytes zero, AIA lets the priority of any interrupt be reported as 1.
std::uint64_t top_interrupt(unsigned number) { return number ? std::uint64_t{number} << 16 | 1 : 0; }

}  // namespace

bool CsrTable::read(const Row& row, Privileged& hart, unsigned number, Value& value) {
  if (row.read) return row.read(hart, number, value);
  value = row.field ? hart.csr_.*row.field : 0;
  return true;
}

bool CsrTable::write(const Row& row, Privileged& hart, unsigned number, Value value) {
  if (row.write) return row.write(hart, number, value);
  if (row.field) {
    Value& field = hart.csr_.*row.field;
    field = (field & ~row.mask) | (value & row.mask);
  }
  return true;
}

bool Privileged::csr_permitted(unsigned number, const CsrTable::Row& row) const {
  const Privilege now = state_.privilege;
  if (static_cast<unsigned>(now) < ((number >> 8) & 3)) return false;
  const bool machine = now == Privilege::machine;
  switch (row.needs) {
    case CsrTable::Needs::fp:
      return fp_enabled();
    case CsrTable::Needs::satp:
      return machine || !(csr_.mstatus & mstatus::kTvm);
    case CsrTable::Needs::counter: {
      const std::uint64_t bit = std::uint64_t{1} << (number & 31);
      return machine || ((csr_.mcounteren & bit) && (now == Privilege::supervisor || (csr_.scounteren & bit)));
    }
    case CsrTable::Needs::sstc:
      return machine || ((csr_.menvcfg & kMenvcfgStce) && (csr_.mcounteren & kCounterTime));
    default:
      return true;
  }
}

bool Privileged::csr_read(unsigned number, std::uint64_t& value) {
  return csr_access(number, CsrOp::set, 0, false, value);
}

bool Privileged::csr_write(unsigned number, std::uint64_t value) {
  std::uint64_t old;
  return csr_access(number, CsrOp::write, value, true, old);
}

bool Privileged::csr_access(unsigned number, CsrOp op, std::uint64_t operand, bool do_write, std::uint64_t& old) {
  const CsrTable::Row* row = CsrTable::find(number, config_);
  if (!row || !csr_permitted(number, *row) || (do_write && is_read_only(number))) return false;
  std::uint64_t value;
  if (!CsrTable::read(*row, *this, number, value)) return false;
  if (do_write) {
    std::uint64_t base = value;
    // Set and clear act on the software bit of SEIP. They must not latch the level of the outside line.
    if (number == csr::kMip && !(soft_mip_ & irq::bit(irq::kSei))) base &= ~irq::bit(irq::kSei);
    const std::uint64_t next = op == CsrOp::write ? operand : op == CsrOp::set ? base | operand : base & ~operand;
    if (number == csr::kMtopei || number == csr::kStopei) {
      // The value written is ignored: a write claims what was just read.
      if (!CsrTable::write(*row, *this, number, value)) return false;
    } else if (!CsrTable::write(*row, *this, number, next)) {
      return false;
    }
  }
  old = value;
  return true;
}

bool Privileged::csr_peek(unsigned number, std::uint64_t& value) {
  const CsrTable::Row* row = CsrTable::find(number, config_);
  return row && CsrTable::read(*row, *this, number, value);
}

bool Privileged::csr_poke(unsigned number, std::uint64_t value) {
  const CsrTable::Row* row = CsrTable::find(number, config_);
  if (!row || is_read_only(number)) return false;
  if (number == csr::kMtopei || number == csr::kStopei) return false;
  executing_ = 0;
  const bool done = CsrTable::write(*row, *this, number, value);
  executing_ = 1;
  return done;
}

// --- floating point -------------------------------------------------------------------------------------------------

bool CsrTable::read_fcsr(Privileged& hart, unsigned number, Value& value) {
  const HartState& state = hart.state_;
  value = number == csr::kFflags ? state.fflags
          : number == csr::kFrm  ? state.frm
                                 : static_cast<unsigned>(state.frm) << 5 | state.fflags;
  return true;
}

bool CsrTable::write_fcsr(Privileged& hart, unsigned number, Value value) {
  HartState& state = hart.state_;
  if (number != csr::kFrm) state.fflags = value & 0x1f;
  if (number != csr::kFflags) state.frm = (number == csr::kFcsr ? value >> 5 : value) & 7;
  hart.mark_fp_dirty();
  return true;
}

// --- status ---------------------------------------------------------------------------------------------------------

bool CsrTable::read_status(Privileged& hart, unsigned number, Value& value) {
  value = hart.csr_.mstatus;
  if ((value & mstatus::kFs) == mstatus::kFs) value |= mstatus::kSd;
  if (number == csr::kSstatus) value &= kSstatusVisible;
  return true;
}

bool CsrTable::write_status(Privileged& hart, unsigned number, Value value) {
  hart.write_mstatus(value, number == csr::kSstatus ? kSstatusWritable : kMstatusWritable);
  return true;
}

void Privileged::write_mstatus(std::uint64_t value, std::uint64_t mask) {
  const std::uint64_t old = csr_.mstatus;
  std::uint64_t next = (old & ~mask) | (value & mask);
  constexpr std::uint64_t kNoMode = std::uint64_t{2} << mstatus::kMppShift;
  if ((next & mstatus::kMpp) == kNoMode) next = (next & ~mstatus::kMpp) | (old & mstatus::kMpp);
  csr_.mstatus = next;
  const std::uint64_t changed = old ^ next;
  if (changed & (mstatus::kMxr | mstatus::kSum | mstatus::kMprv)) ++epoch_;
  if ((next & mstatus::kMprv) && (changed & mstatus::kMpp)) ++epoch_;
  update_interrupts();
}

bool CsrTable::read_identity(Privileged& hart, unsigned number, Value& value) {
  // tinfo 1: the selected trigger does not exist.
  value = number == csr::kMisa ? kMisa : number == csr::kMhartid ? hart.config_.hart_id : 1;
  return true;
}

// --- interrupts and traps -------------------------------------------------------------------------------------------

bool CsrTable::read_interrupts(Privileged& hart, unsigned number, Value& value) {
  switch (number) {
    case csr::kSie:
      value = hart.csr_.mie & hart.csr_.mideleg;
      break;
    case csr::kSip:
      value = hart.mip() & hart.csr_.mideleg;
      break;
    case csr::kMvip:
      value = hart.soft_mip_ & hart.soft_writable_mip();
      break;
    default:
      value = hart.mip();
  }
  return true;
}

bool CsrTable::write_interrupts(Privileged& hart, unsigned number, Value value) {
  Value mask = irq::kSupervisor | irq::kMachine;
  Value* target = &hart.csr_.mie;
  switch (number) {
    case csr::kMie:
      break;
    case csr::kSie:
      mask &= hart.csr_.mideleg;
      break;
    case csr::kMideleg:
      target = &hart.csr_.mideleg;
      mask = irq::kSupervisor;
      break;
    case csr::kSip:
      target = &hart.soft_mip_;
      mask = irq::bit(irq::kSsi) & hart.csr_.mideleg;
      break;
    default:  // mip, mvip
      target = &hart.soft_mip_;
      mask = hart.soft_writable_mip();
  }
  *target = (*target & ~mask) | (value & mask);
  hart.update_interrupts();
  return true;
}

bool CsrTable::write_vector(Privileged& hart, unsigned number, Value value) {
  if (value & 2) return true;  // no such mode: the register keeps its value
  (number == csr::kMtvec ? hart.csr_.mtvec : hart.csr_.stvec) = value;
  return true;
}

namespace {
/// The reserved value of CBIE keeps what was there.
std::uint64_t legal_envcfg(std::uint64_t value, std::uint64_t before) {
  return (value & kEnvcfgCbie) == kEnvcfgCbieReserved ? (value & ~kEnvcfgCbie) | (before & kEnvcfgCbie) : value;
}
}  // namespace

bool CsrTable::write_senvcfg(Privileged& hart, unsigned, Value value) {
  hart.csr_.senvcfg = legal_envcfg(value, hart.csr_.senvcfg) & kEnvcfg;
  return true;
}

bool CsrTable::write_menvcfg(Privileged& hart, unsigned, Value value) {
  value = legal_envcfg(value, hart.csr_.menvcfg);
  const Value mask = kEnvcfg | (hart.config_.sstc ? kMenvcfgStce : 0) | (hart.config_.svpbmt ? kMenvcfgPbmte : 0);
  if ((value ^ hart.csr_.menvcfg) & mask & kMenvcfgPbmte) hart.drop_translations();
  hart.csr_.menvcfg = value & mask;
  hart.update_interrupts();
  return true;
}

bool CsrTable::write_stimecmp(Privileged& hart, unsigned, Value value) {
  hart.csr_.stimecmp = value;
  hart.set_mip(irq::kSti, hart.bus_.time() >= value);
  hart.bus_.set_stimecmp(value);
  return true;
}

// --- translation and protection -------------------------------------------------------------------------------------

bool CsrTable::write_satp(Privileged& hart, unsigned, Value value) {
  const Value mode = value >> 60;
  if (mode != 0 && mode != 8) return true;  // no such mode: the whole write is ignored
  if (value != hart.csr_.satp) ++hart.epoch_;
  hart.csr_.satp = value;
  return true;
}

bool CsrTable::read_pmp(Privileged& hart, unsigned number, Value& value) {
  value =
      number >= csr::kPmpaddr0 ? hart.pmp_.address(number - csr::kPmpaddr0) : hart.pmp_.config(number - csr::kPmpcfg0);
  return true;
}

bool CsrTable::write_pmp(Privileged& hart, unsigned number, Value value) {
  const bool changed = number >= csr::kPmpaddr0 ? hart.pmp_.set_address(number - csr::kPmpaddr0, value)
                                                : hart.pmp_.set_config(number - csr::kPmpcfg0, value);
  if (changed) hart.drop_translations();
  return true;
}

// --- counters -------------------------------------------------------------------------------------------------------

bool CsrTable::read_counter(Privileged& hart, unsigned number, Value& value) {
  switch (number) {
    case csr::kCycle:
    case csr::kMcycle:
      value = hart.mcycle();
      break;
    case csr::kTime:
      value = hart.bus_.time();
      break;
    default:
      value = hart.minstret();
  }
  return true;
}

bool CsrTable::write_counter(Privileged& hart, unsigned number, Value value) {
  if (number == csr::kMcycle) hart.write_mcycle(value);
  if (number == csr::kMinstret) hart.write_minstret(value);
  if (number == csr::kMcountinhibit) hart.write_mcountinhibit(value);
  return true;
}

void Privileged::write_mcycle(std::uint64_t value) {
  cycle_base_ = csr_.mcountinhibit & kInhibitCycle ? value : value - cycle_now();
}

void Privileged::write_minstret(std::uint64_t value) {
  // The next instruction must read the value written, although this instruction has retired by then.
  instret_base_ = csr_.mcountinhibit & kInhibitInstret ? value : value - (state_.instret + executing_);
}

void Privileged::write_mcountinhibit(std::uint64_t value) {
  // The write takes effect after this instruction, so this instruction counts by the old setting.
  const std::uint64_t cycle = mcycle();
  const bool instret_stopped = csr_.mcountinhibit & kInhibitInstret;
  const std::uint64_t instret = minstret() + (instret_stopped ? 0 : executing_);
  csr_.mcountinhibit = value & (kInhibitCycle | kInhibitInstret);
  write_mcycle(cycle);
  write_minstret(instret);
}

// --- AIA ------------------------------------------------------------------------------------------------------------

/// Reads or writes mireg (file 0) or sireg (file 1): the register that miselect or siselect names.
bool Privileged::indirect_register(unsigned file, std::uint64_t& value, bool write) {
  constexpr std::uint64_t kIprioFirst = 0x30, kIprioLast = 0x3f, kImsicFirst = 0x70, kImsicLast = 0xff;
  constexpr std::uint64_t kEidelivery = 0x70, kEithreshold = 0x72, kArrays = 0x80;
  const std::uint64_t select = file == 0 ? csr_.miselect : csr_.siselect;
  const bool odd = select & 1;  // RV64 has no odd registers in the arrays
  if (select >= kIprioFirst && select <= kIprioLast) {
    if (!write) value = 0;
    return !odd;
  }
  if (select < kImsicFirst || select > kImsicLast || (select >= kArrays && odd)) return false;
  if (select < kArrays && select != kEidelivery && select != kEithreshold) {
    std::uint64_t unused;
    if (!bus_.imsic_read(file, kEidelivery, unused)) return false;
    if (!write) value = 0;
    return true;
  }
  return write ? bus_.imsic_write(file, select, value) : bus_.imsic_read(file, select, value);
}

bool CsrTable::read_aia(Privileged& hart, unsigned number, Value& value) {
  switch (number) {
    case csr::kMtopi:
    case csr::kStopi:
      value = top_interrupt(hart.highest_interrupt(number == csr::kMtopi));
      return true;
    case csr::kMireg:
    case csr::kSireg:
      return hart.indirect_register(number == csr::kSireg, value, false);
    default:
      return hart.bus_.imsic_top(number == csr::kStopei, value);
  }
}

bool CsrTable::write_aia(Privileged& hart, unsigned number, Value value) {
  switch (number) {
    case csr::kMiselect:
      hart.csr_.miselect = value & 0xff;
      return true;
    case csr::kSiselect:
      hart.csr_.siselect = value & 0xff;
      return true;
    case csr::kMireg:
    case csr::kSireg:
      return hart.indirect_register(number == csr::kSireg, value, true);
    default: {  // mtopei, stopei: value is what the read half saw
      const Value identity = value >> 16;
      return identity == 0 || hart.bus_.imsic_claim(number == csr::kStopei, identity);
    }
  }
}

}  // namespace sluice::riscv
