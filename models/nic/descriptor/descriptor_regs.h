/* SPDX-License-Identifier: Apache-2.0 */
/* models/nic/descriptor/descriptor_regs.h: register and descriptor contract of the descriptor-ring NIC, in the manner
 * of Intel's E810: 32 B receive descriptors with a flexible write-back, 16 B transmit descriptors, tail doorbells,
 * MSI-X. The model, the driver and the tests include this file. Freestanding C that C++ also accepts.
 *
 * PCIe function: DESC_VENDOR_ID / DESC_DEVICE_ID, class Ethernet (02 00 00).
 *   BAR 0  64-bit prefetchable memory, DESC_BAR0_SIZE: everything below.
 *   BAR 2  64-bit prefetchable memory: MSI-X table and PBA; the MSI-X capability says where.
 *
 * Access: every register is 32 bits wide and little endian; only aligned 32-bit accesses are legal. Any other width or
 * alignment, and any offset that is not listed, reads as all ones or is dropped, and is counted (DESC_STAT_BAD_ACCESS).
 * "ro" ignores writes, "rw1c" clears the bits written as one, "wo" reads as zero. Undefined bits read as zero. Reset
 * values are zero unless stated. Registers of a ring other than its control and tail may be written only while the ring
 * is neither enabled nor active; any other write to them is dropped and sets DESC_ERROR_RING_BUSY. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define DESC_VENDOR_ID 0x534cu /* no vendor's: this device exists in no silicon */
#define DESC_DEVICE_ID 0x0810u
#define DESC_CLASS_CODE 0x020000u

#define DESC_BAR_REGISTERS 0
#define DESC_BAR_MSIX 2
#define DESC_BAR0_SIZE 0x100000u
#define DESC_BAR2_SIZE 0x10000u
#define DESC_MSIX_TABLE_OFFSET 0x0000u /* in BAR 2; 16 B an entry */
#define DESC_MSIX_PBA_OFFSET 0x8000u   /* in BAR 2 */

#define DESC_MAX_QUEUES 64u  /* queue pairs; a board may have fewer: DESC_CAPABILITIES */
#define DESC_MAX_VECTORS 65u /* one per queue pair and one for everything else */

/* ---------------------------------------------------------------------------------------------- the device, 0x0000 */

#define DESC_REVISION 0x0000u /* ro  DESC_REVISION_1 */
#define DESC_REVISION_1 0x00010000u

#define DESC_CAPABILITIES 0x0004u             /* ro  what this board's part has */
#define DESC_CAPABILITIES_QUEUES 0x000000ffu  /* queue pairs, 1 to 64 */
#define DESC_CAPABILITIES_VECTORS 0x0000ff00u /* MSI-X vectors, 1 to 65 */
#define DESC_CAPABILITIES_VECTORS_SHIFT 8
#define DESC_CAPABILITIES_RX_CHECKSUM 0x00010000u /* verifies IPv4 and UDP checksums on receive */
#define DESC_CAPABILITIES_TX_CHECKSUM 0x00020000u /* inserts them on transmit */
#define DESC_CAPABILITIES_RSS 0x00040000u
#define DESC_CAPABILITIES_TIMESTAMP 0x00080000u /* stamps received and sent frames at the MAC */
#define DESC_CAPABILITIES_RPC 0x00100000u       /* finds the services of calls: DESC_RPC_DECODER */
#define DESC_CAPABILITIES_UDP_RULES 0x00200000u /* DESC_UDP_RULE */

#define DESC_CONTROL 0x0008u /* rw */
/* returns everything in BAR 0 except statistics to its reset value, forgets frames and descriptors inside the NIC;
 * reads as one until that is done (when DMA in flight has ended) */
#define DESC_CONTROL_RESET 0x00000001u
#define DESC_CONTROL_RX_ENABLE 0x00000002u /* 0: frames from the wire are dropped (DESC_STAT_RX_DROP_DISABLED) */
#define DESC_CONTROL_TX_ENABLE 0x00000004u /* 0: transmit queues do not start another frame */
/* accept frames to other unicast addresses. Own, broadcast and multicast addresses are always accepted */
#define DESC_CONTROL_PROMISCUOUS 0x00000008u
/* a sent frame goes from the transmit pipeline to the parser, in front of the MAC: nothing leaves, and frames from the
 * wire are lost. To be changed while no frame is inside */
#define DESC_CONTROL_TURN_AROUND 0x00000010u

#define DESC_STATUS 0x000cu /* ro */
#define DESC_STATUS_LINK_UP 0x00000001u

#define DESC_LINK_SPEED 0x0010u /* ro  Mb/s; 0 while the link is down */
#define DESC_MAC_LOW 0x0014u    /* rw  station address, octets 0 (bits 7:0) to 3; reset: the board's */
#define DESC_MAC_HIGH 0x0018u   /* rw  octets 4 (bits 7:0) and 5 (bits 15:8); reset: the board's */
#define DESC_MAC_HIGH_OCTETS 0x0000ffffu
/* rw  longest frame received or sent, bytes without FCS: 64 to 9724, reset 1514. Other values are dropped and set
 * DESC_ERROR_VALUE */
#define DESC_MAX_FRAME 0x001cu
#define DESC_MAX_FRAME_LEAST 64u
#define DESC_MAX_FRAME_LIMIT 9724u
#define DESC_MAX_FRAME_RESET 1514u

#define DESC_LINK_INTERRUPT 0x0020u /* rw  DESC_CAUSE_*: vector told when the link goes up or down */

#define DESC_TIME_LOW 0x0030u  /* ro  the clock that stamps frames, nanoseconds, bits 31:0; reading latches HIGH */
#define DESC_TIME_HIGH 0x0034u /* ro  bits 63:32 as of the last read of LOW */

#define DESC_ERRORS 0x0040u               /* rw1c  what software did wrong; never set by the wire */
#define DESC_ERROR_RING_BUSY 0x00000001u  /* register of an enabled or active ring written */
#define DESC_ERROR_VALUE 0x00000002u      /* value out of range written; the register keeps the old one */
#define DESC_ERROR_TAIL 0x00000004u       /* tail beyond the ring or its free descriptors, or ring disabled; ignored */
#define DESC_ERROR_DESCRIPTOR 0x00000008u /* transmit descriptor malformed: the frame is dropped, the queue goes on */
#define DESC_ERROR_DMA 0x00000010u     /* a DMA access failed: completer abort, unsupported request, bus master off */
#define DESC_ERROR_QUEUE_FIRST 0x0044u /* ro  queue of the first error since DESC_ERRORS was zero */

/* Receive-side scaling: Toeplitz over the fields below; the hash's low 7 bits choose an entry of the table, which is a
 * receive queue's number. A frame without such fields, or for a queue that is not enabled, goes to queue 0. */
#define DESC_RSS_CONTROL 0x0100u                   /* rw */
#define DESC_RSS_CONTROL_IPV4 0x00000001u          /* hash source and destination address of IPv4 */
#define DESC_RSS_CONTROL_UDP 0x00000002u           /* and both ports of an unfragmented UDP datagram */
#define DESC_RSS_KEY(word) (0x0140u + 4u * (word)) /* rw  word 0 to 12: key octets 4*word (bits 7:0) to 4*word+3 */
#define DESC_RSS_KEY_WORDS 13u
#define DESC_RSS_TABLE(word) (0x0200u + 4u * (word)) /* rw  word 0 to 31: entries 4*word (bits 7:0) to 4*word+3 */
#define DESC_RSS_TABLE_ENTRIES 128u
#define DESC_RSS_TABLE_WORDS 32u

/* Exact rules: an unfragmented UDP datagram whose destination port a rule names goes to the rule's receive queue, if
 * that queue is enabled, whatever RSS says. Of several rules with a port, the one with the lowest number counts; a
 * service in the RPC decoder's table counts before all. */
#define DESC_UDP_RULE(rule) (0x0600u + 4u * (rule)) /* rw  rule 0 to 63; reset 0 */
#define DESC_UDP_RULES 64u
#define DESC_UDP_RULE_PORT 0x0000ffffu  /* UDP destination port, in host order */
#define DESC_UDP_RULE_QUEUE 0x00ff0000u /* below DESC_CAPABILITIES_QUEUES, else dropped with DESC_ERROR_VALUE */
#define DESC_UDP_RULE_QUEUE_SHIFT 16
#define DESC_UDP_RULE_VALID 0x80000000u

/* Time stamps of sent frames. A frame with DESC_TX_STAMP names one of 64 entries. When its first bit behind the SFD
 * leaves, the entry takes the clock DESC_TIME_*, and READY is set; while READY of the entry is still set from an
 * earlier frame, nothing is noted. A frame that never leaves is not stamped. */
#define DESC_TX_STAMPS 64u
#define DESC_TX_STAMP_READY(word) (0x0300u + 4u * (word))  /* rw1c  word 0 and 1: bit b says that 32*word+b is ready */
#define DESC_TX_STAMP_LOW(entry) (0x0400u + 8u * (entry))  /* ro  nanoseconds, bits 31:0; 0 while not READY */
#define DESC_TX_STAMP_HIGH(entry) (0x0404u + 8u * (entry)) /* ro  bits 63:32 */

/* ------------------------------------------------------------------------------------------ interrupts, 0x1000 + 16 v
 * A cause (receive write-back, transmit write-back, link change) that is enabled for vector v latches PENDING of v.
 * When PENDING and ENABLE are set and at least the moderation interval has passed since v's last message, the NIC sends
 * v's MSI-X message, clears PENDING, and with AUTO_MASK clears ENABLE. Causes that occur while ENABLE is zero stay
 * latched, and fire when it is set. So software that checks its rings once more and then sets ENABLE misses no cause;
 * at times it gets an interrupt with nothing to do. MSI-X's own masks are applied after this block. The message follows
 * the write-back that caused it through the same posted channel, so software sees the descriptor.
 *
 * While MSI-X is disabled in the function's configuration space and Interrupt Disable is zero, INTA is asserted instead
 * as long as any vector has PENDING and ENABLE; AUTO_MASK does nothing then, and software ends the assertion by writing
 * CLEAR_PENDING without ENABLE and reading the register back. */
#define DESC_VECTOR_CONTROL(v) (0x1000u + 16u * (v)) /* rw */
#define DESC_VECTOR_ENABLE 0x00000001u
#define DESC_VECTOR_CLEAR_PENDING 0x00000002u /* wo  takes effect before ENABLE of the same write */
#define DESC_VECTOR_TRIGGER 0x00000004u       /* wo  latches PENDING: an interrupt by software */
#define DESC_VECTOR_AUTO_MASK 0x00000008u
/* rw  least time between two messages, in 2 us: 0 (none) to 4095 */
#define DESC_VECTOR_MODERATION(v) (0x1004u + 16u * (v))
#define DESC_VECTOR_MODERATION_UNIT_NS 2000u
#define DESC_VECTOR_MODERATION_MAX 4095u
#define DESC_VECTOR_STATUS(v) (0x1008u + 16u * (v)) /* ro */
#define DESC_VECTOR_STATUS_PENDING 0x00000001u

/* Value of a cause register (DESC_LINK_INTERRUPT, DESC_RX_INTERRUPT, DESC_TX_INTERRUPT). */
#define DESC_CAUSE_VECTOR 0x000000ffu /* below DESC_CAPABILITIES_VECTORS, else dropped with DESC_ERROR_VALUE */
#define DESC_CAUSE_ENABLE 0x80000000u

/* ------------------------------------------------------------------------------------------- statistics, 0x2000 + 8 n
 * 64-bit counters, ro, never reset: LOW at the offset (reading it latches HIGH), HIGH 4 bytes above. */
#define DESC_STAT_LOW(n) (0x2000u + 8u * (n))
#define DESC_STAT_HIGH(n) (0x2004u + 8u * (n))
#define DESC_STAT_RX_PACKETS 0u          /* frames delivered to a ring, counted at their write-back */
#define DESC_STAT_RX_BYTES 1u            /* their bytes, without FCS */
#define DESC_STAT_RX_DROP_FIFO 2u        /* receive FIFO full: descriptors or PCIe bandwidth missing for too long */
#define DESC_STAT_RX_DROP_NO_QUEUE 3u    /* neither the chosen queue nor queue 0 is enabled, or ring disabled later */
#define DESC_STAT_RX_DROP_LENGTH 4u      /* runt, or longer than DESC_MAX_FRAME or than the ring's buffer */
#define DESC_STAT_RX_DROP_FCS 5u         /* bad frame check sequence */
#define DESC_STAT_RX_DROP_ADDRESS 6u     /* to another station */
#define DESC_STAT_RX_DROP_DISABLED 7u    /* DESC_CONTROL_RX_ENABLE is zero, or the NIC was reset */
#define DESC_STAT_RX_DROP_DMA 8u         /* its descriptor's fetch failed, or bus mastering was off */
#define DESC_STAT_RX_CHECKSUM_IP 9u      /* delivered with a wrong IPv4 header checksum */
#define DESC_STAT_RX_CHECKSUM_UDP 10u    /* delivered with a wrong UDP checksum */
#define DESC_STAT_TX_PACKETS 11u         /* frames handed to the MAC */
#define DESC_STAT_TX_BYTES 12u           /* their bytes, without FCS */
#define DESC_STAT_TX_DROP_DESCRIPTOR 13u /* malformed descriptor, or length of the frame out of range */
#define DESC_STAT_TX_DROP_DMA 14u        /* its DMA read failed */
#define DESC_STAT_TX_DROP_LINK 15u       /* the link was down */
#define DESC_STAT_INTERRUPTS 16u         /* MSI-X messages sent */
#define DESC_STAT_BAD_ACCESS 17u         /* illegal register accesses */
#define DESC_STAT_LINK_CHANGES 18u
#define DESC_STAT_COUNT 19u

/* ----------------------------------------------------------------------------------- services of RPC calls, 0x4000
 * With DESC_CAPABILITIES_RPC: the registers of rpc_decoder_regs.h. A call of a service in the table goes to the receive
 * queue RPCD_OWNER, if it is enabled. What RSS says of it stays as it is. */
#define DESC_RPC_DECODER 0x4000u

/* -------------------------------------------------------------------- queue pairs, one 4 KiB page each from 0x80000 */

#define DESC_QUEUE(q) (0x80000u + 0x1000u * (q))

#define DESC_RX_BASE_LOW 0x000u  /* rw  ring's bus address, bits 31:7; bits 6:0 read as zero */
#define DESC_RX_BASE_HIGH 0x004u /* rw  bits 63:32 */
#define DESC_RX_LENGTH 0x008u    /* rw  descriptors: 64 to 4096, a multiple of 32 */
#define DESC_RX_BUFFER 0x00cu    /* rw  bytes of each buffer: 1024 to 16256, a multiple of 128; reset 2048 */
#define DESC_RX_BUFFER_MIN 1024u
#define DESC_RX_BUFFER_MAX 16256u
#define DESC_RX_BUFFER_MULTIPLE 128u
#define DESC_RX_BUFFER_RESET 2048u
/* rw  DESC_RING_*. Setting ENABLE starts at head 0, tail 0: no descriptor belongs to the NIC until the first tail
 * write. LENGTH 0 cannot be enabled (DESC_ERROR_VALUE) */
#define DESC_RX_CONTROL 0x010u
#define DESC_RX_HEAD 0x014u      /* ro  descriptor that the next frame will fill */
#define DESC_RX_INTERRUPT 0x018u /* rw  DESC_CAUSE_*: vector told of a receive write-back */
#define DESC_RX_DROPS 0x01cu     /* ro  frames for this queue dropped because the FIFO was full, wraps at 2^32 */
/* rw  doorbell: descriptors from the old tail up to and excluding this index are the NIC's. Tail = head means that
 * the NIC has none, so length-1 can be given at most */
#define DESC_RX_TAIL 0x080u

#define DESC_TX_BASE_LOW 0x100u  /* rw  as DESC_RX_BASE_LOW */
#define DESC_TX_BASE_HIGH 0x104u /* rw */
#define DESC_TX_LENGTH 0x108u    /* rw  descriptors: 64 to 4096, a multiple of 32 */
#define DESC_TX_CONTROL 0x110u   /* rw  DESC_RING_* */
#define DESC_TX_HEAD 0x114u      /* ro  descriptor whose frame the NIC sends next */
#define DESC_TX_INTERRUPT 0x118u /* rw  DESC_CAUSE_*: vector told of a transmit write-back */
#define DESC_TX_TAIL 0x180u      /* rw  doorbell, as DESC_RX_TAIL */

#define DESC_RING_ENABLE 0x00000001u /* request; clearing it stops the ring after the frame in progress */
#define DESC_RING_ACTIVE 0x00000004u /* ro  state: follows the request when DMA in flight has ended */
/* ro  the ring's descriptors could not be read, or bus mastering was off at a DMA write: the ring has stopped
 * (DESC_ERROR_DMA) until it is disabled and enabled anew */
#define DESC_RING_ERROR 0x00000008u

#define DESC_RING_MIN 64u
#define DESC_RING_MAX 4096u
#define DESC_RING_MULTIPLE 32u
#define DESC_RING_ALIGNMENT 128u

/* --------------------------------------------------------------------------------------------------- descriptors */

/* Receive: software writes the read form; the NIC overwrites all 32 bytes by one DMA write when the frame is in memory.
 * A frame always fits one buffer (longer ones are dropped), so EOF accompanies every DD. */
struct desc_rx_read {
  uint64_t packet_address; /* bus address of the buffer; any alignment, 64 B is best. Bit 0 is no flag */
  uint64_t header_address; /* zero: headers are never split; DD and EOF of the write-back lie here */
  uint64_t reserved[2];    /* ignored */
};

struct desc_rx_writeback {
  uint8_t profile;        /* DESC_RX_PROFILE: the form of this write-back */
  uint8_t cast;           /* DESC_RX_CAST_* */
  uint16_t packet_type;   /* DESC_RX_TYPE_*, bits 9:0 */
  uint16_t packet_length; /* bytes in the buffer, FCS stripped, bits 13:0 */
  uint16_t header_length; /* bytes of Ethernet, IPv4 and UDP headers that the parser recognised */
  uint16_t status;        /* DESC_RX_DD to DESC_RX_RSS_VALID */
  uint16_t vlan;          /* zero: no tag is stripped */
  uint32_t rss_hash;      /* Toeplitz hash; valid with DESC_RX_RSS_VALID */
  uint32_t status1;       /* zero */
  uint32_t flow;          /* zero: no flow director */
  uint64_t timestamp;     /* nanoseconds of the clock DESC_TIME_*: first bit behind the SFD at the MAC */
};

#define DESC_RX_PROFILE 2u
#define DESC_RX_CAST_UNICAST 0u
#define DESC_RX_CAST_MULTICAST 1u
#define DESC_RX_CAST_BROADCAST 2u
#define DESC_RX_TYPE_OTHER 1u     /* no IPv4 */
#define DESC_RX_TYPE_IPV4 22u     /* IPv4 with a payload that is neither UDP nor a fragment */
#define DESC_RX_TYPE_FRAGMENT 23u /* IPv4 fragment */
#define DESC_RX_TYPE_UDP 24u      /* IPv4 UDP */

#define DESC_RX_DD 0x0001u       /* descriptor done: the rest is valid and the frame is in memory */
#define DESC_RX_EOF 0x0002u      /* last buffer of the frame */
#define DESC_RX_CHECKED 0x0008u  /* L3/L4 checksums were examined; the next two bits say the result */
#define DESC_RX_IP_ERROR 0x0010u /* IPv4 header checksum wrong */
#define DESC_RX_L4_ERROR 0x0020u /* UDP checksum wrong (a checksum of zero is right) */
#define DESC_RX_ERROR 0x0400u    /* frame damaged inside the NIC; its bytes mean nothing */
#define DESC_RX_RSS_VALID 0x1000u

_Static_assert(sizeof(struct desc_rx_read) == 32, "receive descriptor");
_Static_assert(sizeof(struct desc_rx_writeback) == 32, "receive descriptor");
_Static_assert(__builtin_offsetof(struct desc_rx_writeback, status) == 8, "over header_address");
_Static_assert(__builtin_offsetof(struct desc_rx_writeback, timestamp) == 24, "last quadword");

/* Transmit: software writes one descriptor per piece of a frame; the last has EOP. When a frame whose last descriptor
 * has RS has been read completely, the NIC sets that descriptor's type to DESC_TX_TYPE_DONE by a DMA write of its
 * second quadword (other fields zero). Frames of one queue complete in order: everything before a done descriptor may
 * be reused. The write-back happens for dropped frames too. */
struct desc_tx {
  uint64_t address; /* bus address of the piece, any alignment */
  uint64_t command; /* the fields below */
};
_Static_assert(sizeof(struct desc_tx) == 16, "transmit descriptor");

#define DESC_TX_TYPE 0x000000000000000full
#define DESC_TX_TYPE_DATA 0x0ull
#define DESC_TX_TYPE_DONE 0xfull
#define DESC_TX_EOP 0x0000000000000010ull   /* last piece of the frame */
#define DESC_TX_RS 0x0000000000000020ull    /* report status; only with EOP */
#define DESC_TX_STAMP 0x0000000000000040ull /* stamp the frame into the entry below; only with EOP */
#define DESC_TX_IPV4_CHECKSUM \
  0x0000000000000600ull /* both bits: insert the IPv4 header checksum, whatever the field holds */
/* both bits: insert the UDP checksum over the whole datagram; what software left in the field does not matter. Needs
 * the lengths below and an unfragmented IPv4 datagram, else DESC_ERROR_DESCRIPTOR */
#define DESC_TX_UDP_CHECKSUM 0x0000000000003000ull
#define DESC_TX_MAC_LENGTH_SHIFT 16 /* 7 bits: Ethernet header, 2 B units; first descriptor of the frame counts */
#define DESC_TX_IP_LENGTH_SHIFT 23  /* 7 bits: IPv4 header, 4 B units */
#define DESC_TX_L4_LENGTH_SHIFT 30  /* 4 bits: UDP header, 4 B units */
#define DESC_TX_SIZE_SHIFT 34       /* 14 bits: bytes of the piece, 1 to 16383 */
#define DESC_TX_SIZE_MAX 16383u
#define DESC_TX_STAMP_SHIFT 48 /* 6 bits: entry of DESC_TX_STAMP_LOW */
#define DESC_TX_MAX_PIECES 8u  /* pieces a frame may have */
/* A frame has 14 to DESC_MAX_FRAME bytes; the MAC pads those below 60. */
