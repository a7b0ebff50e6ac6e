/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/console.c */
#include "firmware/kernel/console.h"

#include <stdarg.h>
#include <stdbool.h>

#include "firmware/drivers/uart.h"

static void put_number(unsigned long value, unsigned base, int width, char fill, bool negative) {
  char digits[24];
  int n = 0;
  do {
    digits[n++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  if (negative) digits[n++] = '-';
  for (int i = n; i < width; i++) uart_put(fill);
  while (n > 0) uart_put(digits[--n]);
}

static void put_string(const char* s) {
  while (*s != 0) uart_put(*s++);
}

void print(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (const char* p = format; *p != 0; p++) {
    if (*p != '%') {
      uart_put(*p);
      continue;
    }
    char fill = ' ';
    int width = 0;
    bool wide = false;
    p++;
    if (*p == '0') fill = *p++;
    while (*p >= '0' && *p <= '9') width = width * 10 + (*p++ - '0');
    if (*p == 'l') wide = true, p++;
    switch (*p) {
      case 's':
        put_string(va_arg(arguments, const char*));
        break;
      case 'c':
        uart_put((char)va_arg(arguments, int));
        break;
      case 'd': {
        long value = wide ? va_arg(arguments, long) : va_arg(arguments, int);
        put_number(value < 0 ? -(unsigned long)value : (unsigned long)value, 10, width, fill, value < 0);
        break;
      }
      case 'p':
        wide = true;
        __attribute__((fallthrough));
      case 'x':
      case 'u': {
        unsigned long value = wide ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned);
        put_number(value, *p == 'u' ? 10 : 16, width, fill, false);
        break;
      }
      default:
        uart_put(*p);
        break;
    }
  }
  va_end(arguments);
}
