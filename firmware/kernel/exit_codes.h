/* firmware/kernel/exit_codes.h: why firmware ends a run as failed, as the test finisher's code. Others are an
 * application's own. Freestanding C that C++ also accepts: the simulator's diagnosis says what they mean, of images
 * that have the symbol sluice_exit_codes (boot/start.S). */
#pragma once

#define EXIT_TRAP 3u    /* an exception that nothing handles; xepc, xcause and xtval still tell it */
#define EXIT_NO_NIC 4u  /* a server found no NIC that it has a driver for */
#define EXIT_GAVE_UP 5u /* the kernel could not go on; the console says why */
#define EXIT_STACK 6u   /* a stack has overflowed; mepc, mcause and mtval tell the access, mscratch has the sp */
