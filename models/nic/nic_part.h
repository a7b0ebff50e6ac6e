#pragma once
/// How a NIC becomes a part of boards, [nic.NAME], where its driver is told no more than its address.

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
    const auto& own = at(parameters).nic;
    if constexpr (std::is_constructible_v<N, const char*, decltype(own), net::Wire&, net::Wire::End, base::RandomSeed>)
      return std::make_unique<N>(module_name, own, wire, end, seed);
    else
      return std::make_unique<N>(module_name, own, wire, end);
  }

 private:
  static const Parameters& at(const void* parameters) { return *static_cast<const Parameters*>(parameters); }
};

/// From now on a board may have [nic.NAME] with this model. N is a Nic, has a type Parameters with describe(), and is
/// made from a name, these, a wire and its end of it; and from a base::RandomSeed too, where it draws random numbers. A
/// parameter `address` is its station address. Where N has a static buffered_frames(parameters, frame bytes), it says
/// how many frames it holds. model and title: as for part::Catalogue::add(), which says what is thrown.
template <class N>
void add_nic(part::Catalogue& catalogue, std::string model, std::string title) {
  static_assert(std::is_base_of_v<Nic, N>, "a NIC of a board is a nic::Nic");
  using Factory = NicFactoryOf<N>;
  catalogue.add<typename Factory::Parameters>("nic", std::move(model), std::move(title),
                                              std::make_shared<const Factory>());
}

}  // namespace sluice::nic
