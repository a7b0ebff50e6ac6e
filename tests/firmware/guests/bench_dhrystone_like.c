/* SPDX-License-Identifier: Apache-2.0 */
/* The mix of systems programs that Dhrystone stands for: assignments of records, calls with few parameters, copies and
 * comparisons of strings, branches on enumerations, small arrays. Our own program: its figures compare simulators, not
 * processors. */
#include "guest.h"

#ifndef ROUNDS
#define ROUNDS 4000000
#endif

enum kind { red, green, blue, none };

#define ALIGNED __attribute__((aligned(8)))

struct record {
  struct record* next;
  enum kind kind, shade;
  int number;
  char name[32] ALIGNED;
};

static struct record first, second;
static int row[50], table[50][50];
static int total;
static char letter;
static char name_one[32] ALIGNED, name_two[32] ALIGNED;

static const char text_record[32] ALIGNED = "A RECORD THAT IS COPIED AROUND";
static const char text_one[32] ALIGNED = "A TEXT THAT IS COMPARED, NO. 1";
static const char text_two[32] ALIGNED = "A TEXT THAT IS COMPARED, NO. 2";
static const char text_three[32] ALIGNED = "A TEXT THAT IS COMPARED, NO. 3";

/* Not inlined, as if defined in another file: the calls are part of the load. */
#define CALLED __attribute__((noinline))

/* By words, as C libraries do; both texts are aligned. */
typedef unsigned long __attribute__((may_alias)) word;

static int has_end(word w) { return ((w - 0x0101010101010101ul) & ~w & 0x8080808080808080ul) != 0; }

static CALLED void copy_text(char* to, const char* from) {
  word w;
  while (!has_end(w = *(const word*)from)) {
    *(word*)to = w;
    from += sizeof w;
    to += sizeof w;
  }
  while ((*to++ = *from++)) {
  }
}

static CALLED int compare_text(const char* a, const char* b) {
  word w;
  while ((w = *(const word*)a) == *(const word*)b) {
    if (has_end(w)) return 0;
    a += sizeof w;
    b += sizeof w;
  }
  while (*a && *a == *b) ++a, ++b;
  return (unsigned char)*a - (unsigned char)*b;
}

static CALLED enum kind next_kind(enum kind k, int limit) {
  switch (k) {
    case red:
      return limit > 100 ? red : blue;
    case green:
      return none;
    case blue:
      return green;
    default:
      return red;
  }
}

static CALLED int same_letter(char a, char b) {
  const char seen = a;
  if (seen != b) return 0;
  letter = seen;
  return 1;
}

static CALLED void sum_of(int a, int b, int* result) { *result = b + a + 2; }

static CALLED void fill(int* line, int (*square)[50], int at, int value) {
  const int i = at + 5;
  line[i] = value;
  line[i + 1] = line[i];
  line[i + 30] = i;
  for (int k = i; k <= i + 1; ++k) square[i][k] = i;
  ++square[i][i - 1];
  square[i + 20][i] = line[i];
  total = 5;
}

static CALLED int ordered(const char* a, const char* b) {
  int at = 2;
  while (at <= 2)
    if (!same_letter(a[at], b[at + 1])) ++at;
  if (compare_text(a, b) > 0) {
    total += at + 7;
    return 1;
  }
  return 0;
}

static CALLED void visit(struct record* r) {
  struct record* const next = r->next;
  *next = *r;
  r->number = 5;
  next->number = r->number;
  next->next = r->next;
  if (next->kind == red) {
    next->number = 6;
    next->shade = next_kind(r->shade, total);
    next->next = first.next;
    sum_of(next->number, 10, &next->number);
  } else {
    *r = *next;
  }
}

int main(void) {
  first.next = &second;
  second.next = &first;
  first.kind = red;
  first.shade = blue;
  first.number = 40;
  copy_text(first.name, text_record);
  copy_text(name_one, text_one);
  unsigned check = 0;
  int two = 0, seven = 0;
  for (int round = 1; round <= ROUNDS; ++round) {
    int one = 2;
    letter = 'A';
    two = 3;
    copy_text(name_two, text_two);
    enum kind k = ordered(name_one, name_two) ? red : green;
    while (one < two) {
      seven = 5 * one - two;
      sum_of(one, two, &seven);
      ++one;
    }
    fill(row, table, one, seven);
    first.next = &second;
    visit(&first);
    for (char c = 'A'; c <= letter; ++c)
      if (k == next_kind(red, c)) {
        copy_text(name_two, text_three);
        two = round;
      }
    two = two * one;
    one = two / seven;
    two = 7 * (two - seven) - one;
    check = check * 31 + (unsigned)(one ^ two ^ total ^ second.number ^ (int)k);
  }
  put_hex(check);
  return 0;
}
