// SPDX-License-Identifier: Apache-2.0
#include "platform/board/elaboration_mark.h"

namespace sluice::platform {
namespace {
std::string called;
}

const std::string& ElaborationMark::current() { return called; }

void ElaborationMark::now() const { called = path_; }

}  // namespace sluice::platform
