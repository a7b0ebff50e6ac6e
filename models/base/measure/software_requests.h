/* SPDX-License-Identifier: Apache-2.0 */
/* models/base/measure/software_requests.h: requests of the ledger that software opens and completes, by the hints of
 * hints.h. Freestanding C that C++ also accepts. */
#pragma once

#define SLUICE_COMPLETE 512 /* as probe's immediate operand */
/* What a request is that software opens: its first stage, and the number by which the workload knows it. */
#define SLUICE_OPEN(stage, number) ((unsigned long)(number) << 8 | (stage))

#ifdef __cplusplus
namespace sluice::base {

/* Whether software may open requests. Off unless a workload wants them: any other counts those of its own. */
inline bool software_opens_requests = false;

}  // namespace sluice::base
#endif
