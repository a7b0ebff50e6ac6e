// SPDX-License-Identifier: Apache-2.0
#include "models/base/outside/input_log.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace sluice::base {
namespace {

constexpr const char* kHeader = "sluice-inputs 1";
constexpr char kDigits[] = "0123456789abcdef";
constexpr std::pair<InputEnd, const char*> kEnds[] = {
    {InputEnd::interrupted, "interrupted"}, {InputEnd::limit, "limit"}, {InputEnd::ended, "ended"}};

int nibble(char c) {
  const char* found = c ? std::strchr(kDigits, c) : nullptr;
  return found ? static_cast<int>(found - kDigits) : -1;
}

bool parse_bytes(std::string_view hex, std::vector<std::uint8_t>& bytes) {
  if (hex.size() % 2 != 0) return false;
  bytes.clear();
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]), low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return true;
}

bool parse_time(std::string_view text, Time& time) {
  std::uint64_t fs = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fs);
  time = Time::fs(fs);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_end(std::string_view text, InputEnd& end) {
  for (const auto& [value, name] : kEnds) {
    if (text != name) continue;
    end = value;
    return true;
  }
  return false;
}

/// The next word of a line whose words are separated by one space.
std::string_view take_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

}  // namespace

Condition as_logged(std::string_view name, std::string_view value) {
  Condition c(name, value);
  std::replace_if(
      c.first.begin(), c.first.end(), [](char ch) { return static_cast<unsigned char>(ch) <= ' '; }, '_');
  std::replace_if(
      c.second.begin(), c.second.end(), [](char ch) { return ch == '\n' || ch == '\r'; }, '?');
  return c;
}

InputLogWriter::InputLogWriter(std::string path) : file_(std::move(path)) { put(kHeader); }

void InputLogWriter::put(const std::string& line) {
  file_.write(line + "\n");
  file_.flush();
}

void InputLogWriter::condition(std::string_view name, std::string_view value) {
  const Condition logged = as_logged(name, value);
  put("with " + logged.first + " " + logged.second);
}

void InputLogWriter::channel(std::string_view name) { put("channel " + std::string(name)); }

void InputLogWriter::write(Time at, std::string_view channel, std::span<const std::uint8_t> bytes) {
  std::string line = "input " + std::to_string(at.femtoseconds()) + " ";
  line += channel;
  line += ' ';
  for (const std::uint8_t b : bytes) {
    line += kDigits[b >> 4];
    line += kDigits[b & 15];
  }
  put(line);
}

void InputLogWriter::close(Time at, InputEnd end) {
  for (const auto& [value, name] : kEnds)
    if (value == end) put("end " + std::to_string(at.femtoseconds()) + " " + name);
  file_.close();
}

InputLogReader::InputLogReader(std::string path) : path_(std::move(path)), file_(open_input_file(path_)) {
  if (read_line() && line_ == kHeader) return;
  throw std::runtime_error(path_ + ": is not a log of inputs, whose first line is \"" + kHeader + "\"");
}

void InputLogReader::fail(const std::string& what) const {
  throw std::runtime_error(path_ + ":" + std::to_string(line_number_) + ": " + what);
}

/// False at the end of the file.
bool InputLogReader::read_line() {
  line_.clear();
  ++line_number_;
  // Byte by byte: a damaged log may hold zero bytes, where fgets() would not say how far it got.
  for (int c; (c = std::fgetc(file_.get())) != EOF;) {
    if (c == '\n') return true;
    line_ += static_cast<char>(c);
  }
  if (std::ferror(file_.get())) fail("cannot be read");
  if (!line_.empty()) fail("the record is cut off");
  return false;
}

bool InputLogReader::next(InputRecord& record) {
  while (read_line()) {
    if (ended_) fail("is behind the end of the run");
    if (read_record(record)) return true;
  }
  return false;
}

/// Returns false for a line that only declares a condition or a channel.
bool InputLogReader::read_record(InputRecord& record) {
  const auto remember = [this](std::string_view channel) {
    if (std::find(channels_.begin(), channels_.end(), channel) == channels_.end()) channels_.emplace_back(channel);
  };
  std::string_view rest = line_;
  const std::string_view kind = take_word(rest);
  if (kind == "with" && !rest.empty()) {
    const std::string_view name = take_word(rest);
    conditions_.emplace_back(name, rest);
    return false;
  }
  if (kind == "channel" && !rest.empty() && rest.find(' ') == std::string_view::npos) {
    remember(rest);
    return false;
  }
  if (!parse_time(take_word(rest), record.at)) fail("is no record of an input");
  if (record.at < last_) fail("is earlier than the record before");
  if (record.at > kLatestInput) fail("is later than a run can be");
  last_ = record.at;
  if (kind == "end") {
    record.channel.clear();
    record.bytes.clear();
    if (!parse_end(rest, record.end)) fail("is no end of a run");
    ended_ = true;
    return true;
  }
  record.channel = take_word(rest);
  if (kind != "input" || record.channel.empty() || !parse_bytes(rest, record.bytes)) fail("is no record of an input");
  remember(record.channel);
  return true;
}

std::vector<std::string> channels_of_log(const std::string& path) {
  InputLogReader reader(path);
  for (InputRecord record; reader.next(record);) {
  }
  return reader.channels();
}

}  // namespace sluice::base
