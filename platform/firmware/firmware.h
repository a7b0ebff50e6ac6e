// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a cluster's harts start with: the image that they start in, and the others that lie in memory beside it.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/firmware/image.h"

namespace sluice::platform {

class Firmware {
 public:
  explicit Firmware(Image first);
  /// Adds an image that the first image may hand over to. Its symbols join those of the others.
  void add(Image);

  const std::vector<Image>& images() const { return images_; }
  // Name, hash and entry point of the first image, in which the harts start.
  const std::string& name() const { return images_.front().name(); }
  const std::string& sha256() const { return images_.front().sha256(); }
  std::uint64_t entry() const { return images_.front().entry(); }
  /// Entry of the second image, to which the first may hand over; nothing where there is none.
  std::optional<std::uint64_t> next_entry() const;
  /// Copies the images to RAM. Throws OutsideMemory where an image lies outside every RAM, or where the entry of an
  /// image that harts run lies outside RAM.
  void load(const SystemRam&) const;
  /// Copies the images again into memory that has been used, and zeroes the parts for which their files have no bytes.
  void reload(const std::vector<base::GuestRam*>&) const;
  /// The symbols of all images together.
  const SymbolTable& symbols() const { return symbols_; }
  /// Throws config::UserError with the end of a sentence about the first image.
  [[noreturn]] void refuse(const std::string& why) const { images_.front().refuse(why); }

 private:
  std::vector<Image> images_;
  SymbolTable symbols_;
};

}  // namespace sluice::platform
