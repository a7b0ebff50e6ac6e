// libFuzzer: any bytes from a debugger. The first byte cuts the rest into pieces as a network would.

#include <algorithm>
#include <cstdlib>

#include "tests/unit/gdb_fake_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::debug;
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  FakeTarget target;
  Session session(target);
  for (std::size_t at = 1; at < size; at += piece) {
    session.receive({data + at, std::min(piece, size - at)});
    if (session.state() == Session::State::running) {
      if (session.actions().size() != target.threads()) std::abort();
      session.stopped({Stop::Kind::watch, session.interrupted() ? 2u : 1u, WatchKind::read, 0x1000});
    }
    session.take_output();
    if (session.state() == Session::State::killed || session.state() == Session::State::detached) break;
  }
  session.ended(0);
  return 0;
}
