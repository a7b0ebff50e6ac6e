/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic_mbuf.h: what an image must know that links nic_mbuf.c. */
#pragma once

#define NIC_MBUF_BURST 64u /* most frames of one receive(), instead of NIC_BURST */
