// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/protocol/connection.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::debug {
namespace {

constexpr int kPatience = 200;  // ms between two looks for signals while a read waits

/// An entry for poll(), which waits until the file has something to read or its other end is gone.
pollfd readable(int file) { return {file, POLLIN, 0}; }

/// Whether one of the files is ready. `wait`: waits for that, up to kPatience. A signal ends the wait.
bool look(std::span<pollfd> files, bool wait) { return ::poll(files.data(), files.size(), wait ? kPatience : 0) > 0; }

}  // namespace

Connection::Connection(std::uint16_t port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) throw std::runtime_error(std::string("no socket: ") + std::strerror(errno));
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t length = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(listener_, 1) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    const std::string why = std::strerror(errno);
    ::close(listener_);
    throw std::runtime_error("cannot listen on 127.0.0.1: " + why);
  }
  port_ = ntohs(address.sin_port);
}

Connection::~Connection() {
  close();
  ::close(listener_);
}

bool Connection::accept(bool wait) {
  pollfd listener = readable(listener_);
  if (!look({&listener, 1}, wait)) return false;
  client_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client_ < 0) return false;
  const int on = 1;
  ::setsockopt(client_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return true;
}

bool Connection::receive(std::string& bytes, bool wait) {
  bytes.clear();
  if (client_ < 0) return false;
  pollfd files[] = {readable(client_), readable(listener_)};
  if (!look(files, wait)) return true;
  if (files[0].revents == 0) {
    turn_away();
    return true;
  }
  char buffer[4096];
  const ssize_t count = ::recv(client_, buffer, sizeof buffer, 0);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) {
    close();
    return false;
  }
  bytes.assign(buffer, static_cast<std::size_t>(count));
  return true;
}

/// Closes the connection of another client. If it stayed in the queue, it would be served later, when the client no
/// longer expects that.
void Connection::turn_away() {
  const int other = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (other >= 0) ::close(other);
}

void Connection::send(const std::string& bytes) {
  for (std::size_t done = 0; client_ >= 0 && done < bytes.size();) {
    const ssize_t count = ::send(client_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    done += static_cast<std::size_t>(count);
  }
}

void Connection::close() {
  if (client_ >= 0) ::close(client_);
  client_ = -1;
}

}  // namespace sluice::debug
