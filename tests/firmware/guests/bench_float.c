/* SPDX-License-Identifier: Apache-2.0 */
/* Double and single precision matrix products. */
#include "guest.h"

#ifndef ROUNDS
#define ROUNDS 40
#endif

static double a[48][48], b[48][48], c[48][48];
static float s[48][48], t[48][48];

int main(void) {
  for (int i = 0; i < 48; ++i)
    for (int j = 0; j < 48; ++j) a[i][j] = i * 0.25 - j, b[i][j] = 1.0 / (i + j + 1), s[i][j] = (float)(i - j) * 0.125f;
  for (int r = 0; r < ROUNDS; ++r) {
    for (int i = 0; i < 48; ++i)
      for (int j = 0; j < 48; ++j) {
        double sum = 0;
        float sums = 0;
        for (int k = 0; k < 48; ++k) sum += a[i][k] * b[k][j], sums += s[i][k] * s[k][j];
        c[i][j] = sum;
        t[i][j] = sums;
      }
    a[r % 48][1] = c[2][r % 48] / 3;
    s[r % 48][3] = t[1][2] / 1024;
  }
  union {
    double d;
    unsigned long u;
  } v = {c[17][23] + t[5][7]};
  put_hex(v.u);
  return 0;
}
