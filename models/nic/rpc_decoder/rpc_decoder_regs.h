/* SPDX-License-Identifier: Apache-2.0 */
/* models/nic/rpc_decoder/rpc_decoder_regs.h: registers of the RPC decoder: the table of services that it finds, and
 * what it has counted. The hardware (rtl/rpc_decoder), its model, the firmware and the tests have it in common.
 * Freestanding C that C++ also accepts.
 *
 * Every register is 32 bits wide and little endian, and 0 after a reset unless stated. Registers that are only written
 * read as 0. Software writes the fields of an entry, and then RPCD_COMMIT, which makes them the entry. */
#pragma once

#define RPCD_SIZE 0x100u /* bytes */

#define RPCD_IDENTITY 0x00u /* ro  RPCD_IDENTITY_VALUE */
#define RPCD_IDENTITY_VALUE 0x44435052u
#define RPCD_CAPACITY 0x04u                /* ro */
#define RPCD_CAPACITY_SERVICES 0x000000ffu /* entries of the table */
#define RPCD_CAPACITY_PARTS 0x0000ff00u    /* parts of a schema */
#define RPCD_CAPACITY_PARTS_SHIFT 8
#define RPCD_CAPACITY_WORDS 0x00ff0000u /* words of a part before its array */
#define RPCD_CAPACITY_WORDS_SHIFT 16
#define RPCD_ERROR 0x08u             /* rw1c  what software did wrong */
#define RPCD_ERROR_ENTRY 0x00000001u /* COMMIT to an entry that the table does not have; nothing was written */
/* COMMIT of a part with too many words, or with half of a 64-bit value; nothing was written */
#define RPCD_ERROR_SCHEMA 0x00000002u

#define RPCD_PROGRAM 0x10u       /* wo  ONC RPC program number */
#define RPCD_VERSION 0x14u       /* wo */
#define RPCD_PROCEDURE 0x18u     /* wo */
#define RPCD_PORT 0x1cu          /* wo  UDP port, bits 15:0 */
#define RPCD_FUNCTION_LOW 0x20u  /* wo  function pointer that the control line has, bits 31:0 */
#define RPCD_FUNCTION_HIGH 0x24u /* wo  bits 63:32 */
#define RPCD_OWNER 0x28u  /* wo  bits 15:0: the queue, or the process, that serves it; the NIC's page says which */
#define RPCD_COMMIT 0x2cu /* wo */
#define RPCD_COMMIT_ENTRY 0x0000ffffu
#define RPCD_COMMIT_VALID 0x80000000u /* 0: the entry matches no call */

/* The schema of the arguments: parts that follow each other, each of some words and then perhaps an array. */
#define RPCD_PARTS 4u
#define RPCD_PART_WORDS_MOST 16u
#define RPCD_PART_CLASSES(part) (0x40u + 8u * (part)) /* wo  two bits for each word: RPCD_CLASS_* */
#define RPCD_PART_SHAPE(part) (0x44u + 8u * (part))   /* wo */
#define RPCD_SHAPE_WORDS 0x0000001fu                  /* 0 to RPCD_PART_WORDS_MOST */
#define RPCD_SHAPE_ARRAY 0x00006000u                  /* RPCD_ARRAY_* */
#define RPCD_SHAPE_ARRAY_SHIFT 13
/* 1: the array begins with a word that says how many elements it has */
#define RPCD_SHAPE_COUNTED 0x00008000u
/* of a counted array the most elements that a call may have, in bytes if they are opaque; of another one its words */
#define RPCD_SHAPE_LIMIT 0xffff0000u
#define RPCD_SHAPE_LIMIT_SHIFT 16

#define RPCD_ARRAY_NONE 0u
#define RPCD_ARRAY_OPAQUE 1u  /* bytes, padded to a word */
#define RPCD_ARRAY_SCALARS 2u /* words */
#define RPCD_ARRAY_HYPERS 3u  /* pairs of words */

/* How a word comes to be little endian. */
#define RPCD_CLASS_COPY 0u
#define RPCD_CLASS_SWAP 1u
#define RPCD_CLASS_HYPER_HIGH 2u /* the first word of 64 bits */
#define RPCD_CLASS_HYPER_LOW 3u

#define RPCD_COUNTERS 0x80u /* ro  frames by verdict, modulo 2^32: RPCD_COUNTERS + 4 * RPCD_* */
#define RPCD_CALL 0u        /* a call of a service in the table */
#define RPCD_TRUNCATED 1u   /* ends before a header of it says, or within a header */
#define RPCD_NOT_IPV4 2u
#define RPCD_IPV4_HEADER 3u /* version, header length or total length that cannot be */
#define RPCD_IPV4_CHECKSUM 4u
#define RPCD_FRAGMENT 5u
#define RPCD_NOT_UDP 6u
#define RPCD_UDP_LENGTH 7u /* less than a UDP header, or more than the IPv4 payload */
#define RPCD_UDP_CHECKSUM 8u
#define RPCD_NOT_CALL 9u     /* another message type */
#define RPCD_RPC_VERSION 10u /* not 2 */
#define RPCD_CREDENTIAL 11u  /* neither AUTH_NONE nor AUTH_SYS, or more than 400 bytes */
#define RPCD_VERIFIER 12u    /* not AUTH_NONE, or more than 400 bytes */
#define RPCD_NO_SERVICE 13u  /* no entry has its program, version, procedure and port */
#define RPCD_ARGUMENTS 14u   /* end before the schema says, or an array is longer than it may be */
#define RPCD_VERDICTS 15u

/* The control line begins with these 16 bytes; the arguments follow. */
#define RPCD_LINE_VALID 0x00000001u
#define RPCD_LINE_TYPE_SHIFT 1 /* 3 bits */
#define RPCD_LINE_TYPE_CALL 3u
#define RPCD_LINE_LENGTH_SHIFT 4 /* 16 bits: bytes of the arguments */
#define RPCD_LINE_HEAD_BYTES 16u /* the word above, then the transaction id, then the function pointer */
