#pragma once
/// A TCP server for one client at a time, on the loopback interface only. While it has one, others that come are turned
/// away: their connection is closed at once, where a wait in receive() finds them, or at its next call.

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
  /// Takes a client that has come; `wait`: until one comes, for a fifth of a second at most.
  bool accept(bool wait);
  /// What the client has sent; `wait`: until there is something, for a fifth of a second at most. False: the client is
  /// gone, the connection closed.
  bool receive(std::string& bytes, bool wait);
  /// Sends everything. Nothing happens when the client is gone: receive() will tell.
  void send(const std::string& bytes);
  void close();

 private:
  void turn_away();

  int listener_ = -1;
  int client_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace sluice::debug
