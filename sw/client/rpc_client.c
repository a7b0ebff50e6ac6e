/* SPDX-License-Identifier: Apache-2.0 */
/* sw/client/rpc_client.c: makes checked calls to the firmware's services with libtirpc and code that rpcgen made from
 * protocols/rpc/services.x, as any program on a real network would.
 *
 *   rpc-client HOST [CALLS]
 *
 * Finds the services through HOST's portmapper, makes CALLS calls (default 2,000) over UDP in turn through all
 * procedures with generated arguments, and checks every result. Exit status: 0 if every call returned the right result,
 * 1 if one did not, 2 if the command line is wrong. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services.h"

#define KEYS 50
#define DATA_MOST 1428 /* what one Ethernet frame holds */
#define VALUES_MOST 357

static CLIENT *calc, *echo, *kv;
static unsigned long calls_made;

static _Noreturn void fail(CLIENT* client, const char* what) {
  fprintf(stderr, "rpc-client: call %lu: %s%s\n", calls_made, what, client != NULL ? clnt_sperror(client, "") : "");
  exit(1);
}

/* SplitMix64: the same arguments in every run. */
static uint64_t random_state = 1;
static uint32_t random_number(uint32_t below) {
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ (z >> 31)) >> 32) % below;
}

static void fill(char* data, uint32_t length) {
  for (uint32_t i = 0; i < length; i++) data[i] = (char)random_number(256);
}

static void check_null(void) {
  if (calc_null_1(NULL, calc) == NULL) fail(calc, "calc NULL");
  if (echo_null_1(NULL, echo) == NULL) fail(echo, "echo NULL");
  if (kv_null_1(NULL, kv) == NULL) fail(kv, "kv NULL");
  calls_made += 3;
}

static void check_add(void) {
  pair_t pair = {(int)random_number(UINT32_MAX), (int)random_number(UINT32_MAX)};
  int* sum = calc_add_1(&pair, calc);
  if (sum == NULL) fail(calc, "calc ADD");
  if ((uint32_t)*sum != (uint32_t)pair.a + (uint32_t)pair.b) fail(NULL, "calc ADD: wrong sum");
  calls_made++;
}

static void check_checksum(void) {
  char bytes[DATA_MOST];
  data_t data = {random_number(DATA_MOST + 1), bytes};
  fill(bytes, data.data_t_len);
  u_int* sum = calc_checksum_1(&data, calc);
  if (sum == NULL) fail(calc, "calc CHECKSUM");
  uint32_t a = 1, b = 0; /* Adler-32 */
  for (u_int i = 0; i < data.data_t_len; i++) {
    a = (a + (unsigned char)bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  if (*sum != (b << 16 | a)) fail(NULL, "calc CHECKSUM: wrong checksum");
  calls_made++;
}

static int compare(const void* x, const void* y) {
  int a = *(const int*)x, b = *(const int*)y;
  return (a > b) - (a < b);
}

static void check_spin(void) {
  u_int nanoseconds = random_number(1000);
  if (calc_spin_1(&nanoseconds, calc) == NULL) fail(calc, "calc SPIN");
  calls_made++;
}

static void check_sort(void) {
  int numbers[VALUES_MOST];
  values_t values = {random_number(VALUES_MOST + 1), numbers};
  for (u_int i = 0; i < values.values_t_len; i++) numbers[i] = (int)random_number(UINT32_MAX);
  values_t* sorted = calc_sort_1(&values, calc);
  if (sorted == NULL) fail(calc, "calc SORT");
  qsort(numbers, values.values_t_len, sizeof numbers[0], compare);
  if (sorted->values_t_len != values.values_t_len ||
      (values.values_t_len != 0 &&
       memcmp(sorted->values_t_val, numbers, values.values_t_len * sizeof numbers[0]) != 0)) {
    fail(NULL, "calc SORT: not the sorted values");
  }
  clnt_freeres(calc, (xdrproc_t)xdr_values_t, (caddr_t)sorted);
  calls_made++;
}

static void check_echo(void) {
  char bytes[DATA_MOST];
  data_t data = {random_number(DATA_MOST + 1), bytes};
  fill(bytes, data.data_t_len);
  data_t* back = echo_echo_1(&data, echo);
  if (back == NULL) fail(echo, "echo ECHO");
  if (back->data_t_len != data.data_t_len ||
      (data.data_t_len != 0 && memcmp(back->data_t_val, bytes, data.data_t_len) != 0)) {
    fail(NULL, "echo ECHO: other bytes came back");
  }
  clnt_freeres(echo, (xdrproc_t)xdr_data_t, (caddr_t)back);
  calls_made++;
}

/* What the store must hold. */
static struct {
  int stored;
  u_int length;
  char value[KV_VALUE_MAX];
} shadow[KEYS];

static void check_put(uint32_t n) {
  char key[32], value[KV_VALUE_MAX];
  put_args_t args;
  args.key.key_data_t_len = (u_int)snprintf(key, sizeof key, "key number %u", n);
  args.key.key_data_t_val = key;
  args.value.value_data_t_len = random_number(KV_VALUE_MAX + 1);
  args.value.value_data_t_val = value;
  fill(value, args.value.value_data_t_len);
  int* status = kv_put_1(&args, kv);
  if (status == NULL) fail(kv, "kv PUT");
  if (*status != 0) fail(NULL, "kv PUT: the store is full");
  shadow[n].stored = 1;
  shadow[n].length = args.value.value_data_t_len;
  memcpy(shadow[n].value, value, shadow[n].length);
  calls_made++;
}

/* A key that this run has not stored may be there from an earlier one. */
static void check_get(uint32_t n) {
  char key[32];
  key_data_t name = {(u_int)snprintf(key, sizeof key, "key number %u", n), key};
  get_result_t* result = kv_get_1(&name, kv);
  if (result == NULL) fail(kv, "kv GET");
  if (shadow[n].stored) {
    const value_data_t* value = &result->get_result_t_u.value;
    if (result->status != 0) fail(NULL, "kv GET: a stored key is not there");
    if (value->value_data_t_len != shadow[n].length ||
        (shadow[n].length != 0 && memcmp(value->value_data_t_val, shadow[n].value, shadow[n].length) != 0)) {
      fail(NULL, "kv GET: not the value that was stored");
    }
  }
  clnt_freeres(kv, (xdrproc_t)xdr_get_result_t, (caddr_t)result);
  calls_made++;
}

/* Calls that must be refused, each for its own reason. */
static void check_refusals(const char* host) {
  struct timeval timeout = {5, 0};
  if (clnt_call(calc, 99, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, timeout) != RPC_PROCUNAVAIL) {
    fail(calc, "procedure 99 was not refused as unavailable");
  }
  if (clnt_call(calc, CALC_ADD, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, timeout) != RPC_CANTDECODEARGS) {
    fail(calc, "ADD without arguments was not refused as garbage");
  }
  CLIENT* other = clnt_create(host, CALC, 7, "udp");
  if (other == NULL) fail(NULL, clnt_spcreateerror("version 7"));
  if (clnt_call(other, 0, (xdrproc_t)xdr_void, NULL, (xdrproc_t)xdr_void, NULL, timeout) != RPC_PROGVERSMISMATCH) {
    fail(other, "version 7 was not refused with the range");
  }
  clnt_destroy(other);
  calls_made += 3;
}

static CLIENT* connect_to(const char* host, rpcprog_t program, rpcvers_t version) {
  CLIENT* client = clnt_create(host, program, version, "udp");
  if (client == NULL) fail(NULL, clnt_spcreateerror(host));
  return client;
}

int main(int argc, char** argv) {
  char* end = "";
  unsigned long calls = argc > 2 ? strtoul(argv[2], &end, 10) : 2000;
  if (argc < 2 || argc > 3 || *end != 0 || calls == 0 || (argc > 2 && (argv[2][0] < '0' || argv[2][0] > '9'))) {
    fprintf(stderr, "usage: rpc-client HOST [CALLS]\n");
    return 2;
  }
  calc = connect_to(argv[1], CALC, CALC_V1);
  echo = connect_to(argv[1], ECHO, ECHO_V1);
  kv = connect_to(argv[1], KV, KV_V1);

  check_refusals(argv[1]);
  check_null();
  while (calls_made < calls) {
    switch (random_number(7)) {
      case 0:
        check_add();
        break;
      case 1:
        check_checksum();
        break;
      case 2:
        check_sort();
        break;
      case 3:
        check_echo();
        break;
      case 4:
        check_spin();
        break;
      case 5:
        check_put(random_number(KEYS));
        break;
      default:
        check_get(random_number(KEYS));
        break;
    }
  }
  printf("rpc-client: %lu calls, every result right\n", calls_made);
  return 0;
}
