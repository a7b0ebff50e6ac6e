// SPDX-License-Identifier: Apache-2.0
#include "models/net/tap.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sluice::net {
namespace {

constexpr const char* kDevice = "/dev/net/tun";

/// Says why the kernel does not give us the interface.
std::string reason(const std::string& name, int error) {
  if (error == EPERM)
    return "not permitted; run as root, or let root make it for you: ip tuntap add mode tap user $USER name " + name;
  if (error == EBUSY) return "another program uses it";
  if (error == EINVAL) return "is an interface, but no TAP interface";
  return std::strerror(error);
}

int open_tap(const std::string& name) {
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name || name.find_first_of("/%: \t\n") != std::string::npos)
    throw std::runtime_error("an interface's name has 1 to 15 characters, and no '/', '%', ':' or space");
  const int file = ::open(kDevice, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    const char* hint = errno == EACCES ? "; run as root" : "";
    throw std::runtime_error(std::string(kDevice) + " cannot be opened: " + std::strerror(errno) + hint);
  }
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::memcpy(request.ifr_name, name.data(), name.size());
  if (::ioctl(file, TUNSETIFF, &request) == 0) return file;
  const int error = errno;
  ::close(file);
  throw std::runtime_error(reason(name, error));
}

}  // namespace

TapDevice::TapDevice(const std::string& name) : file_(open_tap(name)) {}

TapDevice::~TapDevice() { ::close(file_); }

TapDevice::Read TapDevice::read(std::span<std::uint8_t> buffer, std::size_t& length) {
  const ssize_t n = ::read(file_, buffer.data(), buffer.size());
  if (n < 0) return errno == EAGAIN || errno == EINTR ? Read::nothing : Read::gone;
  length = static_cast<std::size_t>(n);
  return Read::frame;
}

bool TapDevice::write(std::span<const std::uint8_t> frame) {
  return ::write(file_, frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

TapEnd::TapEnd(const sc_core::sc_module_name& name, Wire& wire, Wire::End end, base::Inputs& inputs)
    : Model(name),
      wire_(wire),
      end_(end),
      inputs_(inputs),
      channel_(inputs.open(path(), [this](base::Inputs::Bytes frame) { inject(frame); })) {
  wire.attach(end, *this);
}

void TapEnd::register_statistics(base::StatisticsGroup& group) {
  group.counter("received", "frames", "from outside, given to the wire", counts_.received);
  group.counter("sent", "frames", "from the wire, for outside", counts_.sent);
  group.counter("bad_frames", "frames", "from the wire with a wrong FCS, which stay inside", counts_.bad_frames);
  group.counter("oversized", "frames", "from outside, too long for any wire", counts_.oversized);
}

void TapEnd::connect(TapDevice& device, base::Pacer& pacer) {
  device_ = &device;
  pacer.watch(device.file(), [this] { return take_frames(); });
}

bool TapEnd::take_frames() {
  std::array<std::uint8_t, 65536> buffer;
  for (unsigned n = 0; n < kBurst; ++n) {
    std::size_t length = 0;
    const TapDevice::Read read = device_->read(buffer, length);
    if (read != TapDevice::Read::frame) return read == TapDevice::Read::nothing;
    inputs_.arrive(channel_, {buffer.data(), length});
  }
  return true;
}

void TapEnd::inject(base::Inputs::Bytes frame) {
  PacketPtr packet = make_packet(frame.data(), frame.size());
  if (!packet) {
    ++counts_.oversized;
    return;
  }
  // The kernel does not pad short frames.
  pad(*packet);
  ++counts_.received;
  wire_.send(end_, std::move(packet));
}

void TapEnd::frame_arrived(PacketPtr packet) {
  if (packet->corrupted) {
    ++counts_.bad_frames;
    return;
  }
  ++counts_.sent;
  if (device_ && !device_->write({packet->bytes, packet->length})) ++refused_;
}

}  // namespace sluice::net
