/* SPDX-License-Identifier: Apache-2.0 */
/* Ends at once: what a machine takes to start and to end. */
#include "guest.h"

int main(void) { return 0; }
