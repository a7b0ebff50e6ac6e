/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/ring_protocol.h: what host_rings.c and card_answers.c agree on. */
#pragma once

/* Scratchpads. */
#define RING_PAD_READY 0u    /* the card waits */
#define RING_PAD_IDENTITY 1u /* of messages; 0: it takes doorbells only */
#define RING_PAD_HOST 2u     /* PCIe address of two words of the host: a question, and the card's answer */
#define RING_READY 0x0072656164790001ul

/* Words of the card's page. */
#define RING_WORD_QUESTION 0u
#define RING_WORD_ANSWER 8u

/* Doorbells that the host rings: 0 to 61 each in its turn, and: */
#define RING_RESET 62u           /* the card resets itself, and says that it waits when it has begun anew */
#define RING_MESSAGE (1ul << 63) /* no doorbell, but a message */
