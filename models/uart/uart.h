// SPDX-License-Identifier: Apache-2.0
#pragma once
/// 16550A UART.

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/fabric/line.h"
#include "models/base/measure/statistics.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/registers/register_view.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/uart/uart_regs.h"

namespace sluice::uart {

using namespace base::literals;

/// The other end of the line. It may call Uart::input() at any time, at base::now().
class BackEnd {
 public:
  virtual ~BackEnd() = default;
  /// Called when a character has left the UART, at base::now().
  virtual void character(char) = 0;
};

/// Registers: uart_regs.h. The modem is always ready; parity, framing and break errors do not occur; the other end
/// holds its characters back while the receive FIFO is full, so overruns occur only in loop-back.
class Uart : public base::Model, public base::Resettable {
 public:
  struct Parameters {
    /// Clock of the baud-rate generator: a character takes 16 x divisor x its bits / clock. 0: characters take no time.
    base::Frequency clock = 0_Hz;
    static void describe(base::Schema<Parameters>&);
  };

  Uart(sc_core::sc_module_name, const Parameters&);

  base::RegisterSocket socket;
  base::Line interrupt;

  /// Attaches a back end, which must outlive the simulation. Every back end gets every character.
  void attach(BackEnd& back_end) { back_ends_.push_back(&back_end); }
  /// Sends the back ends a character from another console that shares the line, not from the UART's registers.
  void show(char c);
  /// The last line with something in it that went to the back ends, or as much of it as there is: printable ASCII
  /// characters, at most 200.
  const std::string& last_line() const { return line_shown_.empty() ? last_line_ : line_shown_; }
  /// Sends the UART any number of characters from the other end, in order.
  void input(std::string_view text);

  /// Resets the registers. A character that is being shifted in or out still arrives.
  void reset() override;

  base::Answer read(std::uint64_t offset, void* data, unsigned size);
  base::Answer write(std::uint64_t offset, const void* data, unsigned size);

 private:
  void register_statistics(base::StatisticsGroup&) override;
  base::Answer check(const char* access, std::uint64_t offset, unsigned size);
  std::uint8_t peek(unsigned offset) const;  ///< what a read returns, without its side effects
  std::uint8_t read_register(unsigned offset);
  void write_register(unsigned offset, std::uint8_t value);

  bool fifos_on() const { return (fcr_ & UART_FCR_FIFO_ENABLE) != 0; }
  bool divisor_latch() const { return (lcr_ & UART_LCR_DLAB) != 0; }
  bool looped() const { return (mcr_ & UART_MCR_LOOP) != 0; }
  std::size_t capacity() const;
  std::size_t trigger() const;
  base::Time character_time() const;

  void write_thr(std::uint8_t value);
  void write_fifo_control(std::uint8_t value);
  void write_interrupt_enable(std::uint8_t value);
  void transmit();
  void sent();
  void deliver(char c);
  void keep(char c);
  std::uint8_t next_received() const { return receive_.empty() ? 0 : receive_.front(); }
  void take_received();
  std::uint8_t line_status() const;
  void look(const base::RegisterView::Visit&) const;
  void receive(std::uint8_t value);
  void accept_input();
  void watch_receiver();
  std::uint8_t modem_inputs() const;
  void write_modem_control(std::uint8_t value);
  unsigned interrupt_id() const;
  void update();

  Parameters parameters_;
  std::vector<BackEnd*> back_ends_;
  // Registers that keep what software writes. IIR, LSR and the lines of MSR are computed from the members below.
  std::uint8_t ier_ = 0, fcr_ = 0, lcr_ = 0, mcr_ = 0, scr_ = 0;
  std::uint16_t divisor_ = 1;          ///< DLM and DLL
  std::uint8_t msr_changes_ = 0;       ///< DCTS, DDSR, TERI, DDCD of MSR
  std::deque<std::uint8_t> transmit_;  ///< THR and its FIFO: written and not yet in the shift register
  std::uint8_t shift_ = 0;
  bool shifting_ = false;
  bool thr_interrupt_ = false;
  std::deque<std::uint8_t> receive_;  ///< RBR and its FIFO
  std::deque<char> line_;             ///< characters on their way from the other end
  bool arriving_ = false;             ///< a calendar entry for the first of line_ exists
  bool overrun_ = false;              ///< OE of LSR
  bool timeout_ = false;
  base::Calendar::Handle silence_;

  std::uint64_t characters_sent_ = 0, characters_received_ = 0, overruns_ = 0, refused_ = 0;
  base::RegisterView view_;
  std::string line_shown_, last_line_;  ///< the present one, and the one before it that was not empty
  bool returned_ = false;               ///< the next character of a line begins it anew
  bool in_escape_ = false;              ///< in a terminal's control sequence
};

}  // namespace sluice::uart
