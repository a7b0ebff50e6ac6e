// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The device side of memory-mapped registers: which accesses are allowed, and what they do. A model declares its
/// registers once; width, alignment and access rights are attributes, not code. Plain C++.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/measure/statistics.h"
#include "models/base/registers/register_view.h"
#include "models/base/time/callback.h"

namespace sluice::base {

/// What software may do with a register.
enum class Access : std::uint8_t {
  ro,   ///< software reads; a write is refused
  rw,   ///< software reads and writes the bits of the write mask; other bits keep their value, silently
  wo,   ///< software writes; a read is refused
  w1c,  ///< reads; each 1 written clears that bit, as far as the write mask allows
  rc,   ///< a read returns the value and clears it; a write is refused
};

/// How a register bank answers an access. Everything but ok is software's mistake: nothing was read or changed.
enum class Answer : std::uint8_t { ok, unmapped, misaligned, wrong_width, read_only, write_only };
const char* answer_text(Answer);  ///< "no register there", ...
/// For a device that decodes its registers itself: whether the access starts within the first `range` bytes, has one of
/// `widths` (a sum of 1, 2, 4 and 8) and is aligned to its size.
Answer check_access(std::uint64_t offset, unsigned size, std::uint64_t range, unsigned widths);
/// Notes a refused access among the software's mistakes: for a device that decodes its registers itself. access: "read"
/// or "write". reg: the register's name, where there is one.
void report_refused(const std::string& owner, Answer why, const char* access, std::uint64_t offset, unsigned size,
                    const std::string& reg = {});

/// A write that was accepted, as the write callback sees it.
struct RegisterWrite {
  unsigned index;         ///< element of an array; 0 for a single register
  std::uint64_t value;    ///< what the register holds now
  std::uint64_t written;  ///< what software wrote, at its place in the register; other bits 0
  std::uint64_t lanes;    ///< ones where software wrote: all of the register, or a part of it
};

/// One register, or an array of equal ones, as declared.
struct RegisterDeclaration {
  using ReadCallback = Callback<std::uint64_t(unsigned index), 16>;
  using WriteCallback = Callback<void(const RegisterWrite&), 16>;

  std::string name;          ///< unique in the bank; as in the register header
  std::uint64_t offset = 0;  ///< bytes from the bank's start, a multiple of width
  unsigned width = 4;        ///< bytes: 4 or 8
  Access access = Access::rw;
  std::uint64_t reset = 0;
  std::uint64_t write_mask = ~std::uint64_t{0};  ///< bits that software can change
  bool halves = false;                           ///< an 8-byte register that may also be accessed as two of 4
  bool narrow = false;                           ///< a 4-byte register that may also be accessed in parts of 1 or 2
  unsigned count = 1;                            ///< elements of the array, 1 to 65536
  std::uint64_t stride = 0;                      ///< bytes between elements, a multiple of width; 0: the width
  /// Gives the value that a read returns, instead of the stored one. Called before an rc register is cleared.
  ReadCallback on_read = {};
  WriteCallback on_write = {};
  /// on_read changes something (it pops a queue, claims an interrupt): the debugger's dump shows the stored value
  /// instead of calling it.
  bool read_acts = false;
  /// Gives the value that the debugger's dump shows instead: what a read would return, without the read's side effects.
  ReadCallback on_peek = {};
  unsigned first_element = 0;  ///< number of the array's first element in its name: 1 where software counts from 1
};

/// All registers of one address range. An access finds its register in a hash table, whatever the number of registers.
class RegisterBank {
 public:
  /// Identifies a declared register.
  class Id {
   public:
    Id() = default;

   private:
    friend class RegisterBank;
    explicit Id(std::uint32_t n) : number_(n) {}
    std::uint32_t number_ = 0;
  };

  /// owner: path of the device, for the log of mistakes. size: bytes of the range; registers must lie within.
  RegisterBank(std::string owner, std::uint64_t size);
  ~RegisterBank();
  RegisterBank(const RegisterBank&) = delete;
  RegisterBank& operator=(const RegisterBank&) = delete;

  const std::string& owner() const { return view_.owner(); }

  /// Declares a register. Throws std::logic_error when it is ill-formed or overlaps another one.
  Id add(RegisterDeclaration);

  /// A little-endian access of `size` bytes. data: where the result goes; untouched unless the answer is ok.
  Answer read(std::uint64_t offset, void* data, unsigned size);
  Answer write(std::uint64_t offset, const void* data, unsigned size);

  /// The model's own view of a stored value: no access rights, no callbacks. index must be below the count.
  std::uint64_t& value(Id id, unsigned index = 0) { return values_[registers_[id.number_].first_value + index]; }
  std::uint64_t value(Id id, unsigned index = 0) const { return values_[registers_[id.number_].first_value + index]; }

  /// Every stored value takes its reset value; no callback is called, and the counters stay.
  void reset();

  std::uint64_t size() const { return size_; }
  /// Name of the first declared register that overlaps these bytes; empty: none does.
  std::string register_in(std::uint64_t offset, std::uint64_t bytes) const;
  std::uint64_t refused(Answer why) const { return refused_[static_cast<unsigned>(why)]; }
  std::uint64_t refused() const;
  void register_statistics(StatisticsGroup&);

  /// For the debugger: every register and element, in order of declaration. Changes nothing: see
  /// RegisterDeclaration::read_acts.
  const RegisterView& view() const { return view_; }
  /// The registers as text, one line each: "0x0010 rx_tail 0x00000007".
  std::string dump() const;

 private:
  struct Register {
    RegisterDeclaration declared;
    std::uint32_t first_value;
  };
  /// A 4-byte word of the range that belongs to a register: an entry of the hash table.
  struct Word {
    std::uint32_t number = kFree;  ///< offset / 4
    std::uint16_t reg = 0;
    std::uint16_t index = 0;
  };
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  struct Found {
    Register* reg;
    unsigned index;
    unsigned shift;       ///< of the accessed bits within the register
    std::uint64_t lanes;  ///< the accessed bits
  };

  static std::uint32_t hash(std::uint32_t word) { return static_cast<std::uint32_t>((word * 0x9e3779b1ull) >> 8); }
  const Word* find_word(std::uint64_t offset) const;
  void insert_word(Word);
  Answer locate(std::uint64_t offset, unsigned size, Found&);
  Answer refuse(Answer, const char* what, std::uint64_t offset, unsigned size);
  std::uint64_t peek(Register&, unsigned index);
  static std::string element_name(const Register&, unsigned index);

  void look(const RegisterView::Visit&);

  RegisterView view_;
  std::uint64_t size_;
  std::vector<Register> registers_;
  std::vector<std::uint64_t> values_;
  std::vector<Word> words_ = std::vector<Word>(64);  ///< open addressing; a power of two, at most half full
  std::size_t used_ = 0;
  std::uint64_t refused_[6] = {};
};

}  // namespace sluice::base
