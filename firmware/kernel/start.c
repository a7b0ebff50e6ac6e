/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/start.c */
#include "firmware/kernel/start.h"

#include "firmware/drivers/finisher.h"
#include "firmware/drivers/uart.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/hart.h"

void supervisor_main(unsigned long hart, const void* device_tree);

void supervisor_main(unsigned long hart, const void* device_tree) {
  account(kernel);
  hart_set_id((unsigned)hart);
  board_setup(device_tree);
  uart_setup();
  int result = application_main();
  if (result != 0) finisher_fail((unsigned)result);
  finisher_pass();
}
