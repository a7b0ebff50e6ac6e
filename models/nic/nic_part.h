// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a NIC becomes a component of boards, [nic.NAME], if its driver needs no properties but the address.

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/base/parameters/schema.h"
#include "models/net/frame.h"
#include "models/nic/nic.h"
#include "models/nic/place.h"
#include "models/part/catalogue.h"
#include "models/part/construct.h"

namespace sluice::nic {

/// [nic.NAME]: the parameters of a NIC, and its place.
template <class P>
struct NicAtWire {
  Attachment attachment;
  HostAddress host;
  P nic;
  static void describe(base::Schema<NicAtWire>& s) {
    s.summary("a NIC and its place");
    s.include("", &NicAtWire::attachment);
    s.include("", &NicAtWire::host);
    s.include("", &NicAtWire::nic);
    if constexpr (requires(const P& p) {
                    { p.address } -> std::convertible_to<std::string>;
                  })
      s.rule("address", [](const NicAtWire& p) {
        net::parse_host_mac(p.nic.address);
        return std::string();
      });
  }
};

template <class N>
class NicFactoryOf final : public NicFactory {
 public:
  using Parameters = NicAtWire<typename N::Parameters>;

  NicPlace place(const void* parameters) const override {
    const Parameters& p = at(parameters);
    if constexpr (requires {
                    { p.nic.address } -> std::convertible_to<std::string>;
                  })
      return {p.attachment.slot, p.attachment.wire, p.host.ipv4, p.nic.address};
    else
      return {p.attachment.slot, p.attachment.wire, p.host.ipv4, {}};
  }
  std::uint64_t buffered_frames(const void* parameters, std::uint64_t frame_bytes) const override {
    if constexpr (requires { N::buffered_frames(at(parameters).nic, frame_bytes); })
      return N::buffered_frames(at(parameters).nic, frame_bytes);
    else
      return 0;
  }
  std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const override {
    return {{"sluice,ipv4", net::parse_ipv4(at(parameters).host.ipv4)}};
  }
  std::unique_ptr<Nic> build(const char* module_name, const void* parameters, base::RandomSeed seed, net::Wire& wire,
                             net::Wire::End end) const override {
    return part::construct<N>(seed, module_name, at(parameters).nic, wire, end);
  }

 private:
  static const Parameters& at(const void* parameters) { return *static_cast<const Parameters*>(parameters); }
};

/// From now on a board may have [nic.NAME] with this model. N is a PcieNic, has a type Parameters with describe(), and
/// is constructed from a name, these parameters, a wire and its end of the wire, and from a base::RandomSeed if it
/// draws random numbers. If there is a parameter `address`, it is the station address. A static
/// N::buffered_frames(parameters, frame bytes) may say how many frames the NIC holds. model, title and exceptions are
/// those of part::Catalogue::add().
template <class N>
void add_nic(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::is_base_of_v<PcieNic, N>, "a NIC in a slot is a nic::PcieNic");
  using Factory = NicFactoryOf<N>;
  catalogue.add<typename Factory::Parameters>("nic", std::move(model), std::move(title),
                                              std::make_shared<const Factory>());
}

}  // namespace sluice::nic
