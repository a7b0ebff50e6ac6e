// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Registers as a debugger sees them. Looking at them changes nothing, whatever a read by software would do. Plain C++.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::base {

/// One register, or one element of an array.
struct RegisterValue {
  static constexpr int kNoElement = -1;

  std::string_view name;     ///< of the register or of the array; valid during the visit
  std::uint64_t offset = 0;  ///< as software addresses it within the device
  unsigned width = 4;        ///< bytes: 1 to 8
  std::uint64_t value = 0;
  int element = kNoElement;
};

/// The registers of one device, or of one part of it. Exists as long as the device.
class RegisterView {
 public:
  using Visit = std::function<void(const RegisterValue&)>;
  /// Calls the visit for each register; elements of an array follow each other.
  using Look = std::function<void(const Visit&)>;

  /// owner: path of the device, as in "uart" or "imsic.hart0.machine".
  RegisterView(std::string owner, Look look);
  ~RegisterView();
  RegisterView(const RegisterView&) = delete;
  RegisterView& operator=(const RegisterView&) = delete;

  const std::string& owner() const { return owner_; }
  void look(const Visit& visit) const { look_(visit); }

 private:
  std::string owner_;
  Look look_;
};

/// All that exist, in order of construction.
const std::vector<RegisterView*>& register_views();

}  // namespace sluice::base
