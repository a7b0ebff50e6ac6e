/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/mbuf.h: what an image must know that links mbuf.c. */
#pragma once

#define NIC_MBUF_BURST 64u /* most frames of one receive(), instead of NIC_BURST */
