// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/link/message_capture.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "models/coherence/link/register_path.h"

namespace sluice::coherence {
namespace {

// In place of the kind.
constexpr char kRegister = '\xff', kHost = '\xfe';

template <class T>
void put(std::string& out, T value) {
  for (unsigned i = 0; i < sizeof value; ++i) out.push_back(static_cast<char>(value >> 8 * i));
}

std::uint64_t address_of(const CoherentMessage& m) { return m.access ? m.access->transaction.get_address() : m.line; }

/// The bytes that the message carries: all of a line's, and of a register those that are accessed.
std::string_view content(const CoherentMessage& m) {
  const std::size_t bytes = m.format.content_bytes;
  if (m.host.path) return {reinterpret_cast<const char*>(m.bytes.data()), std::min<std::size_t>(bytes, m.host.bytes)};
  if (!m.access) return {reinterpret_cast<const char*>(m.bytes.data()), bytes};
  const tlm::tlm_generic_payload& t = m.access->transaction;
  return {reinterpret_cast<const char*>(t.get_data_ptr()), std::min<std::size_t>(bytes, t.get_data_length())};
}

}  // namespace

std::string to_line(const CoherentMessage& m) {
  const std::string what = m.access ? "register" : m.host.path ? "memory" : "line";
  const std::size_t bytes = content(m).size();
  const std::string carried = bytes == 0 ? "" : fmt::format("  {} B", bytes);
  const std::string cache = m.access || m.host.path ? "" : fmt::format("  cache {}", m.cache);
  return fmt::format("{:<20} {} {:#x}{}{}", m.format.name, what, address_of(m), cache, carried);
}

std::string to_bytes(const CoherentMessage& m) {
  const std::string_view name = m.format.name, bytes = content(m);
  std::string out;
  out.push_back(m.access ? kRegister : m.host.path ? kHost : static_cast<char>(m.what.kind));
  out.push_back(static_cast<char>(m.cache));
  out.push_back(static_cast<char>(m.channel()));
  out.push_back(static_cast<char>(name.size()));
  put(out, address_of(m));
  put(out, static_cast<std::uint16_t>(bytes.size()));
  return out.append(name).append(bytes);
}

void capture(CoherentLink& link, base::LinkCapture& to) { to.watch(link.down(), link.up(), to_line, to_bytes); }

}  // namespace sluice::coherence
