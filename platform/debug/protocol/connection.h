// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A TCP server for one client at a time, on the loopback interface only. While a client is connected, others are
/// turned away: their connection is closed during a wait in receive(), or at its next call.

#include <cstdint>
#include <span>
#include <string>

namespace sluice::debug {

class Connection {
 public:
  /// Listens on 127.0.0.1; port 0: any that is free. Throws std::runtime_error when the port cannot be had.
  explicit Connection(std::uint16_t port);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::uint16_t port() const { return port_; }
  bool connected() const { return client_ >= 0; }
  /// Accepts a client that has connected; `wait`: waits for one, for a fifth of a second at most.
  bool accept(bool wait);
  /// Receives what the client has sent; `wait`: waits for data, for a fifth of a second at most. False: the client has
  /// gone, and the connection is closed.
  bool receive(std::string& bytes, bool wait);
  /// Sends all bytes. Does nothing when the client has gone: receive() reports that.
  void send(const std::string& bytes);
  void close();

 private:
  void turn_away();

  int listener_ = -1;
  int client_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace sluice::debug
