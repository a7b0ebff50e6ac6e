/* SPDX-License-Identifier: Apache-2.0 */
/* protocols/rpc/onc_rpc.h: the message format of ONC RPC version 2 (RFC 5531) and of the portmapper (RFC 1833), and the
 * ports and program numbers of the server. The firmware, the traffic source and tests include this file. Freestanding C
 * that C++ also accepts. All items are XDR (RFC 4506): big-endian, 4-byte units. */
#pragma once

/* --------------------------------------------------------------------------------------- the message, RFC 5531
 * Call: xid, RPC_CALL, RPC_VERSION, program, version, procedure, credential {flavor, length, body}, verifier
 * {likewise}, arguments. With AUTH_NONE twice, the arguments start RPC_CALL_HEADER_BYTES after the xid. Reply: xid,
 * RPC_REPLY, RPC_MSG_ACCEPTED, verifier {AUTH_NONE, 0}, accept_stat, then results (RPC_SUCCESS) or lowest and highest
 * version (RPC_PROG_MISMATCH); or xid, RPC_REPLY, RPC_MSG_DENIED, reject_stat, then lowest and highest RPC version
 * (RPC_MISMATCH) or an auth_stat (RPC_AUTH_ERROR). */
#define RPC_CALL 0u
#define RPC_REPLY 1u
#define RPC_VERSION 2u
#define RPC_CALL_HEADER_BYTES 40u
#define RPC_REPLY_HEADER_BYTES 24u

/* reply_stat */
#define RPC_MSG_ACCEPTED 0u
#define RPC_MSG_DENIED 1u

/* accept_stat */
#define RPC_SUCCESS 0u
#define RPC_PROG_UNAVAIL 1u
#define RPC_PROG_MISMATCH 2u
#define RPC_PROC_UNAVAIL 3u
#define RPC_GARBAGE_ARGS 4u
#define RPC_SYSTEM_ERR 5u

/* reject_stat */
#define RPC_MISMATCH 0u
#define RPC_AUTH_ERROR 1u

/* auth_stat */
#define RPC_AUTH_BADCRED 1u
#define RPC_AUTH_REJECTEDCRED 2u
#define RPC_AUTH_BADVERF 3u
#define RPC_AUTH_REJECTEDVERF 4u

/* auth_flavor */
#define RPC_AUTH_NONE 0u
#define RPC_AUTH_SYS 1u
#define RPC_AUTH_MAX_BYTES 400u /* longest body of a credential or verifier */

/* ------------------------------------------------------------------------------------ ports and addresses */
#define RPC_PORT_PORTMAPPER 111u
#define UDP_PORT_ECHO 7u             /* no RPC: every datagram comes back as it is (RFC 862) */
#define RPC_PORT_SERVICES 20049u     /* of all programs of the server */
#define RPC_IPV4_DEFAULT 0x0a000002u /* 10.0.0.2 unless the board says otherwise */

/* ------------------------------------------------------------------------------------- portmapper, RFC 1833 */
#define RPC_PROGRAM_PORTMAPPER 100000u
#define PORTMAPPER_VERSION 2u
#define PORTMAPPER_NULL 0u
#define PORTMAPPER_SET 1u     /* {program, version, protocol, port} -> bool */
#define PORTMAPPER_UNSET 2u   /* {program, version, ignored, ignored} -> bool */
#define PORTMAPPER_GETPORT 3u /* {program, version, protocol, ignored} -> port, 0 if there is none */
#define PORTMAPPER_DUMP 4u    /* {} -> list of {1, program, version, protocol, port}, then 0 */
/* {program, version, procedure, opaque arguments} -> {port, opaque result}; silent on error */
#define PORTMAPPER_CALLIT 5u
#define PORTMAPPER_PROTOCOL_TCP 6u
#define PORTMAPPER_PROTOCOL_UDP 17u

/* --------------------------------------------------------------------------------- the programs of the server
 * Each has a header in this folder with its number, version, procedures and layouts, and a file in firmware/programs
 * that serves it. The numbers are in RPC's user range and consecutive, so that the server finds a program by one look
 * into a table. */
#define RPC_PROGRAM_FIRST 0x20000001u
#define RPC_PROGRAM_SLOTS 16u
#define RPC_PROGRAM_LAST (RPC_PROGRAM_FIRST + RPC_PROGRAM_SLOTS - 1)
