// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any bytes from a debugger. The first byte cuts the rest into pieces as a network would. Whatever the
// bytes are, the session sends only packets with good checksums, and a session that has not ended answers afterwards as
// if nothing had happened.

#include <algorithm>
#include <cstdlib>

#include "tests/unit/platform/gdb_fake_target.h"

using namespace sluice::debug;

namespace {

void require(bool good) {
  if (!good) std::abort();
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// The packets in a session's output, which may have nothing else but acknowledgements and requests to send again.
std::vector<std::string> packets_of(const std::string& output) {
  std::vector<std::string> packets;
  PacketReader reader;
  reader.feed(bytes_of(output));
  for (Received r = reader.next(); r != Received::nothing; r = reader.next()) {
    require(r == Received::packet || r == Received::acknowledged || r == Received::refused);
    if (r == Received::packet) packets.push_back(reader.payload());
  }
  return packets;
}

std::string ask(Session& session, const std::string& packet) {
  session.receive(bytes_of(make_packet(packet)));
  const auto answers = packets_of(session.take_output());
  require(answers.size() == 1);
  return answers.front();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  FakeTarget target;
  Session session(target);
  for (std::size_t at = 1; at < size; at += piece) {
    session.receive({data + at, std::min(piece, size - at)});
    if (session.state() == Session::State::running) {
      require(session.actions().size() == target.threads());
      session.stopped({Stop::Kind::watch, session.interrupted() ? 2u : 1u, WatchKind::read, 0x1000});
    }
    packets_of(session.take_output());
    if (session.state() == Session::State::killed || session.state() == Session::State::detached) break;
  }
  session.receive(bytes_of("#00"));  // ends a packet that has begun
  if (session.state() == Session::State::running) session.stopped({});
  session.take_output();
  if (session.state() == Session::State::stopped) {
    require(ask(session, "Hg1") == "OK");
    require(ask(session, "P5=8877665544332211") == "OK");
    require(ask(session, "p5") == "8877665544332211");
    require(ask(session, "M10fe,2:a55a") == "OK");
    require(ask(session, "m10fe,4") == "a55a");
    require(ask(session, "vMustReplyEmpty").empty());
  }
  session.ended(0);
  packets_of(session.take_output());
  return 0;
}
