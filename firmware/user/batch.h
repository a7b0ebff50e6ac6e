/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/batch.h: where the batch process has what its kernel maps for it. */
#pragma once

/* One page: units of work that each thread has done, 8 bytes each. */
#define BATCH_UNITS 0x3fd0000000ul
