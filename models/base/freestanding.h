/* models/base/freestanding.h: lets one register header serve freestanding C and C++ (which spells it static_assert). */
#pragma once

#ifdef __cplusplus
#define _Static_assert static_assert  // NOLINT(bugprone-reserved-identifier): C++ has no other word for it
#endif
