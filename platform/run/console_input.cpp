// SPDX-License-Identifier: Apache-2.0
#include "platform/run/console_input.h"

#include <array>
#include <cerrno>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice::platform {

Console::Console(uart::Uart& uart, base::Inputs& inputs)
    : inputs_(inputs), channel_(inputs.open(kChannel, [&uart](base::Inputs::Bytes bytes) {
        uart.input({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      })) {}

bool Console::available() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  return ::isatty(STDIN_FILENO) == 1 || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISREG(status.st_mode);
}

void Console::connect(base::Pacer& pacer) {
  pacer.watch(STDIN_FILENO, [this] { return take_characters(); });
}

/// Called when standard input can be read, so one read() does not wait.
bool Console::take_characters() {
  std::array<std::uint8_t, 256> buffer;
  const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (n > 0) inputs_.arrive(channel_, {buffer.data(), static_cast<std::size_t>(n)});
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace sluice::platform
