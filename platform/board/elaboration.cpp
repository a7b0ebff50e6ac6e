#include "platform/board/elaboration.h"

namespace sluice::platform {
namespace {
std::string called;
}

const std::string& ElaborationMark::current() { return called; }

void ElaborationMark::now() const { called = path_; }

}  // namespace sluice::platform
