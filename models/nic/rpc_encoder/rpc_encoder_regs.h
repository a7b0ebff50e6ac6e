/* SPDX-License-Identifier: Apache-2.0 */
/* models/nic/rpc_encoder/rpc_encoder_regs.h: registers of the RPC encoder: the table of schemas, and what it has
 * counted. The hardware (rtl/rpc_encoder), its model, the firmware and the tests have it in common. Freestanding C that
 * C++ also accepts.
 *
 * Every register is 32 bits wide and little endian, and 0 after a reset unless stated. Software writes the fields of an
 * entry, and then RPCE_COMMIT, which makes them the entry. */
#pragma once

#define RPCE_SIZE 0x100u /* bytes */

#define RPCE_IDENTITY 0x00u /* ro  RPCE_IDENTITY_VALUE */
#define RPCE_IDENTITY_VALUE 0x45435052u
#define RPCE_CAPACITY 0x04u               /* ro */
#define RPCE_CAPACITY_SCHEMAS 0x000000ffu /* entries of the table */
#define RPCE_CAPACITY_PARTS 0x0000ff00u   /* parts of a schema */
#define RPCE_CAPACITY_PARTS_SHIFT 8
#define RPCE_CAPACITY_WORDS 0x00ff0000u /* words of a part before its array */
#define RPCE_CAPACITY_WORDS_SHIFT 16
#define RPCE_CAPACITY_ARMS 0xff000000u /* arms of a union */
#define RPCE_CAPACITY_ARMS_SHIFT 24
#define RPCE_ERROR 0x08u             /* rw1c  what software did wrong */
#define RPCE_ERROR_ENTRY 0x00000001u /* COMMIT to an entry that the table does not have; nothing was written */
#define RPCE_ERROR_SCHEMA \
  0x00000002u             /* COMMIT of a part with too many words, or of an arm with such an entry; as above */
#define RPCE_COMMIT 0x0cu /* wo */
#define RPCE_COMMIT_ENTRY 0x0000ffffu
#define RPCE_COMMIT_VALID 0x80000000u /* 0: packets that name the entry are wrong */

/* A schema with a valid arm is a union: the data begin with a status, a scalar, and the parts that follow are those of
 * the entry that the arm with this value names. That entry is no union; the union's own parts are not used. */
#define RPCE_ARMS 4u
#define RPCE_ARM_VALUE(arm) (0x20u + 8u * (arm)) /* wo */
#define RPCE_ARM(arm) (0x24u + 8u * (arm))       /* wo */
#define RPCE_ARM_ENTRY 0x000000ffu
#define RPCE_ARM_DEFAULT 0x40000000u /* for any status that no other arm has; the first of several counts */
#define RPCE_ARM_VALID 0x80000000u

/* The parts, which follow each other: as in rpc_decoder_regs.h, RPCD_PART_CLASSES and RPCD_PART_SHAPE. */
#define RPCE_PARTS 4u
#define RPCE_PART_WORDS_MOST 16u
#define RPCE_PART_CLASSES(part) (0x40u + 8u * (part)) /* wo */
#define RPCE_PART_SHAPE(part) (0x44u + 8u * (part))   /* wo */

#define RPCE_COUNTERS 0x80u /* ro  packets by verdict, modulo 2^32: RPCE_COUNTERS + 4 * RPCE_* */
#define RPCE_REPLY 0u       /* a reply with results */
#define RPCE_CALL 1u        /* a call */
#define RPCE_REFUSAL 2u     /* a reply without results, as was asked for */
/* From here on wrong, so that SYSTEM_ERR left, or nothing of a call: */
#define RPCE_ACCEPT_STAT 3u /* no such accept_stat */
#define RPCE_NO_SCHEMA 4u   /* the table has no such entry, or an arm's is none or a union */
#define RPCE_NO_ARM 5u      /* no arm has the status */
#define RPCE_COUNT 6u       /* an array is longer than it may be */
#define RPCE_SHORT 7u       /* the packet ends before its schema does */
#define RPCE_VERDICTS 8u

/* What goes with a packet. Of numbers of several bytes the highest bits are first on the wire. */
#define RPCE_USER_BITS 332u
#define RPCE_USER_CALL_AT 0u        /* 1 bit: a call, not a reply */
#define RPCE_USER_ACCEPT_STAT_AT 1u /* 3 bits, of a reply */
#define RPCE_USER_SCHEMA_AT 4u      /* 8 bits */
#define RPCE_USER_PEER_MAC_AT 12u   /* 48 bits */
#define RPCE_USER_OWN_MAC_AT 60u    /* 48 bits */
#define RPCE_USER_PEER_ADDRESS_AT 108u
#define RPCE_USER_OWN_ADDRESS_AT 140u
#define RPCE_USER_PEER_PORT_AT 172u /* 16 bits */
#define RPCE_USER_OWN_PORT_AT 188u  /* 16 bits */
#define RPCE_USER_XID_AT 204u
#define RPCE_USER_PROGRAM_AT 236u   /* of a call; of PROG_MISMATCH the lowest version */
#define RPCE_USER_VERSION_AT 268u   /* of a call; of PROG_MISMATCH the highest version */
#define RPCE_USER_PROCEDURE_AT 300u /* of a call */

/* accept_stat (RFC 5531) */
#define RPCE_SUCCESS 0u
#define RPCE_PROG_UNAVAIL 1u
#define RPCE_PROG_MISMATCH 2u
#define RPCE_PROC_UNAVAIL 3u
#define RPCE_GARBAGE_ARGS 4u
#define RPCE_SYSTEM_ERR 5u
