// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/irq/aplic.h"
#include "models/irq/clint.h"
#include "models/irq/clint_regs.h"
#include "models/irq/finisher.h"
#include "models/irq/finisher_regs.h"
#include "models/irq/imsic.h"
#include "models/irq/imsic_regs.h"
#include "models/irq/plic.h"
#include "models/irq/plic_regs.h"
#include "models/uart/uart.h"
#include "models/uart/uart_regs.h"
#include "tests/unit/all_registers.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using test::all_registers;
using test::write;

TEST_CASE("after a reset the interrupt controllers are as after construction", "[reset]") {
  irq::Clint clint("clint", {}, 2);
  irq::Plic plic("plic", {}, 2);
  irq::Imsic imsic("imsic", {}, 2);
  irq::Aplic aplic("aplic", {}, irq::Aplic::Map{0x2400'0000, 0x2800'0000, 2});
  const std::string fresh = all_registers();

  test::write_everywhere(~std::uint64_t{0});
  for (const auto level : {irq::Imsic::kMachine, irq::Imsic::kSupervisor}) {
    irq::ImsicFile& file = imsic.file(1, level);
    file.write(IMSIC_EIDELIVERY, 1);
    file.write(IMSIC_EIE0, ~std::uint64_t{0});
    file.write(IMSIC_EITHRESHOLD, 40);
    file.set_pending(5);
    CHECK(file.line.level());
  }
  write(plic.registers(), PLIC_THRESHOLD(0), 0);
  plic.set_source(3, true);
  write(clint.registers(), CLINT_MTIMECMP(1), std::uint64_t{0}, 8);
  CHECK(plic.machine(0).level());
  CHECK(clint.software(0).level());
  CHECK(clint.timer(1).level());
  CHECK(all_registers() != fresh);

  plic.set_source(3, false);
  clint.reset();
  plic.reset();
  aplic.reset();
  imsic.reset();
  CHECK(all_registers() == fresh);
  for (unsigned hart = 0; hart < 2; ++hart) {
    CHECK_FALSE(plic.machine(hart).level());
    CHECK_FALSE(plic.supervisor(hart).level());
    CHECK_FALSE(clint.software(hart).level());
    CHECK_FALSE(clint.timer(hart).level());
    CHECK_FALSE(imsic.file(hart, irq::Imsic::kMachine).line.level());
    CHECK_FALSE(imsic.file(hart, irq::Imsic::kSupervisor).line.level());
  }
}

TEST_CASE("a wire that is high at a reset is pending behind it", "[reset]") {
  irq::Plic plic("plic", {}, 1);
  plic.set_source(7, true);
  plic.reset();
  CHECK(test::read(plic.registers(), PLIC_PENDING(0)) == 1u << 7);
}

TEST_CASE("after a reset the UART and the finisher are as after construction", "[reset]") {
  uart::Uart uart("uart", {});
  irq::Finisher finisher("finisher");
  const std::string fresh = all_registers();
  const auto put = [&uart](unsigned offset, std::uint8_t value) { uart.write(offset, &value, 1); };
  put(UART_FCR, UART_FCR_FIFO_ENABLE);
  put(UART_IER, UART_IER_ERBFI);
  put(UART_SCR, 0x5a);
  put(UART_LCR, UART_LCR_DLAB | UART_LCR_WLS);
  put(UART_DLL, 26);
  put(UART_LCR, UART_LCR_WLS);
  uart.input("ab");
  write(finisher.registers(), FINISHER_CONTROL, FINISHER_RESET);
  CHECK(uart.interrupt.level());
  CHECK(finisher.verdict());
  CHECK(all_registers() != fresh);

  uart.reset();
  finisher.reset();
  CHECK(all_registers() == fresh);
  CHECK_FALSE(uart.interrupt.level());
  CHECK_FALSE(finisher.verdict());
}
