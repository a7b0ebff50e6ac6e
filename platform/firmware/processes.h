// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which process an address space belongs to, as the firmware's kernel says in memory: firmware/process/record.h.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/memory/guest_ram.h"
#include "platform/firmware/firmware.h"

namespace sluice::platform {

inline unsigned asid_of(std::uint64_t satp) { return static_cast<std::uint16_t>(satp >> 44); }

/// "process kv (3)"; of an address space that belongs to no known process, "asid 3".
std::string title_of_process(const std::string& name, unsigned asid);

class Processes {
 public:
  /// The firmware must be complete, and it and the memories must outlive this object.
  Processes(const Firmware&, std::vector<base::GuestRam*> rams);

  struct Process {
    std::uint64_t satp;
    std::string name;
    std::uint64_t elf, elf_bytes;
  };
  /// In order of their numbers. The guest may have damaged the list: what does not lie in memory, or has no name, is
  /// left out.
  std::vector<Process> list() const;
  /// The process of an address space, now; nothing where none is known.
  std::optional<Process> find(std::uint64_t satp) const;
  /// The symbols of a process that the list has now. Another table, where the file has changed; null: it has no file.
  std::shared_ptr<const SymbolTable> symbols(const Process&);
  /// The function of the process at an address: "serve+0x1c"; empty: it is not known.
  std::string function(std::uint64_t satp, std::uint64_t pc);

 private:
  template <class F>
  void each(const F& until) const;
  const base::GuestRam* ram(std::uint64_t address, std::uint64_t bytes) const;

  const std::vector<base::GuestRam*> rams_;
  const std::optional<std::uint64_t> first_;  ///< where the address of the first record is
  struct Symbols {
    std::vector<std::uint8_t> elf;
    std::shared_ptr<const SymbolTable> table;
  };
  std::map<std::uint64_t, Symbols> symbols_;  ///< by satp, of the ELF file that was there at the last look
};

}  // namespace sluice::platform
