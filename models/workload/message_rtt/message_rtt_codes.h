/* SPDX-License-Identifier: Apache-2.0 */
/* models/workload/message_rtt/message_rtt_codes.h: exit codes with which the firmware message-rtt ends a failed run by
 * the test finisher, in addition to those of firmware/kernel/exit_codes.h. Freestanding C that C++ also accepts. */
#pragma once

#define MESSAGE_RTT_NO_PLAN 16   /* the device tree asks for no messages */
#define MESSAGE_RTT_NO_NIC 17    /* it has no driver for the NIC, or it did not start */
#define MESSAGE_RTT_NO_TURN 18   /* the NIC cannot turn frames around */
#define MESSAGE_RTT_NO_BUFFER 19 /* the driver has no buffer for a message */
#define MESSAGE_RTT_WRONG 20     /* something came back that is not the message that was sent */
