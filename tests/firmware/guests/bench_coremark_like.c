/* SPDX-License-Identifier: Apache-2.0 */
/* The mix of embedded benchmarks such as CoreMark: list walking and sorting, a small matrix, a byte-wise state machine,
 * and a CRC of each result. Our own program: its figures compare simulators, not processors. */
#include "guest.h"

#ifndef ROUNDS
#define ROUNDS 30000
#endif

struct node {
  struct node* next;
  short value, key;
};
static struct node nodes[64];
static short a[12][12], b[12][12];
static int c[12][12];
static const char text[] = "12,-7.5e3,+88,0x1f,,abc,3.14,-0,99999,7e-2,";

static unsigned crc16(unsigned v, unsigned crc) {
  for (int i = 0; i < 16; ++i) {
    const unsigned bit = (v ^ crc) & 1;
    crc >>= 1;
    if (bit) crc ^= 0xa001;
    v >>= 1;
  }
  return crc;
}

static struct node* reverse(struct node* l) {
  struct node* out = 0;
  while (l) {
    struct node* n = l->next;
    l->next = out;
    out = l;
    l = n;
  }
  return out;
}

static struct node* merge_sort(struct node* l) {
  for (int k = 1;; k *= 2) {
    struct node *p = l, *tail = 0;
    int merges = 0;
    l = 0;
    while (p) {
      struct node* q = p;
      int ps = 0, qs = k;
      ++merges;
      while (ps < k && q) ++ps, q = q->next;
      while (ps > 0 || (qs > 0 && q)) {
        struct node* e;
        if (ps == 0 || (qs > 0 && q && q->key < p->key))
          e = q, q = q->next, --qs;
        else
          e = p, p = p->next, --ps;
        if (tail)
          tail->next = e;
        else
          l = e;
        tail = e;
      }
      p = q;
    }
    tail->next = 0;
    if (merges <= 1) return l;
  }
}

static unsigned lists(unsigned seed) {
  for (int i = 0; i < 64; ++i) {
    seed = seed * 1103515245u + 12345u;
    nodes[i].value = (short)(seed >> 16);
    nodes[i].key = (short)(seed >> 20 & 0xff);
    nodes[i].next = i < 63 ? &nodes[i + 1] : 0;
  }
  struct node* l = reverse(merge_sort(reverse(nodes)));
  unsigned sum = 0;
  for (; l; l = l->next) sum = sum * 31 + (unsigned)(l->key ^ l->value);
  return sum;
}

static unsigned matrix(unsigned seed) {
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j)
      a[i][j] = (short)(seed + (unsigned)(i * j)), b[i][j] = (short)(i - j + (int)(seed & 7));
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) {
      int s = 0;
      for (int k = 0; k < 12; ++k) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
  unsigned sum = 0;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) sum += (unsigned)(c[i][j] >> 2) ^ sum << 1;
  return sum;
}

static unsigned machine(unsigned seed) {
  unsigned counts[8] = {0}, state = 0;
  for (unsigned i = 0; i < sizeof text - 1; ++i) {
    const char ch = (char)(text[i] ^ (i == seed % 40 ? 1 : 0));
    switch (state) {
      case 0:
        state = ch == '+' || ch == '-' ? 1 : ch >= '0' && ch <= '9' ? 2 : ch == ',' ? 0 : 6;
        break;
      case 1:
        state = ch >= '0' && ch <= '9' ? 2 : 6;
        break;
      case 2:
        state = ch == '.' ? 3 : ch == 'e' ? 4 : ch == ',' ? 0 : ch >= '0' && ch <= '9' ? 2 : 6;
        break;
      case 3:
        state = ch == 'e' ? 4 : ch == ',' ? 0 : ch >= '0' && ch <= '9' ? 3 : 6;
        break;
      case 4:
        state = ch == '-' ? 5 : ch >= '0' && ch <= '9' ? 5 : 6;
        break;
      case 5:
        state = ch == ',' ? 0 : 5;
        break;
      default:
        state = ch == ',' ? 0 : 6;
        break;
    }
    ++counts[state];
  }
  unsigned sum = 0;
  for (int i = 0; i < 8; ++i) sum = sum * 17 + counts[i];
  return sum;
}

int main(void) {
  unsigned crc = 0, seed = 1;
  for (int r = 0; r < ROUNDS; ++r) {
    crc = crc16(lists(seed), crc);
    crc = crc16(matrix(seed), crc);
    crc = crc16(machine(seed), crc);
    seed = seed * 69069u + 1;
  }
  put_hex(crc);
  return 0;
}
