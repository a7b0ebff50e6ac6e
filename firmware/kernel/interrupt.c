/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/interrupt.c */
#include "firmware/kernel/interrupt.h"

#include "firmware/boot/boot.h"
#include "firmware/drivers/imsic.h"
#include "firmware/drivers/plic.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/panic.h"

#define MAX_IDENTITIES 64u
#define MAX_LINES 128u

struct connection {
  interrupt_handler* handler;
  void* context;
};

/* Each hart has its own IMSIC identities. A PLIC line is shared: every handler that is connected to it on the hart is
 * called. */
static struct connection identities[BOOT_MAX_HARTS][MAX_IDENTITIES];
static struct connection timers[BOOT_MAX_HARTS];

#define LINE_HANDLERS BOOT_MAX_HARTS
static struct {
  uint32_t line;
  unsigned hart;
  struct connection connection;
} lines[LINE_HANDLERS];
static unsigned line_count;

void supervisor_interrupt(unsigned long cause);
void supervisor_exception(unsigned long cause, unsigned long sp) __attribute__((noreturn));

void interrupt_setup_hart(unsigned hart) {
  if (board.interrupts == BOARD_INTERRUPTS_AIA) {
    imsic_setup_hart();
  } else if (board.interrupts == BOARD_INTERRUPTS_PLIC) {
    plic_setup_hart(hart);
  }
  csr_set(sie, SIE_EXTERNAL);
}

void interrupt_connect(unsigned hart, uint32_t line, interrupt_handler* handler, void* context, uint64_t* address,
                       uint32_t* data) {
  *address = 0;
  *data = 0;
  if (board.interrupts == BOARD_INTERRUPTS_AIA) {
    for (uint32_t id = 1; id < MAX_IDENTITIES && id <= board.imsic_identities; id++) {
      if (identities[hart][id].handler != 0) continue;
      identities[hart][id] = (struct connection){handler, context};
      *address = imsic_address(hart);
      *data = id;
      return;
    }
    panic("no interrupt identity is left");
  }
  if (board.interrupts != BOARD_INTERRUPTS_PLIC) panic("the board has no interrupt controller");
  if (line == 0 || line_count == LINE_HANDLERS) panic("no interrupt line for this function");
  lines[line_count].line = line;
  lines[line_count].hart = hart;
  lines[line_count].connection = (struct connection){handler, context};
  line_count++;
  plic_enable(hart, line);
}

static void external_imsic(unsigned hart) {
  for (;;) {
    uint32_t id = imsic_claim();
    if (id == 0) return;
    if (id < MAX_IDENTITIES && identities[hart][id].handler != 0) {
      identities[hart][id].handler(identities[hart][id].context);
    }
  }
}

static void external_plic(unsigned hart) {
  for (;;) {
    uint32_t line = plic_claim(hart);
    if (line == 0) return;
    for (unsigned i = 0; i < line_count; i++) {
      if (lines[i].line == line && lines[i].hart == hart) lines[i].connection.handler(lines[i].connection.context);
    }
    plic_complete(hart, line);
  }
}

void supervisor_interrupt(unsigned long cause) {
  unsigned hart = hart_id();
  switch (cause & ~CAUSE_INTERRUPT) {
    case CAUSE_SUPERVISOR_EXTERNAL:
      if (board.interrupts == BOARD_INTERRUPTS_AIA) {
        external_imsic(hart);
      } else {
        external_plic(hart);
      }
      break;
    case CAUSE_SUPERVISOR_TIMER:
      csr_clear(sie, SIE_TIMER);
      timers[hart].handler(timers[hart].context);
      break;
    default:
      panic_trap("supervisor", cause, csr_read(sepc), csr_read(stval), 0);
  }
}

void supervisor_exception(unsigned long cause, unsigned long sp) {
  panic_trap("supervisor", cause, csr_read(sepc), csr_read(stval), sp);
}

/* A caller that always has work must still let interrupts in, so pending ones are taken here. An interrupt that arrives
 * after sip is read waits for the next call. */
void interrupt_idle(const volatile uint32_t* ready) {
  if (*ready == 0) {
    account(idle);
    wait_for_interrupt();
  } else if ((csr_read(sip) & csr_read(sie)) == 0) {
    return;
  }
  account(interrupt); /* set here, so that it includes trap entry */
  csr_set(sstatus, SSTATUS_SIE);
  csr_clear(sstatus, SSTATUS_SIE);
}

void interrupt_at(uint64_t when, interrupt_handler* handler, void* context) {
  timers[hart_id()] = (struct connection){handler, context};
  csr_write(CSR_STIMECMP, when);
  csr_set(sie, SIE_TIMER);
}

void interrupt_never(void) { csr_clear(sie, SIE_TIMER); }
