/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/programs/kv_limits.h: how many keys the server of kv has room for. */
#pragma once

#define KV_BUCKETS 4096u
#define KV_BUCKET_ENTRIES 8u /* keys of one bucket; one more is refused with KV_FULL */
