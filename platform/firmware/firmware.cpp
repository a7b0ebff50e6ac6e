// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/firmware.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/parameters/quantity.h"

namespace sluice::platform {

Firmware::Firmware(Image first) { add(std::move(first)); }

void Firmware::add(Image image) {
  symbols_.add(image.symbols());
  images_.push_back(std::move(image));
}

std::optional<std::uint64_t> Firmware::next_entry() const {
  if (images_.size() < 2) return {};
  return images_[1].entry();
}

void Firmware::load(const SystemRam& memory) const {
  for (const Image& image : images_) image.load(memory);
  // Images after the second may be data, which has no entry.
  for (std::size_t i = 0; i < std::min<std::size_t>(images_.size(), 2); ++i) images_[i].check_entry(memory);
}

void Firmware::reload(const std::vector<base::GuestRam*>& rams) const {
  for (const Image& image : images_) image.reload(rams);
}

}  // namespace sluice::platform
