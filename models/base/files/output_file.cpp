// SPDX-License-Identifier: Apache-2.0
#include "models/base/files/output_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace sluice::base {
namespace {
constexpr std::size_t kFlushAt = 256 * 1024;
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
  if (!file_) throw std::runtime_error(path_ + ": cannot be written: " + std::strerror(errno));
  std::setvbuf(file_, nullptr, _IONBF, 0);  // buffer_ is the buffer
}

OutputFile::~OutputFile() {
  if (!file_) return;
  flush();
  std::fclose(file_);
}

void OutputFile::write(std::string_view bytes) {
  if (!file_) return;
  buffer_ += bytes;
  if (buffer_.size() >= kFlushAt) flush();
}

void OutputFile::flush() {
  if (!file_) return;
  if (error_.empty() && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size())
    error_ = std::strerror(errno);
  buffer_.clear();
}

void OutputFile::close() {
  if (!file_) return;
  flush();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_.empty()) error_ = std::strerror(errno);
  if (!error_.empty()) throw std::runtime_error(path_ + ": cannot be written: " + error_);
}

}  // namespace sluice::base
