/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/host_rings.c: firmware of a second cluster of the host. It waits until the first cluster has set
 * PCIe up, then asks the system behind an endpoint controller questions, through the BAR that shows its memory and
 * through its own memory, by doorbells and by messages, and counts the cycles until it is answered. */
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"
#include "firmware/kernel/statistics.h"
#include "models/accel/endpoint_controller/endpoint_controller_regs.h"
#include "models/pcie/pcie_regs.h"
#include "tests/board/guests/ring_protocol.h"

#define ROUNDS 20u /* between two reports */
#define PAUSE_MICROSECONDS 5u
#define RESET_AT 30u /* rounds after which the card resets itself, once */
#define BUSES 8u

static struct { uint64_t rounds, doorbell_cycles, messages, message_cycles, wrong; } counters;
static volatile uint64_t words[2] __attribute__((aligned(16)));
static volatile uint32_t answered;
static struct pcie_function function;

static volatile uint32_t* config(unsigned bus, unsigned reg) {
  return (volatile uint32_t*)(uintptr_t)(board.ecam + ((uint64_t)bus << 20) + reg);
}

/* The function, once it has its addresses and its memory space is on. */
static bool find(void) {
  for (unsigned bus = 1; bus < BUSES; bus++) {
    if (*config(bus, PCIE_VENDOR_ID) != (EPC_VENDOR_ID | EPC_DEVICE_ID << 16)) continue;
    if ((*config(bus, PCIE_COMMAND) & PCIE_COMMAND_MEMORY) == 0) return false;
    function.bus = (uint8_t)bus;
    for (unsigned n = 0; n < 6; n++) function.bar[n] = *config(bus, PCIE_BAR(n)) & ~15u;
    function.bar[EPC_BAR_WINDOW] |= (uint64_t)*config(bus, PCIE_BAR(EPC_BAR_WINDOW + 1)) << 32;
    for (unsigned at = *config(bus, PCIE_CAPABILITIES_POINTER) & 0xff; at != 0; at = *config(bus, at) >> 8 & 0xff)
      if ((*config(bus, at) & 0xff) == PCIE_CAPABILITY_ID_MSIX) function.msix = (uint8_t)at;
    return true;
  }
  return false;
}

static void on_answer(void* unused) {
  (void)unused;
  answered = 1;
}

static volatile uint64_t* reg(uint64_t offset) {
  return (volatile uint64_t*)(uintptr_t)(function.bar[EPC_BAR_REGISTERS] + offset);
}

static void pause_for(unsigned microseconds) {
  for (uint64_t until = read_time() + board.timebase_frequency * microseconds / 1000000; read_time() < until;)
    cpu_pause();
}

static void wait_for_card(void) {
  while (*reg(EPC_HOST_SCRATCHPAD + 8 * RING_PAD_READY) != RING_READY) cpu_pause();
}

int application_main(void) {
  while (!find()) pause_for(PAUSE_MICROSECONDS);
  uint64_t address;
  uint32_t data;
  interrupt_setup_hart(0);
  interrupt_connect(0, 0, on_answer, 0, &address, &data);
  for (unsigned vector = 0; vector < 3; vector++) pcie_msix_route(&function, vector, address, data);
  pcie_msix_enable(&function);
  wait_for_card();
  uint32_t identity = (uint32_t)*reg(EPC_HOST_SCRATCHPAD + 8 * RING_PAD_IDENTITY);
  *reg(EPC_HOST_SCRATCHPAD + 8 * RING_PAD_HOST) = (uint64_t)(uintptr_t)words;
  volatile uint64_t* card = (volatile uint64_t*)(uintptr_t)function.bar[EPC_BAR_WINDOW];
  volatile uint32_t* messages = (volatile uint32_t*)(uintptr_t)function.bar[EPC_BAR_MESSAGES];
  statistics_add("rounds doorbell_cycles messages message_cycles wrong", &counters.rounds);
  for (unsigned n = 1;; n++) {
    bool message = identity != 0 && n % 2 == 0;
    words[0] = 1000 + n;
    answered = 0;
    card[RING_WORD_QUESTION] = 2000 + n;
    uint64_t start = csr_read(cycle);
    if (message)
      *messages = identity;
    else
      *reg(EPC_HOST_RING) = 1ul << (n % RING_RESET);
    while (answered == 0) interrupt_idle(&answered);
    uint64_t cycles = csr_read(cycle) - start;
    *reg(EPC_HOST_PENDING) = message ? 2 : 1;
    if (words[1] != 1001 + n || card[RING_WORD_ANSWER] != 2001 + n) counters.wrong++;
    /* The run may end at any time: what belongs together is counted together. */
    *(message ? &counters.message_cycles : &counters.doorbell_cycles) += cycles;
    counters.messages += message;
    counters.rounds++;
    if (n % ROUNDS == 0) print("host: %u answers, %lu wrong\n", n, (unsigned long)counters.wrong);
    pause_for(PAUSE_MICROSECONDS);
    if (n != RESET_AT) continue;
    *reg(EPC_HOST_SCRATCHPAD + 8 * RING_PAD_READY) = 0;
    *reg(EPC_HOST_RING) = 1ul << RING_RESET;
    wait_for_card();
  }
}
