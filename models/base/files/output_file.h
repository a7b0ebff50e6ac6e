// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Files that a simulation writes as it goes on. Plain C++.

#include <cstdio>
#include <string>
#include <string_view>

namespace sluice::base {

/// A file that is written from its beginning, through a buffer. A write error does not end the simulation: close()
/// reports the first one.
class OutputFile {
 public:
  /// Creates the file, or empties it. Throws std::runtime_error when it cannot: "x.pcap: cannot be written: ...".
  explicit OutputFile(std::string path);
  /// Writes what is buffered and closes the file. Write errors are lost unless close() was called before.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends bytes. Writing to a closed file does nothing.
  void write(std::string_view bytes);
  /// Hands what is buffered to the operating system, so that it survives a crash of the simulation.
  void flush();
  /// Writes what is buffered and closes the file. Throws std::runtime_error, likewise, when anything could not be
  /// written since the file was created. A second call does nothing.
  void close();

 private:
  std::string path_;
  std::FILE* file_;
  std::string buffer_;
  std::string error_;
};

}  // namespace sluice::base
