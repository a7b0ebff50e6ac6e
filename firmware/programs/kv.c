/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/programs/kv.c: for each instance a hash table of buckets with a lock each, in fixed memory, shared by all
 * harts. */
#include "protocols/rpc/kv.h"

#include "firmware/kernel/memory.h"
#include "firmware/kernel/spinlock.h"
#include "firmware/programs/kv_limits.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"

struct entry {
  uint32_t key_length, value_length;
  uint8_t key[KV_KEY_MAX];
  uint8_t value[KV_VALUE_MAX];
};

/* The hashes lie apart from the entries, so that a search reads only the entries whose hash matches. */
struct bucket {
  struct spinlock lock;
  uint32_t used;
  uint32_t hash[KV_BUCKET_ENTRIES];
};

struct table {
  struct bucket* buckets;
  struct entry* entries;
};
static struct table tables[RPC_INSTANCES_MOST];

static void table_setup(struct table* t) {
  t->buckets = memory_reserve(KV_BUCKETS * sizeof *t->buckets, 64);
  t->entries = memory_reserve((size_t)KV_BUCKETS * KV_BUCKET_ENTRIES * sizeof *t->entries, 64);
  for (uint32_t i = 0; i < KV_BUCKETS; i++) {
    t->buckets[i].lock = (struct spinlock){0, 0};
    t->buckets[i].used = 0;
  }
}

static void kv_setup(void) {
  const uint32_t instances = rpc_instances("kv");
  for (uint32_t i = 0; i < instances; i++) table_setup(&tables[i]);
}

/* FNV-1a and one more mixing step, because the low bits of the hash choose the bucket. */
static uint32_t hash_of(const uint8_t* key, uint32_t length) {
  uint32_t hash = 2166136261u;
  for (uint32_t i = 0; i < length; i++) hash = (hash ^ key[i]) * 16777619u;
  hash = (hash ^ hash >> 15) * 0x2c1b3c6du;
  return hash ^ hash >> 12;
}

/* The key's entry, or 0. The caller has locked the bucket. */
static struct entry* find(const struct bucket* bucket, struct entry* first, uint32_t hash, const uint8_t* key,
                          uint32_t length) {
  for (uint32_t i = 0; i < bucket->used; i++) {
    if (bucket->hash[i] != hash || first[i].key_length != length) continue;
    if (__builtin_memcmp(first[i].key, key, length) == 0) return &first[i];
  }
  return 0;
}

static int32_t get(struct rpc_call* call) {
  uint32_t length = call->args[0];
  const uint8_t* key = (const uint8_t*)(call->args + 1);
  if (call->result_room < 8 + KV_VALUE_MAX) return RPC_REFUSE_SYSTEM_ERR;
  uint32_t hash = hash_of(key, length);
  const struct table* t = &tables[rpc_instance_of(call)];
  struct bucket* bucket = &t->buckets[hash % KV_BUCKETS];
  spinlock_take(&bucket->lock);
  const struct entry* entry = find(bucket, t->entries + hash % KV_BUCKETS * KV_BUCKET_ENTRIES, hash, key, length);
  if (entry == 0) {
    spinlock_give(&bucket->lock);
    call->result[0] = KV_NOT_FOUND;
    return 4;
  }
  uint32_t value_length = entry->value_length;
  __builtin_memcpy(call->result + 2, entry->value, value_length);
  spinlock_give(&bucket->lock);
  call->result[0] = KV_OK;
  call->result[1] = value_length;
  return (int32_t)(8 + xdr_padded(value_length));
}

static int32_t put(struct rpc_call* call) {
  uint32_t length = call->args[0];
  const uint8_t* key = (const uint8_t*)(call->args + 1);
  const uint32_t* of_value = call->args + 1 + xdr_padded(length) / 4;
  uint32_t value_length = of_value[0];
  const uint8_t* value = (const uint8_t*)(of_value + 1);
  uint32_t hash = hash_of(key, length);
  const struct table* t = &tables[rpc_instance_of(call)];
  struct bucket* bucket = &t->buckets[hash % KV_BUCKETS];
  struct entry* first = t->entries + hash % KV_BUCKETS * KV_BUCKET_ENTRIES;
  uint32_t status = KV_OK;
  spinlock_take(&bucket->lock);
  struct entry* entry = find(bucket, first, hash, key, length);
  if (entry == 0 && bucket->used < KV_BUCKET_ENTRIES) {
    bucket->hash[bucket->used] = hash;
    entry = &first[bucket->used++];
    entry->key_length = length;
    __builtin_memcpy(entry->key, key, length);
  }
  if (entry != 0) {
    entry->value_length = value_length;
    __builtin_memcpy(entry->value, value, value_length);
  } else {
    status = KV_FULL;
  }
  spinlock_give(&bucket->lock);
  call->result[0] = status;
  return 4;
}

RPC_PROGRAM(kv, kv_setup, [KV_NULL] = rpc_null, [KV_GET] = get, [KV_PUT] = put)
