/* firmware/apps/kv.h: key-value store in fixed memory, shared by all harts. */
#pragma once

#define KV_BUCKETS 4096u
#define KV_BUCKET_ENTRIES 8u /* keys of one bucket; one more is refused with KV_FULL */

/* Takes the store's memory and empties it. Hart 0, once, before any call. */
void kv_setup(void);
