// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The bytes of guest DRAM, with what every writer of them must respect: watched pages and shadow tags.
/// Plain C++: execution engines include it without SystemC.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::base {

using RequestId = std::uint64_t;  ///< 0: no request

/// Is told of writes to watched pages, whoever watches them. A hart watches its decoded code, its reservation and its
/// watchpoints.
class RamWatcher {
 public:
  virtual ~RamWatcher() = default;
  /// Bytes [address, address + length) have just been written, at least one of them in a watched page.
  virtual void ram_written(std::uint64_t address, std::uint64_t length) = 0;
  /// The page with this first address is watched from now on: drop every shortcut for writing to it.
  virtual void page_watched(std::uint64_t page) = 0;
  /// The page is watched for loads too (kReadWatch): drop every shortcut for reading it.
  virtual void page_read_watched(std::uint64_t /*page*/) {}
  /// Whether a write to these bytes must take place at its exact time, in order with all others, because it wakes a
  /// hart or ends a reservation.
  virtual bool awaits(std::uint64_t /*address*/, std::uint64_t /*length*/) const { return false; }
  /// Whether it holds instructions decoded from any of these bytes.
  virtual bool has_decoded(std::uint64_t /*address*/, std::uint64_t /*length*/) const { return false; }
  /// Whether it still needs the page watched for this one reason (GuestRam::Watch).
  virtual bool needs_watch(std::uint64_t /*page*/, std::uint8_t /*why*/) const { return true; }
};

/// One contiguous range of guest DRAM. Zero until written; host memory is used only for pages touched.
class GuestRam {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kTagLine = 64;  ///< granularity of shadow tags, bytes
  /// Why a page is watched; a page is watched while any bit is set. kReadWatch: harts report their loads too
  /// (Hart::on_watched_read). kHostInterface: set for the whole run.
  enum Watch : std::uint8_t {
    kCode = 1,
    kReservation = 2,
    kWait = 4,
    kWatchpoint = 8,
    kReadWatch = 16,
    kHostInterface = 32,
  };

  /// base and size in bytes, both multiples of 4 KiB. Throws std::runtime_error when the host has no address space for
  /// it; the text of the error follows the size: "1 GiB: needs ...".
  GuestRam(std::uint64_t base, std::uint64_t size);
  ~GuestRam();
  GuestRam(const GuestRam&) = delete;
  GuestRam& operator=(const GuestRam&) = delete;

  std::uint64_t base() const { return base_; }
  std::uint64_t size() const { return size_; }
  /// Bytes of host memory that its pages take now.
  std::uint64_t resident_bytes() const;
  bool contains(std::uint64_t address, std::uint64_t length) const {
    return address >= base_ && address - base_ < size_ && length <= size_ - (address - base_);
  }
  /// Host address of a guest address that contains() accepted. Writing through it is legal only to unwatched pages.
  std::uint8_t* at(std::uint64_t address) { return bytes_ + (address - base_); }
  const std::uint8_t* at(std::uint64_t address) const { return bytes_ + (address - base_); }

  /// Copies in and tells the watchers. The range must be contained. DMA and stores to watched pages use it.
  void write(std::uint64_t address, const void* data, std::uint64_t length);
  void read(std::uint64_t address, void* data, std::uint64_t length) const;
  /// For a writer that has already stored to a watched page through at().
  void tell_written(std::uint64_t address, std::uint64_t length);

  /// Whether a watcher other than `writer` (null: any) awaits() a write to these bytes.
  bool awaited(std::uint64_t address, std::uint64_t length, const RamWatcher* writer) const;

  void add_watcher(RamWatcher* watcher) { watchers_.push_back(watcher); }
  std::uint8_t watch(std::uint64_t address) const { return watch_[(address - base_) / kPage]; }
  bool watched(std::uint64_t address, std::uint64_t length) const;
  /// Marks the bytes as code, whether a hart has executed them or not.
  void add_code(std::uint64_t address, std::uint64_t length) { code_.push_back({address, length}); }
  /// Whether any of the bytes is code: by add_code(), or because a watcher has decoded it.
  bool holds_code(std::uint64_t address, std::uint64_t length) const;
  void set_watch(std::uint64_t address, Watch why);
  void clear_watch(std::uint64_t address, Watch why);
  /// Ends every watch of the page at `address` that no watcher needs any more.
  void drop_unneeded_watches(std::uint64_t address);

  /// Shadow tags: which request the bytes of a 64 B line belong to.
  RequestId tag(std::uint64_t address) const { return tags_[(address - base_) / kTagLine]; }
  void set_tag(std::uint64_t address, std::uint64_t length, RequestId id);

 private:
  std::uint64_t tag_bytes() const { return size_ / kTagLine * sizeof(RequestId); }

  std::uint64_t base_;
  std::uint64_t size_;
  std::vector<std::uint8_t> watch_;
  std::uint8_t* bytes_;  ///< followed by the tags
  RequestId* tags_;      ///< of each line; like bytes_, takes host memory only where touched
  std::vector<RamWatcher*> watchers_;
  struct Range {
    std::uint64_t address, length;
  };
  std::vector<Range> code_;
};

}  // namespace sluice::base
