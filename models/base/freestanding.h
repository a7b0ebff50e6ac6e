/* SPDX-License-Identifier: Apache-2.0 */
/* models/base/freestanding.h: maps _Static_assert to C++'s static_assert, so that C and C++ share register headers. */
#pragma once

#ifdef __cplusplus
#define _Static_assert static_assert  // NOLINT(bugprone-reserved-identifier): C++ has no other word for it
#endif
