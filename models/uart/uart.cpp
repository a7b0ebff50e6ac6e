// SPDX-License-Identifier: Apache-2.0
#include "models/uart/uart.h"

#include <cctype>
#include <cstring>
#include <utility>

#include "models/base/measure/mistakes.h"

namespace sluice::uart {

void Uart::Parameters::describe(base::Schema<Parameters>& s) {
  s.summary("16550A UART");
  s.add("clock", &Parameters::clock, "clock of the baud-rate generator; 0 Hz: characters take no time")
      .range(0_Hz, 1_GHz)
      .setting();
}

Uart::Uart(sc_core::sc_module_name name, const Parameters& parameters)
    : Model(name),
      socket(
          "socket", [this](std::uint64_t offset, void* data, unsigned size) { return read(offset, data, size); },
          [this](std::uint64_t offset, const void* data, unsigned size) { return write(offset, data, size); }),
      parameters_(parameters),
      view_(path(), [this](const base::RegisterView::Visit& visit) { look(visit); }) {}

void Uart::register_statistics(base::StatisticsGroup& group) {
  group.counter("characters_sent", "characters", "characters that left the UART", characters_sent_);
  group.counter("characters_received", "characters", "characters put in the receive FIFO", characters_received_);
  group.counter("overruns", "characters", "characters lost because a FIFO was full", overruns_);
  group.counter("refused", "accesses",
                "register accesses of a width other than 8, 16 and 32 bits, misaligned, or not of a register",
                refused_);
}

// --------------------------------------------------------------------------------------------------------- registers

void Uart::reset() {
  ier_ = fcr_ = lcr_ = mcr_ = scr_ = 0;
  divisor_ = 1;
  msr_changes_ = 0;
  transmit_.clear();
  receive_.clear();
  thr_interrupt_ = overrun_ = timeout_ = false;
  base::calendar().cancel(silence_);
  accept_input();
  update();
}

base::Answer Uart::check(const char* access, std::uint64_t offset, unsigned size) {
  const base::Answer answer = base::check_access(offset, size, UART_SIZE, 1 | 2 | 4);
  if (answer == base::Answer::ok) return answer;
  ++refused_;
  base::report_refused(path(), answer, access, offset, size);
  return answer;
}

base::Answer Uart::read(std::uint64_t offset, void* data, unsigned size) {
  const base::Answer answer = check("read", offset, size);
  if (answer != base::Answer::ok) return answer;
  const std::uint32_t value = read_register(static_cast<unsigned>(offset));
  std::memcpy(data, &value, size);
  return answer;
}

base::Answer Uart::write(std::uint64_t offset, const void* data, unsigned size) {
  const base::Answer answer = check("write", offset, size);
  if (answer == base::Answer::ok) {
    write_register(static_cast<unsigned>(offset), *static_cast<const std::uint8_t*>(data));
    update();
  }
  return answer;
}

std::uint8_t Uart::peek(unsigned offset) const {
  switch (offset) {
    case UART_RBR:
      return divisor_latch() ? static_cast<std::uint8_t>(divisor_) : next_received();
    case UART_IER:
      return divisor_latch() ? static_cast<std::uint8_t>(divisor_ >> 8) : ier_;
    case UART_IIR:
      return static_cast<std::uint8_t>(interrupt_id() | (fifos_on() ? UART_IIR_FIFOS : 0));
    case UART_LCR:
      return lcr_;
    case UART_MCR:
      return mcr_;
    case UART_LSR:
      return line_status();
    case UART_MSR:
      return static_cast<std::uint8_t>(modem_inputs() | msr_changes_);
    case UART_SCR:
    default:
      return scr_;
  }
}

std::uint8_t Uart::read_register(unsigned offset) {
  const std::uint8_t value = peek(offset);
  switch (offset) {
    case UART_RBR:
      if (!divisor_latch()) take_received();
      break;
    case UART_IIR:
      if (interrupt_id() == UART_IIR_THR_EMPTY) thr_interrupt_ = false;
      break;
    case UART_LSR:
      overrun_ = false;
      break;
    case UART_MSR:
      msr_changes_ = 0;
      break;
    default:
      return value;
  }
  update();
  return value;
}

/// Also shows the divisor, which software can see only in place of other registers (LCR.DLAB).
void Uart::look(const base::RegisterView::Visit& visit) const {
  const auto show = [&visit](const char* name, unsigned offset, unsigned value) { visit({name, offset, 1, value}); };
  show("rbr", UART_RBR, next_received());
  show("dll", UART_DLL, divisor_ & 0xffu);
  show("ier", UART_IER, ier_);
  show("dlm", UART_DLM, divisor_ >> 8);
  show("iir", UART_IIR, peek(UART_IIR));
  show("fcr", UART_FCR, fcr_);
  show("lcr", UART_LCR, lcr_);
  show("mcr", UART_MCR, mcr_);
  show("lsr", UART_LSR, line_status());
  show("msr", UART_MSR, peek(UART_MSR));
  show("scr", UART_SCR, scr_);
}

void Uart::write_register(unsigned offset, std::uint8_t value) {
  switch (offset) {
    case UART_THR:
      if (!divisor_latch()) return write_thr(value);
      divisor_ = static_cast<std::uint16_t>((divisor_ & 0xff00) | value);
      break;
    case UART_IER:
      if (!divisor_latch()) return write_interrupt_enable(value);
      divisor_ = static_cast<std::uint16_t>((divisor_ & 0x00ff) | value << 8);
      break;
    case UART_FCR:
      write_fifo_control(value);
      break;
    case UART_LCR:
      lcr_ = value;
      break;
    case UART_MCR:
      write_modem_control(value);
      break;
    case UART_SCR:
      scr_ = value;
      break;
    default:
      break;  // the status registers ignore writes
  }
}

void Uart::write_interrupt_enable(std::uint8_t value) {
  const bool newly = (value & ~ier_ & UART_IER_ETBEI) != 0;
  ier_ = value & UART_IER_ALL;
  if (newly && transmit_.empty()) thr_interrupt_ = true;
}

void Uart::write_fifo_control(std::uint8_t value) {
  const bool toggled = ((value ^ fcr_) & UART_FCR_FIFO_ENABLE) != 0;
  if ((value & UART_FCR_FIFO_ENABLE) == 0) value = 0;  // the other bits count only together with FIFO_ENABLE
  if (toggled || (value & UART_FCR_RCVR_RESET) != 0) receive_.clear();
  if (toggled || (value & UART_FCR_XMIT_RESET) != 0) {
    if (!transmit_.empty()) thr_interrupt_ = true;
    transmit_.clear();
  }
  fcr_ = value & static_cast<std::uint8_t>(~(UART_FCR_RCVR_RESET | UART_FCR_XMIT_RESET));
  accept_input();
  watch_receiver();
}

std::size_t Uart::capacity() const { return fifos_on() ? UART_FIFO : 1; }

std::size_t Uart::trigger() const {
  constexpr std::size_t levels[] = {1, 4, 8, 14};
  return fifos_on() ? levels[fcr_ >> UART_FCR_RCVR_TRIGGER_SHIFT] : 1;
}

base::Time Uart::character_time() const {
  const std::uint64_t hertz = parameters_.clock.hertz();
  if (hertz == 0) return base::Time();
  const unsigned data_bits = 5 + (lcr_ & UART_LCR_WLS);
  unsigned half_bits = 2 * (1 + data_bits) + 2;  // start, data, one stop
  if ((lcr_ & UART_LCR_PEN) != 0) half_bits += 2;
  if ((lcr_ & UART_LCR_STB) != 0) half_bits += data_bits == 5 ? 1 : 2;
  const std::uint64_t clocks = 8ull * (divisor_ == 0 ? 1 : divisor_) * half_bits;
  return base::Clock(hertz).time_of(clocks);
}

// ------------------------------------------------------------------------------------------------------- transmitter

void Uart::write_thr(std::uint8_t value) {
  thr_interrupt_ = false;
  if (transmit_.size() >= capacity()) {
    ++overruns_;
    base::mistakes().report(path() + ": character written while the transmitter is full: it is lost");
    return;
  }
  transmit_.push_back(value);
  if (!shifting_) transmit();
}

void Uart::transmit() {
  const base::Time duration = character_time();
  while (!transmit_.empty() && !shifting_) {
    shift_ = transmit_.front();
    transmit_.pop_front();
    if (transmit_.empty()) thr_interrupt_ = true;
    if (duration == base::Time()) {
      deliver(static_cast<char>(shift_));
    } else {
      shifting_ = true;
      base::calendar().after(duration, key(), [this] { sent(); });
    }
  }
}

void Uart::sent() {
  shifting_ = false;
  deliver(static_cast<char>(shift_));
  transmit();
  update();
}

void Uart::deliver(char c) {
  ++characters_sent_;
  if (looped()) return receive(static_cast<std::uint8_t>(c));
  show(c);
}

/// For last_line(): as a terminal shows it, without its colours.
void Uart::keep(char c) {
  constexpr std::size_t kMostKept = 200;
  constexpr char kEscape = 27;
  if (c == kEscape) in_escape_ = true;
  if (in_escape_) {
    in_escape_ = std::isalpha(static_cast<unsigned char>(c)) == 0;
    return;
  }
  if (c == '\n' && !line_shown_.empty()) last_line_ = std::exchange(line_shown_, {});
  if (c >= ' ' && c <= '~' && std::exchange(returned_, false)) line_shown_.clear();
  if (c >= ' ' && c <= '~' && line_shown_.size() < kMostKept) line_shown_ += c;
  if (c == '\r' || c == '\n') returned_ = c == '\r';
}

void Uart::show(char c) {
  keep(c);
  for (BackEnd* back_end : back_ends_) back_end->character(c);
}

// ---------------------------------------------------------------------------------------------------------- receiver

void Uart::input(std::string_view text) {
  line_.insert(line_.end(), text.begin(), text.end());
  accept_input();
  update();
}

/// Lets the next characters of the line in, as far as there is room.
void Uart::accept_input() {
  if (arriving_ || looped()) return;
  const base::Time duration = character_time();
  while (!line_.empty() && receive_.size() < capacity()) {
    if (duration != base::Time()) {
      arriving_ = true;
      base::calendar().after(duration, key(), [this] {
        arriving_ = false;
        if (!line_.empty() && receive_.size() < capacity() && !looped()) {
          receive(static_cast<std::uint8_t>(line_.front()));
          line_.pop_front();
        }
        accept_input();
        update();
      });
      return;
    }
    receive(static_cast<std::uint8_t>(line_.front()));
    line_.pop_front();
  }
}

void Uart::receive(std::uint8_t value) {
  if (receive_.size() >= capacity()) {
    overrun_ = true;
    ++overruns_;
    return;
  }
  ++characters_received_;
  receive_.push_back(value);
  watch_receiver();
}

/// Starts the receive timeout: waiting characters below the trigger level interrupt when none has been received or read
/// for the time of four characters.
void Uart::watch_receiver() {
  base::calendar().cancel(silence_);
  timeout_ = false;
  if (receive_.empty() || !fifos_on()) return;
  const base::Time duration = character_time() * 4;
  if (duration == base::Time()) {
    timeout_ = true;
    return;
  }
  silence_ = base::calendar().after(duration, key(), [this] {
    timeout_ = true;
    update();
  });
}

void Uart::take_received() {
  if (receive_.empty()) return;
  receive_.pop_front();
  watch_receiver();
  accept_input();
}

std::uint8_t Uart::line_status() const {
  unsigned status = 0;
  if (!receive_.empty()) status |= UART_LSR_DR;
  if (overrun_) status |= UART_LSR_OE;
  if (transmit_.empty()) status |= UART_LSR_THRE;
  if (transmit_.empty() && !shifting_) status |= UART_LSR_TEMT;
  return static_cast<std::uint8_t>(status);
}

// ----------------------------------------------------------------------------------------------- modem and interrupts

std::uint8_t Uart::modem_inputs() const {
  if (!looped()) return UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD;
  unsigned inputs = 0;
  if ((mcr_ & UART_MCR_RTS) != 0) inputs |= UART_MSR_CTS;
  if ((mcr_ & UART_MCR_DTR) != 0) inputs |= UART_MSR_DSR;
  if ((mcr_ & UART_MCR_OUT1) != 0) inputs |= UART_MSR_RI;
  if ((mcr_ & UART_MCR_OUT2) != 0) inputs |= UART_MSR_DCD;
  return static_cast<std::uint8_t>(inputs);
}

void Uart::write_modem_control(std::uint8_t value) {
  const std::uint8_t before = modem_inputs();
  mcr_ = value & UART_MCR_ALL;
  const std::uint8_t after = modem_inputs();
  unsigned changed = (before ^ after) & (UART_MSR_CTS | UART_MSR_DSR | UART_MSR_DCD);
  changed |= before & ~after & UART_MSR_RI;
  msr_changes_ = static_cast<std::uint8_t>(msr_changes_ | changed >> UART_MSR_CHANGES_SHIFT);
  accept_input();
}

unsigned Uart::interrupt_id() const {
  if ((ier_ & UART_IER_ELSI) != 0 && overrun_) return UART_IIR_LINE_STATUS;
  if ((ier_ & UART_IER_ERBFI) != 0) {
    if (receive_.size() >= trigger()) return UART_IIR_RECEIVED;
    if (timeout_) return UART_IIR_TIMEOUT;
  }
  if ((ier_ & UART_IER_ETBEI) != 0 && thr_interrupt_) return UART_IIR_THR_EMPTY;
  if ((ier_ & UART_IER_EDSSI) != 0 && msr_changes_ != 0) return UART_IIR_MODEM_STATUS;
  return UART_IIR_NONE;
}

void Uart::update() { interrupt.set(interrupt_id() != UART_IIR_NONE); }

}  // namespace sluice::uart
