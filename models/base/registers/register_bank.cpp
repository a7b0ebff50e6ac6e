// SPDX-License-Identifier: Apache-2.0
#include "models/base/registers/register_bank.h"

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_banks.h"

namespace sluice::base {

namespace {

std::vector<RegisterBank*>& all_banks() {
  static std::vector<RegisterBank*> banks;
  return banks;
}

std::uint64_t mask_of(unsigned bytes) { return bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1; }

}  // namespace

const char* answer_text(Answer answer) {
  switch (answer) {
    case Answer::ok:
      return "ok";
    case Answer::unmapped:
      return "no register there";
    case Answer::misaligned:
      return "not aligned to its size";
    case Answer::wrong_width:
      return "not the register's width";
    case Answer::read_only:
      return "the register is read-only";
    case Answer::write_only:
      return "the register is write-only";
  }
  return "";
}

Answer check_access(std::uint64_t offset, unsigned size, std::uint64_t range, unsigned widths) {
  if (offset >= range) return Answer::unmapped;
  if (!std::has_single_bit(size) || (size & widths) == 0) return Answer::wrong_width;
  return offset % size != 0 ? Answer::misaligned : Answer::ok;
}

void report_refused(const std::string& owner, Answer why, const char* access, std::uint64_t offset, unsigned size,
                    const std::string& reg) {
  mistakes().report(fmt::format("{}: {} of {} bytes at {:#x}: {}{}", owner, access, size, offset, answer_text(why),
                                reg.empty() ? "" : " (" + reg + ")"));
}

RegisterBank::RegisterBank(std::string owner, std::uint64_t size)
    : view_(std::move(owner), [this](const RegisterView::Visit& visit) { look(visit); }), size_(size) {
  all_banks().push_back(this);
}

RegisterBank::~RegisterBank() { std::erase(all_banks(), this); }

const std::vector<RegisterBank*>& register_banks() { return all_banks(); }

RegisterBank::Id RegisterBank::add(RegisterDeclaration d) {
  const auto wrong = [&](const char* what) {
    throw std::logic_error(fmt::format("{}: register {} at {:#x}: {}", owner(), d.name, d.offset, what));
  };
  if (d.stride == 0) d.stride = d.width;
  if (d.width != 4 && d.width != 8) wrong("width must be 4 or 8");
  if (d.halves && d.width != 8) wrong("only an 8-byte register has halves");
  if (d.narrow && d.width != 4) wrong("only a 4-byte register has narrow parts");
  if (d.count < 1 || d.count > 65536) wrong("count must be 1 to 65536");
  if (d.offset % d.width || d.stride % d.width) wrong("offset and stride must be multiples of the width");
  if (size_ < d.width || d.offset > size_ - d.width || (size_ - d.width - d.offset) / d.stride < d.count - 1)
    wrong("does not lie within the bank");
  if (size_ / 4 >= kFree) wrong("the bank is too large");
  if (registers_.size() > std::numeric_limits<std::uint16_t>::max()) wrong("too many registers");
  if (d.reset & ~mask_of(d.width)) wrong("reset value is wider than the register");
  d.write_mask &= mask_of(d.width);
  for (const Register& r : registers_)
    if (r.declared.name == d.name) wrong("name is used twice");
  for (unsigned i = 0; i < d.count; ++i)
    for (unsigned byte = 0; byte < d.width; byte += 4)
      if (find_word(d.offset + i * d.stride + byte)) wrong("overlaps another register");

  const auto number = static_cast<std::uint16_t>(registers_.size());
  for (unsigned i = 0; i < d.count; ++i)
    for (unsigned byte = 0; byte < d.width; byte += 4)
      insert_word(
          {static_cast<std::uint32_t>((d.offset + i * d.stride + byte) / 4), number, static_cast<std::uint16_t>(i)});
  const auto first = static_cast<std::uint32_t>(values_.size());
  values_.insert(values_.end(), d.count, d.reset);
  registers_.push_back({std::move(d), first});
  return Id(number);
}

std::string RegisterBank::register_in(std::uint64_t offset, std::uint64_t bytes) const {
  for (const Register& r : registers_)
    for (unsigned i = 0; i < r.declared.count; ++i) {
      const std::uint64_t at = r.declared.offset + i * r.declared.stride;
      if (at < offset + bytes && offset < at + r.declared.width) return element_name(r, i);
    }
  return {};
}

const RegisterBank::Word* RegisterBank::find_word(std::uint64_t offset) const {
  const auto number = static_cast<std::uint32_t>(offset / 4);
  const std::size_t mask = words_.size() - 1;
  for (std::size_t at = hash(number) & mask;; at = (at + 1) & mask) {
    if (words_[at].number == number) return &words_[at];
    if (words_[at].number == kFree) return nullptr;
  }
}

void RegisterBank::insert_word(Word word) {
  if (2 * (used_ + 1) > words_.size()) {
    std::vector<Word> old(2 * words_.size());
    old.swap(words_);
    used_ = 0;
    for (const Word& w : old)
      if (w.number != kFree) insert_word(w);
  }
  const std::size_t mask = words_.size() - 1;
  std::size_t at = hash(word.number) & mask;
  while (words_[at].number != kFree) at = (at + 1) & mask;
  words_[at] = word;
  ++used_;
}

Answer RegisterBank::locate(std::uint64_t offset, unsigned size, Found& found) {
  if (offset >= size_ || size > size_ - offset) return Answer::unmapped;
  const Word* word = find_word(offset);
  if (!word) return Answer::unmapped;
  Register& r = registers_[word->reg];
  const RegisterDeclaration& d = r.declared;
  const bool whole = size == d.width;
  const bool part = (d.halves && size == 4) || (d.narrow && (size == 1 || size == 2));
  if (!whole && !part) return Answer::wrong_width;
  if (offset % size) return Answer::misaligned;
  const auto within = static_cast<unsigned>(offset - d.offset - word->index * d.stride);
  found = {&r, word->index, 8 * within, mask_of(size) << (8 * within)};
  return Answer::ok;
}

Answer RegisterBank::read(std::uint64_t offset, void* data, unsigned size) {
  Found f;
  const Answer answer = locate(offset, size, f);
  if (answer != Answer::ok) [[unlikely]]
    return refuse(answer, "read", offset, size);
  RegisterDeclaration& d = f.reg->declared;
  if (d.access == Access::wo) [[unlikely]]
    return refuse(Answer::write_only, "read", offset, size);

  const std::size_t slot = f.reg->first_value + f.index;
  const std::uint64_t value = d.on_read ? d.on_read(f.index) : values_[slot];
  if (d.access == Access::rc) values_[slot] &= ~f.lanes;
  const std::uint64_t result = value >> f.shift;
  std::memcpy(data, &result, size);
  return Answer::ok;
}

Answer RegisterBank::write(std::uint64_t offset, const void* data, unsigned size) {
  Found f;
  const Answer answer = locate(offset, size, f);
  if (answer != Answer::ok) [[unlikely]]
    return refuse(answer, "write", offset, size);
  RegisterDeclaration& d = f.reg->declared;
  if (d.access == Access::ro || d.access == Access::rc) [[unlikely]]
    return refuse(Answer::read_only, "write", offset, size);

  std::uint64_t written = 0;
  std::memcpy(&written, data, size);
  written <<= f.shift;
  std::uint64_t& stored = values_[f.reg->first_value + f.index];
  const std::uint64_t mask = d.write_mask & f.lanes;
  if (d.access == Access::w1c)
    stored &= ~(written & mask);
  else
    stored = (stored & ~mask) | (written & mask);
  if (d.on_write) d.on_write({f.index, stored, written, f.lanes});
  return Answer::ok;
}

Answer RegisterBank::refuse(Answer answer, const char* what, std::uint64_t offset, unsigned size) {
  ++refused_[static_cast<unsigned>(answer)];
  const Word* word = offset < size_ ? find_word(offset) : nullptr;
  report_refused(owner(), answer, what, offset, size,
                 word ? element_name(registers_[word->reg], word->index) : std::string());
  return answer;
}

void RegisterBank::reset() {
  for (const Register& r : registers_)
    for (unsigned i = 0; i < r.declared.count; ++i) values_[r.first_value + i] = r.declared.reset;
}

std::uint64_t RegisterBank::refused() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : refused_) sum += n;
  return sum;
}

void RegisterBank::register_statistics(StatisticsGroup& group) {
  const auto add = [&](Answer why, const char* name, const char* meaning) {
    group.counter(name, "accesses", meaning, refused_[static_cast<unsigned>(why)]);
  };
  add(Answer::unmapped, "register_unmapped", "refused register accesses: no register there");
  add(Answer::misaligned, "register_misaligned", "refused register accesses: not aligned to their size");
  add(Answer::wrong_width, "register_wrong_width", "refused register accesses: not the register's width");
  add(Answer::read_only, "register_read_only", "refused writes to read-only registers");
  add(Answer::write_only, "register_write_only", "refused reads of write-only registers");
}

std::uint64_t RegisterBank::peek(Register& r, unsigned index) {
  if (r.declared.on_peek) return r.declared.on_peek(index);
  if (r.declared.on_read && !r.declared.read_acts) return r.declared.on_read(index);
  return values_[r.first_value + index];
}

std::string RegisterBank::element_name(const Register& r, unsigned index) {
  return r.declared.count == 1 ? r.declared.name
                               : fmt::format("{}[{}]", r.declared.name, r.declared.first_element + index);
}

void RegisterBank::look(const RegisterView::Visit& visit) {
  for (Register& r : registers_) {
    const RegisterDeclaration& d = r.declared;
    for (unsigned i = 0; i < d.count; ++i) {
      const int element = d.count == 1 ? RegisterValue::kNoElement : static_cast<int>(d.first_element + i);
      visit({d.name, d.offset + i * d.stride, d.width, peek(r, i), element});
    }
  }
}

std::string RegisterBank::dump() const {
  std::string out;
  view_.look([&](const RegisterValue& r) {
    const std::string name =
        r.element == RegisterValue::kNoElement ? std::string(r.name) : fmt::format("{}[{}]", r.name, r.element);
    out += fmt::format("{:#06x}  {:<32}  {:#0{}x}\n", r.offset, name, r.value, 2 + 2 * r.width);
  });
  return out;
}

}  // namespace sluice::base
