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
  /// An image that the first may go on to. Its symbols join those of the others.
  void add(Image);

  const std::vector<Image>& images() const { return images_; }
  // Name, hash and entry point of the first image, in which the harts start.
  const std::string& name() const { return images_.front().name(); }
  const std::string& sha256() const { return images_.front().sha256(); }
  std::uint64_t entry() const { return images_.front().entry(); }
  /// Where the firmware may go on: the entry of the second image; nothing where there is none.
  std::optional<std::uint64_t> next_entry() const;
  /// Throws config::UserError where an image lies outside every RAM, or one that harts go on to starts there.
  void load(const std::vector<base::GuestRam*>&) const;
  /// The same into memory that has been used: what the images have no bytes for in their files becomes zero.
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
