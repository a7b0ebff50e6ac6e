/* SPDX-License-Identifier: Apache-2.0 */
/* models/base/measure/stages.h: the closed lists of the stages that divide a request's time, the accounts that divide
 * a core's time, the steps of receiving a call, and the reasons for which software drops a request. Freestanding C that
 * C++ also accepts: the firmware's hints name them too. SLUICE_STAGE(name, title, meaning), SLUICE_ACCOUNT(name, title,
 * meaning), SLUICE_STEP(name, title, meaning). */
#pragma once

/* clang-format off */

#define SLUICE_STAGES(SLUICE_STAGE)                                                                                  \
  SLUICE_STAGE(client_queue, "client queue", "the call is due and waits in its client for the line")                  \
  SLUICE_STAGE(wire, "wire", "bits of the request's or the reply's frame on the Ethernet wire, flight included")     \
  SLUICE_STAGE(mac, "MAC", "the NIC's Ethernet MAC: PCS, FCS check or generation, store and forward")                \
  SLUICE_STAGE(parse, "parse", "the NIC's header parser")                                                            \
  SLUICE_STAGE(decode, "decode", "the NIC's decoder of RPC headers")                                                 \
  SLUICE_STAGE(nic_queue, "NIC queue", "waiting in a NIC's buffer for an engine, a descriptor or a scheduler")       \
  SLUICE_STAGE(notify, "notify", "from data written to software told: write-back, moderation")                       \
  SLUICE_STAGE(upstream_link, "upstream link", "a PCIe link from device to host: waiting, serialising, flight")      \
  SLUICE_STAGE(downstream_link, "downstream link", "a PCIe link from host to device: waiting, serialising, flight")  \
  SLUICE_STAGE(switch_fabric, "switch", "inside a PCIe switch")                                                      \
  SLUICE_STAGE(memory, "memory", "root complex and memory: an access on the request's behalf")                       \
  SLUICE_STAGE(coherence_message, "coherence message", "a message of a coherent link: waiting, serialising, flight") \
  SLUICE_STAGE(cache_fill, "cache fill", "a core waiting for a device-homed line")                                   \
  SLUICE_STAGE(interrupt, "interrupt", "from the interrupt's message at the host to the driver's handler, without the next three stages: interrupts off, registers saved, claim") \
  SLUICE_STAGE(interrupt_delivery, "interrupt delivery", "from the interrupt controller to the hart's pipeline")     \
  SLUICE_STAGE(idle_exit, "idle exit", "the hart leaves the idle state in which the interrupt found it")            \
  SLUICE_STAGE(trap_entry, "trap entry", "from the instruction before an interrupt to the first one of the hart's trap handler") \
  SLUICE_STAGE(user_interrupt, "user-interrupt delivery", "from the user interrupt's arrival to its handler")        \
  SLUICE_STAGE(demultiplex, "demultiplex", "finding the receiver: the driver's interrupt handler, software classification") \
  SLUICE_STAGE(kernel_protocol, "kernel protocol", "the operating system's or library's Ethernet, IP and UDP work")  \
  SLUICE_STAGE(schedule_decision, "schedule decision", "choosing which thread runs where")                           \
  SLUICE_STAGE(remote_decision, "remote decision", "waiting for an offloaded scheduler's decision")                  \
  SLUICE_STAGE(commit, "commit", "enforcing a scheduling decision")                                                  \
  SLUICE_STAGE(wait_core, "wait for a core", "data and notification are there; no core has looked yet")             \
  SLUICE_STAGE(context_switch, "context switch", "switching threads on the request's behalf")                       \
  SLUICE_STAGE(system_call, "system call", "entering and leaving the kernel on the request's behalf")               \
  SLUICE_STAGE(poll, "poll", "from the read that finds the request to the first work on it")                        \
  SLUICE_STAGE(copy, "copy", "moving the request's bytes with the core")                                            \
  SLUICE_STAGE(unmarshal, "unmarshal", "RPC header and argument decoding")                                          \
  SLUICE_STAGE(handler, "handler", "the service's own work")                                                        \
  SLUICE_STAGE(marshal, "marshal", "result and reply header encoding")                                              \
  SLUICE_STAGE(doorbell, "doorbell", "from the reply handed to the driver to the doorbell's arrival at the NIC")    \
  SLUICE_STAGE(dma_read, "DMA read", "the NIC fetching descriptor and data of the reply")                           \
  SLUICE_STAGE(accelerator, "accelerator", "an accelerator's engine")                                               \
  SLUICE_STAGE(stream_buffer, "stream buffer", "a programmable switch's stream buffer")                             \
  SLUICE_STAGE(credit_wait, "credit wait", "waiting for flow-control credits")                                      \
  SLUICE_STAGE(child, "child", "waiting for a nested request")                                                      \
  SLUICE_STAGE(transmit, "transmit", "the NIC's transmit pipeline up to the first bit")                             \
  SLUICE_STAGE(retransmit, "retransmit", "a lost call or reply: until its timeout has the call sent again")         \
  SLUICE_STAGE(unattributed, "unattributed", "time nobody named")

#define SLUICE_ACCOUNTS(SLUICE_ACCOUNT)                                                                     \
  SLUICE_ACCOUNT(application, "application", "the services' own work")                                      \
  SLUICE_ACCOUNT(networking, "networking", "driver and protocol work that found something to do")           \
  SLUICE_ACCOUNT(polling, "polling", "looking for work and finding none")                                   \
  SLUICE_ACCOUNT(interrupt, "interrupt", "interrupt entry, claim and exit")                                 \
  SLUICE_ACCOUNT(notification, "notification", "telling another core or thread")                            \
  SLUICE_ACCOUNT(kernel, "kernel", "boot, set-up, exceptions, housekeeping")                                \
  SLUICE_ACCOUNT(context_switch, "context switch", "saving and restoring threads")                          \
  SLUICE_ACCOUNT(batch, "batch", "work of processes that no request needs")                                 \
  SLUICE_ACCOUNT(parked, "parked", "waiting in wrs, or in a load that a device holds back")                 \
  SLUICE_ACCOUNT(idle, "idle", "waiting in wfi")

/* What is done with a call from its frame to its handler, by whomever, in the order of Lauberhorn's publication. */
#define SLUICE_STEPS(SLUICE_STEP)                                                                            \
  SLUICE_STEP(read_packet, "read the packet", "taking the frame in, and moving its bytes and descriptor")    \
  SLUICE_STEP(protocol, "protocol processing", "headers parsed and checksums checked before it is known whose the frame is") \
  SLUICE_STEP(demultiplex, "demultiplex", "finding the queue or the part of the system that the frame is for") \
  SLUICE_STEP(interrupt, "interrupt a core", "from the interrupt's cause to the first work of its handler")  \
  SLUICE_STEP(general_protocol, "general protocol", "Ethernet, IP and UDP for whoever the frame is for")     \
  SLUICE_STEP(identify_process, "identify the process", "finding the process that the call is for")          \
  SLUICE_STEP(find_core, "find a core", "choosing the core that executes it")                                \
  SLUICE_STEP(schedule, "schedule", "choosing the thread that runs there, and when")                         \
  SLUICE_STEP(context_switch, "context switch", "from another thread or the kernel to that thread")          \
  SLUICE_STEP(unmarshal, "unmarshal", "RPC header and arguments into the form that the handler takes")       \
  SLUICE_STEP(find_function, "find the function", "from the call's numbers to the handler's address")        \
  SLUICE_STEP(jump, "jump", "from the call at hand to the handler")

/* Why software ends a request without a reply. */
#define SLUICE_DROPS(SLUICE_DROP_REASON)                        \
  SLUICE_DROP_REASON(transmit_ring_full, "transmit ring full") \
  SLUICE_DROP_REASON(socket_full, "socket full")

enum sluice_drop {
#define SLUICE_DROP_REASON(name, title) SLUICE_DROP_##name,
  SLUICE_DROPS(SLUICE_DROP_REASON)
#undef SLUICE_DROP_REASON
  SLUICE_DROP_COUNT
};
#define SLUICE_DROP(reason) (1024 + (reason)) /* as probe's immediate operand */

enum sluice_step {
#define SLUICE_STEP(name, title, meaning) SLUICE_STEP_##name,
  SLUICE_STEPS(SLUICE_STEP)
#undef SLUICE_STEP
  SLUICE_STEP_COUNT
};
#define SLUICE_BEGINS(step) (1280 + (step)) /* as probe's immediate operand */
#define SLUICE_DOES(step) (1536 + (step))
#define SLUICE_TELLS(step) (1600 + (step))

enum sluice_stage {
#define SLUICE_STAGE(name, title, meaning) SLUICE_STAGE_##name,
  SLUICE_STAGES(SLUICE_STAGE)
#undef SLUICE_STAGE
  SLUICE_STAGE_COUNT
};

enum sluice_account {
#define SLUICE_ACCOUNT(name, title, meaning) SLUICE_ACCOUNT_##name,
  SLUICE_ACCOUNTS(SLUICE_ACCOUNT)
#undef SLUICE_ACCOUNT
  SLUICE_ACCOUNT_COUNT
};
