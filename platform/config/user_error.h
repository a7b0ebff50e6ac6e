// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The exception for mistakes of the user: a sentence that names the file, the key and what would be valid.

#include <stdexcept>
#include <string>

namespace sluice::config {

/// A place in a file that a person wrote. line 0: the file as a whole.
struct Location {
  std::string file;
  int line = 0;
  /// "board.toml:19"
  std::string text() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

/// what() is the sentence without the leading "sluice: ", in one line: control characters of what the user wrote become
/// spaces, and words of more than 300 characters are shortened, as is a sentence of thousands. The command prints it
/// and exits with status 2.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& sentence) : std::runtime_error(in_one_line(sentence)) {}
  UserError(const Location& where, const std::string& sentence) : UserError(where.text() + ": " + sentence) {}

 private:
  static std::string in_one_line(std::string);
};

/// What is asked for is valid, and another machine, or this one at another time, has room for it.
class MachineError : public UserError {
  using UserError::UserError;
};

}  // namespace sluice::config
