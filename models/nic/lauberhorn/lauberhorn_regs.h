/* SPDX-License-Identifier: Apache-2.0 */
/* models/nic/lauberhorn/lauberhorn_regs.h: registers, cache lines and messages of Lauberhorn, the NIC that is part of
 * the operating system. Freestanding C that C++ also accepts. docs/models/nic-lauberhorn.md describes them.
 *
 * Registers are 8 bytes wide unless stated, and read as 0 where they are only written. */
#pragma once

#define LAUB_REGISTERS_SIZE 0x1000

/* ro  what this NIC has */
#define LAUB_IDENTITY 0x000 /* LAUB_IDENTITY_VALUE */
#define LAUB_IDENTITY_VALUE 0x4842554cu
#define LAUB_LINE_BYTES 0x008 /* of a cache line */
#define LAUB_CORES 0x010      /* that have kernel end-points */
#define LAUB_PROCESSES 0x018  /* that may be entered; number 0 is the kernel's */
#define LAUB_WORKERS 0x020    /* end-points of a process */
#define LAUB_SERVICES 0x028   /* entries of the service table */
#define LAUB_SESSIONS 0x030   /* requests that the NIC knows the clients of */
#define LAUB_MAC 0x038        /* station address, the first byte in bits 47:40 */

#define LAUB_IPV4 0x060      /* rw  the host's address: a call to another one is a frame for the kernel */
#define LAUB_BLOCK 0x040     /* rw  how long a load is held back before TRYAGAIN, cycles of the NIC */
#define LAUB_GIVE_BACK 0x0f8 /* rw  how long a core with other work (LAUB_KERNEL_HAS_WORK) waits at a line, cycles */
#define LAUB_PREEMPT 0x048   /* rw  how long a core may go on with its handler before it is interrupted, cycles */
/* wo  a request is lost: the software that had it will never answer. Bits 15:0: the worker, or the core of a kernel
 * line; bits 31:16: the process, 0 for a kernel line. The NIC takes the line back, and answers the request by itself if
 * there is no reply in it. LAUB_LOST_KEPT as the worker: all requests of the process that are kept, with the results
 * for which they wait. */
#define LAUB_LOST 0x058
#define LAUB_LOST_KEPT 0xffffu
#define LAUB_CALL_TIMEOUT 0x068 /* rw  how long a handler's call may go without its result, cycles */
#define LAUB_RETIRE 0x050       /* rw  kernel threads that are to be given back; the NIC counts it down */

/* What the kernel tells of its cores: LAUB_RUNS + 8 * core. rw  the process that the core runs, 0: the kernel,
 * LAUB_RUNS_OTHER: something that the NIC knows nothing of. Read: what the NIC takes it to run, by this and by the
 * lines that it loads. */
#define LAUB_RUNS(core) (0x100 + 8 * (core))
#define LAUB_RUNS_OTHER 0xffffu
/* batch work, which the NIC interrupts (LAUB_INTERRUPT) when somebody needs the core */
#define LAUB_RUNS_BATCH 0xfffeu
#define LAUB_CORES_MOST 32

/* What each core was given: LAUB_CORE_* + 8 * core. ro  requests: by any end-point; of these, by the core's kernel
 * line; and on a process's line at the core's load, from its queue. And how often the core was told to leave a process.
 */
#define LAUB_CORE_GIVEN(core) (0xb00 + 8 * (core))
#define LAUB_CORE_DISPATCHED(core) (0xc00 + 8 * (core))
#define LAUB_CORE_POPPED(core) (0xd00 + 8 * (core))
#define LAUB_CORE_PREEMPTED(core) (0xe00 + 8 * (core))

/* What a core's kernel thread asks for: LAUB_KERNEL_LINE + 8 * core: rw  LAUB_KERNEL_*; reads do not have DONE. */
#define LAUB_KERNEL_LINE(core) (0xa00 + 8 * (core))
#define LAUB_KERNEL_NO_WAIT 1u /* a load of its line is answered with TRYAGAIN at once if there is nothing for it */
#define LAUB_KERNEL_DONE 2u    /* it has done with the message in its line, without loading the next one */
/* it has other work for the core: when a load has been held back for LAUB_GIVE_BACK, its kernel line brings RETIRE, and
 * a line of a process that the core serves YIELDNOW */
#define LAUB_KERNEL_HAS_WORK 4u

/* The interrupt by which the NIC stops a core's handler: a message that it sends. LAUB_INTERRUPT + 16 * core: rw  bus
 * address, 0: none; + 8: rw  value. */
#define LAUB_INTERRUPT(core) (0x200 + 16 * (core))

/* The process table. Write the fields, then COMMIT. */
#define LAUB_PROCESS_ID 0x080      /* wo  bits 15:0: the kernel's number of the process, which messages have */
#define LAUB_PROCESS_THREADS 0x088 /* wo  most cores that may serve it at a time; 0: what comes for it waits */
#define LAUB_PROCESS_COMMIT 0x090  /* wo  bits 15:0: process; bit 31: it exists */
#define LAUB_COMMIT_VALID 0x80000000u
/* rw  selects a process for the registers below; 0: frames for the kernel */
#define LAUB_PROCESS_SELECT 0x098
#define LAUB_PROCESS_QUEUED 0x0a0  /* ro  requests in its queue */
#define LAUB_PROCESS_CORES 0x0a8   /* ro  cores that serve it, as far as the NIC knows */
#define LAUB_PROCESS_PUSHED 0x0b0  /* ro  requests that had to wait in its queue */
#define LAUB_PROCESS_DROPPED 0x0b8 /* ro  requests for which its queue had no room */

/* The service table: beside the entry of the same number in the decoder's (RPCD_COMMIT), whose RPCD_OWNER is this
 * number, what a call is given. Write the fields, then COMMIT. */
#define LAUB_SERVICE_DATA 0x0c0    /* wo  data pointer */
#define LAUB_SERVICE_PROCESS 0x0c8 /* wo */
#define LAUB_SERVICE_RESULT 0x0d0  /* wo  schema of the results, in the encoder's table */
#define LAUB_SERVICE_PORT 0x0f0    /* wo  UDP port, as in the decoder's entry: other calls to it are of no service */
/* wo  schema of the arguments, in the encoder's table, for calls of handlers; LAUB_NO_SCHEMA: they cannot call it */
#define LAUB_SERVICE_ARGUMENTS 0x070
#define LAUB_NO_SCHEMA 0xffu
#define LAUB_SERVICE_COMMIT 0x0d8 /* wo  bits 15:0: service; bit 31: it exists */

#define LAUB_CONTROL 0x0e8 /* rw  LAUB_CONTROL_* */
/* a sent frame goes from the transmit queue into the receive queue, in front of the MAC: nothing leaves, and frames
 * from the wire are lost */
#define LAUB_CONTROL_TURN_AROUND 1u

#define LAUB_ERROR 0x0e0      /* rw1c  what software did wrong */
#define LAUB_ERROR_ENTRY 1u   /* COMMIT to an entry that a table does not have; nothing was written */
#define LAUB_ERROR_PROCESS 2u /* a service of a process that cannot be; nothing was written */
#define LAUB_ERROR_MESSAGE 4u /* a message that is none was committed */

/* The decoder's registers (rpc_decoder_regs.h) and the encoder's (rpc_encoder_regs.h), 4 bytes wide. */
#define LAUB_DECODER 0x400
#define LAUB_ENCODER 0x800

/* ---------------------------------------------------------------------------------------------------------------------
 * End-points. Each is a region of cache lines: first those of the kernel, one for each core, then those of processes,
 * LAUB_WORKERS for each, from process 1 on. */
#define LAUB_ENDPOINT_SIZE 0x20000
#define LAUB_KERNEL(core) ((uint64_t)(core)*LAUB_ENDPOINT_SIZE)
#define LAUB_USER(cores, workers, process, worker) \
  ((uint64_t)((cores) + ((process)-1) * (workers) + (worker)) * LAUB_ENDPOINT_SIZE)

/* In an end-point. Both directions have two control lines, the second behind the first, and overflow lines. A page has
 * lines of one direction only, and a whole end-point belongs to one process. */
#define LAUB_RX 0x0000
#define LAUB_TX 0x8000
#define LAUB_OVERFLOW 0x100
#define LAUB_OVERFLOW_BYTES 9728

/* A control line begins with this head, little endian. Bytes of the message follow, in the control line and then in the
 * overflow lines. */
#define LAUB_HEAD_WORD 0x00    /* 32 bits: below */
#define LAUB_HEAD_XID 0x04     /* 32 bits: of a call; what software writes for a reply: LAUB_ACCEPT_* */
#define LAUB_HEAD_CODE 0x08    /* 64 bits: code pointer of the service */
#define LAUB_HEAD_DATA 0x10    /* 64 bits: its data pointer */
#define LAUB_HEAD_PROCESS 0x18 /* 32 bits: number of the process, bits 15:0, and its LAUB_PROCESS_ID, bits 31:16 */
#define LAUB_HEAD_SESSION 0x1c /* 32 bits: number of the request, bits 31:16; bits 15:0: how many wait behind it */
#define LAUB_HEAD_BYTES 0x20

/* The word. A word without VALID, all 0, is TRYAGAIN: nothing came in time; load the other control line. */
#define LAUB_WORD_VALID 1u
#define LAUB_WORD_TYPE_SHIFT 1 /* 3 bits */
#define LAUB_WORD_TYPE_MASK 7u
#define LAUB_WORD_LENGTH_SHIFT 4 /* 16 bits: bytes behind the head */
#define LAUB_WORD_LENGTH_MASK 0xffffu

#define LAUB_ERROR_REPLY 0u /* TX: the NIC answers the request with SYSTEM_ERR */
#define LAUB_FRAME 1u       /* a frame that is no call of a service (bypass); kernel only */
/* Written over LAUB_CALL or LAUB_CONTINUE: the request is answered later. A process writes it when its handler has
 * ended and waits for the result of a call that it has made. The kernel writes it for a process (XID:
 * LAUB_KEPT_FOR_RESULT), or because it needs its line while the handler goes on (0). Then its transmit lines have the
 * answer: LAUB_REPLY, or LAUB_KEPT when the handler has ended and waits for a result. */
#define LAUB_KEPT 2u
#define LAUB_KEPT_FOR_RESULT 1u
/* A call. RX: of a service of the process; on a kernel line, of any. TX, by a process: to a service of this NIC, on
 * behalf of a request of the process. XID: number of the service; CODE and DATA: for LAUB_CONTINUE; SESSION: number of
 * the request. The word of the control line that comes next is 0: the call is under way; or LAUB_ERROR_REPLY: it is
 * not. */
#define LAUB_CALL 3u
/* written over LAUB_CALL by software: the reply to it; on transmit lines, kernel only: to the kept request whose number
 * is in the head */
#define LAUB_REPLY 4u
#define LAUB_YIELDNOW 5u      /* to a process: go back to the kernel */
#define LAUB_RETIRE_THREAD 6u /* to a kernel thread: the core is no longer needed for requests */
/* RX: the result of a call that a handler has made: the request whose number is in the head goes on. XID:
 * LAUB_ACCEPT_*; CODE and DATA: as that call had them. What software writes over it answers the request. */
#define LAUB_CONTINUE 7u
