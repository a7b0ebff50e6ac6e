/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/sabotage.c: mistakes of a driver, each in a function of its own. test_sabotage.py writes the
 * numbers of those that a run shall make, in order, into sabotage_order, and knows what each is called in the list of
 * mistakes. The instruction to blame is on the line that says GUILTY. */
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/irq/aplic_regs.h"
#include "models/irq/finisher_regs.h"
#include "models/irq/imsic_regs.h"
#include "models/irq/plic_regs.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/pcie/pcie_regs.h"
#include "models/uart/uart_regs.h"
#include "tests/board/guests/sabotage_driver.h"

/* ----------------------------------------------------------------------------------------------------- instructions */

NAMED static void load_nowhere(void) { sabotage_load(0x10); }
NAMED static void store_beyond_memory(void) { sabotage_store(board.memory_base + board.memory_size); }
NAMED static void load_across_end(void) { sabotage_load(board.memory_base + board.memory_size - 4); }
NAMED static void misaligned_device(void) { sabotage_load_word(bar + 2); }
NAMED static void atomic_device(void) { sabotage_atomic_word(bar + DESC_CONTROL); }
NAMED static void misaligned_atomic(void) { sabotage_atomic((uintptr_t)frame + 4); }
NAMED static void jump_to_null(void) { sabotage_jump(0); }
NAMED static void jump_to_device(void) { sabotage_jump(board.uart); }
NAMED static void illegal_instruction(void) { sabotage_illegal(); }

NAMED static void forgotten_fence_i(void) {
  own_code[0] = 0x00008067; /* ret */
  __asm__ volatile("fence.i" : : : "memory");
  sabotage_jump((uintptr_t)own_code);
  *(volatile uint32_t*)own_code = 0x00008067;
  __asm__ volatile("fence" : : : "memory");
  sabotage_jump((uintptr_t)own_code);
}

/* -------------------------------------------------------------------------------------------------------- registers */

NAMED static void wrong_width(void) { (void)REG64(bar + DESC_REVISION); /* GUILTY */ }
NAMED static void no_register(void) { (void)REG32(bar + 0x7fff0); /* GUILTY */ }
NAMED static void read_only_register(void) { REG32(bar + DESC_REVISION) = 1; /* GUILTY */ }
NAMED static void hole_in_msix_bar(void) { (void)REG32(nic->bar[DESC_BAR_MSIX] + 0x4000); /* GUILTY */ }
NAMED static void max_frame_range(void) { REG32(bar + DESC_MAX_FRAME) = 20000; /* GUILTY */ }
NAMED static void buffer_range(void) { REG32(page + DESC_RX_BUFFER) = 1000; /* GUILTY */ }
NAMED static void moderation_range(void) { REG32(bar + DESC_VECTOR_MODERATION(1)) = 5000; /* GUILTY */ }
NAMED static void uart_width(void) { (void)REG64(board.uart); /* GUILTY */ }
NAMED static void clint_width(void) { (void)REG8(board.clint); /* GUILTY */ }
NAMED static void finisher_action(void) { REG32(board.finisher + FINISHER_CONTROL) = 0x1234; /* GUILTY */ }
NAMED static void config_width(void) { (void)REG64(config(nic, PCIE_VENDOR_ID)); /* GUILTY */ }

/* ------------------------------------------------------------------------------------------------ reads of all ones */

NAMED static void device_memory_off(void) {
  clear_command(nic, PCIE_COMMAND_MEMORY);
  (void)REG32(bar + DESC_REVISION); /* GUILTY */
  set_command(nic, PCIE_COMMAND_MEMORY);
}
NAMED static void bridge_memory_off(void) {
  clear_command(nic->above, PCIE_COMMAND_MEMORY);
  (void)REG32(bar + DESC_REVISION); /* GUILTY */
  set_command(nic->above, PCIE_COMMAND_MEMORY);
}
NAMED static void bar_outside_window(void) {
  uint64_t elsewhere = bar + (1ull << 32);
  REG32(config(nic, PCIE_BAR(DESC_BAR_REGISTERS + 1))) = (uint32_t)(elsewhere >> 32);
  (void)REG32(elsewhere + DESC_REVISION); /* GUILTY */
  REG32(config(nic, PCIE_BAR(DESC_BAR_REGISTERS + 1))) = (uint32_t)(bar >> 32);
}
NAMED static void bar_moved(void) {
  uint64_t there = bar + (1ull << 32);
  REG32(config(nic, PCIE_BAR(DESC_BAR_REGISTERS + 1))) = (uint32_t)(there >> 32);
  (void)REG32(bar + DESC_REVISION); /* GUILTY */
  REG32(config(nic, PCIE_BAR(DESC_BAR_REGISTERS + 1))) = (uint32_t)(bar >> 32);
}

/* ------------------------------------------------------------------------------------------------------------ rings */

NAMED static void base_is_cut(void) {
  REG32(page + DESC_RX_BASE_LOW) = (uint32_t)(uintptr_t)rx_ring + 0x40; /* GUILTY */
}
NAMED static void ring_length(void) { REG32(page + DESC_RX_LENGTH) = 7; /* GUILTY */ }
NAMED static void ring_without_length(void) { REG32(page + DESC_TX_CONTROL) = DESC_RING_ENABLE; /* GUILTY */ }
NAMED static void ring_changed_under_way(void) {
  start();
  REG32(page + DESC_RX_BASE_LOW) = 0; /* GUILTY */
}
NAMED static void doorbell_before_enable(void) { REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */ }
NAMED static void tail_beyond_ring(void) {
  start();
  REG32(page + DESC_RX_TAIL) = RING; /* GUILTY */
}
NAMED static void tail_overtakes(void) {
  set_up_rx((uintptr_t)rx_ring);
  REG32(page + DESC_RX_TAIL) = 40;
  REG32(page + DESC_RX_TAIL) = 39; /* GUILTY */
}
NAMED static void cause_without_vector(void) { REG32(page + DESC_RX_INTERRUPT) = DESC_CAUSE_ENABLE | 200; /* GUILTY */ }

/* ------------------------------------------------------------------------------------------------------ descriptors */

NAMED static void empty_descriptor(void) {
  start();
  describe(0, (uintptr_t)frame, command_of(0));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void frame_too_long(void) {
  start();
  describe(0, (uintptr_t)frame, command_of(2000));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void frame_too_short(void) {
  start();
  describe(0, (uintptr_t)frame, command_of(13));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void status_without_end(void) {
  start();
  describe(0, (uintptr_t)frame, command_of(FRAME) & ~DESC_TX_EOP);
  describe(1, (uintptr_t)frame, command_of(FRAME));
  REG32(page + DESC_TX_TAIL) = 2; /* GUILTY */
}
NAMED static void unknown_descriptor(void) {
  start();
  describe(0, (uintptr_t)frame, command_of(FRAME) | 3);
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void too_many_pieces(void) {
  start();
  for (unsigned n = 0; n < 9; n++)
    describe(n, (uintptr_t)frame, 16ull << DESC_TX_SIZE_SHIFT | (n == 8 ? DESC_TX_EOP : 0));
  REG32(page + DESC_TX_TAIL) = 9; /* GUILTY */
}
NAMED static void checksum_of_nothing(void) {
  start();
  for (unsigned i = 0; i < FRAME; i++) frame[i] = 0xff;
  describe(0, (uintptr_t)frame,
           command_of(FRAME) | DESC_TX_UDP_CHECKSUM | 7ull << DESC_TX_MAC_LENGTH_SHIFT |
               5ull << DESC_TX_IP_LENGTH_SHIFT | 2ull << DESC_TX_L4_LENGTH_SHIFT);
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}

/* -------------------------------------------------------------------------------------------------------------- DMA */

NAMED static void tx_ring_nowhere(void) {
  start();
  REG32(page + DESC_TX_CONTROL) = 0;
  while ((REG32(page + DESC_TX_CONTROL) & DESC_RING_ACTIVE) != 0) cpu_pause();
  set_up_tx(NOWHERE);
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void rx_ring_nowhere(void) {
  set_up_rx(NOWHERE);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
}
NAMED static void tx_buffer_nowhere(void) {
  start();
  describe(0, NOWHERE, command_of(LONG_FRAME));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void rx_buffer_nowhere(void) {
  expect_frame(NOWHERE, LONG_FRAME);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
  REG32(page + DESC_TX_TAIL) = 1;
}
NAMED static void buffer_in_code(void) {
  expect_frame((uintptr_t)sabotage_victim, LONG_FRAME);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
  REG32(page + DESC_TX_TAIL) = 1;
}
NAMED static void buffer_in_loaded_code(void) {
  own_code[0] = 0x00008067; /* ret */
  __asm__ volatile("fence.i" : : : "memory");
  sabotage_jump((uintptr_t)own_code);
  expect_frame((uintptr_t)own_code, FRAME);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
  REG32(page + DESC_TX_TAIL) = 1;
}
NAMED static void buffer_in_device(void) {
  expect_frame(board.clint, LONG_FRAME);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
  REG32(page + DESC_TX_TAIL) = 1;
}
NAMED static void data_in_device(void) {
  start();
  describe(0, board.uart, command_of(FRAME));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void buffer_in_configuration_space(void) {
  expect_frame(config(nic->above, PCIE_PRIMARY_BUS), FRAME);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
  REG32(page + DESC_TX_TAIL) = 1;
}
NAMED static void buffer_in_empty_window(void) {
  expect_frame(board.mmio32.cpu + board.mmio32.size / 2, LONG_FRAME);
  REG32(page + DESC_RX_TAIL) = 1; /* GUILTY */
  REG32(page + DESC_TX_TAIL) = 1;
}
NAMED static void buffer_in_bar(void) {
  start();
  describe(0, bar, command_of(FRAME));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
}
NAMED static void device_bus_master_off(void) {
  start();
  clear_command(nic, PCIE_COMMAND_BUS_MASTER);
  describe(0, (uintptr_t)frame, command_of(FRAME));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
  settle();
  set_command(nic, PCIE_COMMAND_BUS_MASTER);
}
NAMED static void bridge_bus_master_off(void) {
  start();
  clear_command(nic->above, PCIE_COMMAND_BUS_MASTER);
  describe(0, (uintptr_t)frame, command_of(FRAME));
  REG32(page + DESC_TX_TAIL) = 1; /* GUILTY */
  settle();
  set_command(nic->above, PCIE_COMMAND_BUS_MASTER);
}

/* ------------------------------------------------------------------------------------------------------- interrupts */

static void enable_msix(void) { pcie_msix_enable(nic); }
static void disable_msix(void) { REG16(config(nic, nic->msix + PCIE_MSIX_CONTROL)) = 0; }
static void fire(unsigned vector) {
  REG32(bar + DESC_VECTOR_CONTROL(vector)) = DESC_VECTOR_ENABLE | DESC_VECTOR_TRIGGER;
}

/* Sets up a message except for the write that unmasks it, which is to blame. */
static void prepare_message(uintptr_t address, uint32_t data) {
  enable_msix();
  entry(0)->address_low = (uint32_t)address;
  entry(0)->address_high = 0;
  entry(0)->data = data;
}
static void send_message(void) {
  fire(0);
  settle();
  disable_msix();
}
NAMED static void message_to_nowhere(void) {
  prepare_message(0x50000, 1);
  entry(0)->control = 0; /* GUILTY */
  send_message();
}
/* A message that reached the finisher would end the run as passed. */
NAMED static void message_to_finisher(void) {
  prepare_message(board.finisher, 0x5555);
  entry(0)->control = 0; /* GUILTY */
  send_message();
}
NAMED static void message_to_memory(void) {
  prepare_message((uintptr_t)rx_ring, 1);
  entry(0)->control = 0; /* GUILTY */
  send_message();
}
NAMED static void message_without_identity(void) {
  prepare_message(board.imsic, 4000);
  entry(0)->control = 0; /* GUILTY */
  send_message();
}
NAMED static void message_to_configuration_space(void) {
  prepare_message(board.ecam, 1);
  entry(0)->control = 0; /* GUILTY */
  send_message();
}
NAMED static void message_misaligned(void) {
  entry(0)->address_high = 0;
  entry(0)->address_low = (uint32_t)board.imsic + 2; /* GUILTY */
}
NAMED static void vector_never_set_up(void) {
  enable_msix();
  REG32(bar + DESC_VECTOR_CONTROL(1)) = DESC_VECTOR_ENABLE | DESC_VECTOR_TRIGGER; /* GUILTY */
  settle();
  disable_msix();
}
NAMED static void vector_never_unmasked(void) {
  enable_msix();
  entry(1)->address_high = 0;
  entry(1)->data = 1;
  entry(1)->address_low = (uint32_t)board.imsic; /* GUILTY */
  fire(1);
  fire(1);
  settle();
  disable_msix();
}
NAMED static void message_without_bus_master(void) {
  enable_msix();
  entry(0)->address_low = (uint32_t)board.imsic;
  entry(0)->address_high = 0;
  entry(0)->data = 1;
  entry(0)->control = 0; /* GUILTY */
  clear_command(nic, PCIE_COMMAND_BUS_MASTER);
  fire(0);
  settle();
  set_command(nic, PCIE_COMMAND_BUS_MASTER);
  disable_msix();
}
NAMED static void table_width(void) { REG16(&entry(0)->data) = 1; /* GUILTY */ }
NAMED static void pending_bits_written(void) { REG64(nic->bar[DESC_BAR_MSIX] + DESC_MSIX_PBA_OFFSET) = 1; /* GUILTY */ }
NAMED static void imsic_page(void) { REG32(board.imsic + 0x10) = 1; /* GUILTY */ }
NAMED static void imsic_width(void) { REG16(board.imsic) = 1; /* GUILTY */ }
NAMED static void wired_message_without_identity(void) {
  REG32(board.aplic + APLIC_GENMSI) = 0u << APLIC_TARGET_HART_SHIFT;
}
NAMED static void completion_unclaimed(void) {
  REG32(board.plic + PLIC_ENABLE(1, 0)) = 1u << 10;
  REG32(board.plic + PLIC_CLAIM(1)) = 10; /* GUILTY */
}
NAMED static void completion_not_enabled(void) { REG32(board.plic + PLIC_CLAIM(1)) = 11; /* GUILTY */ }

/* These loads would fill the list of mistakes if each had its own entry. */
NAMED static void a_thousand_loads(void) {
  for (unsigned i = 0; i < 1000; i++) sabotage_load(0x1000 + 8 * i);
}

/* The numbers count from 1; test_sabotage.py has the same order. */
static void (*const mistakes[])(void) = {
    load_nowhere,
    store_beyond_memory,
    load_across_end,
    misaligned_device,
    atomic_device,
    misaligned_atomic,
    jump_to_null,
    jump_to_device,
    illegal_instruction,
    forgotten_fence_i,
    wrong_width,
    no_register,
    read_only_register,
    hole_in_msix_bar,
    max_frame_range,
    buffer_range,
    moderation_range,
    uart_width,
    clint_width,
    finisher_action,
    config_width,
    device_memory_off,
    bridge_memory_off,
    bar_outside_window,
    bar_moved,
    base_is_cut,
    ring_length,
    ring_without_length,
    ring_changed_under_way,
    doorbell_before_enable,
    tail_beyond_ring,
    tail_overtakes,
    cause_without_vector,
    empty_descriptor,
    frame_too_long,
    frame_too_short,
    status_without_end,
    unknown_descriptor,
    too_many_pieces,
    checksum_of_nothing,
    tx_ring_nowhere,
    rx_ring_nowhere,
    tx_buffer_nowhere,
    rx_buffer_nowhere,
    buffer_in_code,
    buffer_in_loaded_code,
    buffer_in_device,
    data_in_device,
    buffer_in_configuration_space,
    buffer_in_empty_window,
    buffer_in_bar,
    device_bus_master_off,
    bridge_bus_master_off,
    message_to_nowhere,
    message_to_finisher,
    message_to_memory,
    message_without_identity,
    message_to_configuration_space,
    message_misaligned,
    vector_never_set_up,
    vector_never_unmasked,
    message_without_bus_master,
    table_width,
    pending_bits_written,
    imsic_page,
    imsic_width,
    wired_message_without_identity,
    completion_unclaimed,
    completion_not_enabled,
    a_thousand_loads,
};

int application_main(void) {
  pcie_setup();
  nic = pcie_find(DESC_VENDOR_ID, DESC_DEVICE_ID);
  if (nic == 0) return 100;
  bar = nic->bar[DESC_BAR_REGISTERS];
  page = bar + DESC_QUEUE(0);
  csr_write(stvec, (uintptr_t)sabotage_trap);
  for (unsigned i = 0; i < sizeof sabotage_order / sizeof *sabotage_order && sabotage_order[i] != 0; i++) {
    if (sabotage_order[i] > sizeof mistakes / sizeof *mistakes) return 101;
    mistakes[sabotage_order[i] - 1]();
    settle();
    reset();
  }
  return 0;
}
