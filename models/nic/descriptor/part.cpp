// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/part.h"

#include <memory>

#include <fmt/format.h>

#include "models/net/frame.h"
#include "models/nic/descriptor/descriptor_nic.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "models/nic/nic.h"
#include "models/part/catalogue.h"

namespace sluice::nic {
namespace {

// Of the drivers: all that the transmit ring holds, a burst that is being dealt with, and buffers that do not fill a
// chunk. With fewer, a driver may wait for a frame while the NIC has no buffer.
constexpr unsigned kBeyondTransmit = 128, kBurst = 64;
// Of the driver's buffers: bytes that it leaves free in front of a received frame.
constexpr std::uint64_t kHeadroom = 130;
/// Bytes of the longest frame that the NIC may write to a driver's buffer.
std::uint64_t room_in(base::Bytes buffer) {
  return (buffer.count() - kHeadroom) / DESC_RX_BUFFER_MULTIPLE * DESC_RX_BUFFER_MULTIPLE;
}

constexpr base::Time kModerationStep = base::Time::ns(DESC_VECTOR_MODERATION_UNIT_NS);

class DescriptorFactory final : public NicFactory {
 public:
  NicPlace place(const void* parameters) const override {
    const DescriptorPart& p = at(parameters);
    return {p.attachment.slot, p.attachment.wire, p.host.ipv4, p.nic.address};
  }
  std::uint64_t buffered_frames(const void* parameters, std::uint64_t frame_bytes) const override {
    const DescriptorPart& p = at(parameters);
    return (p.nic.rx_fifo.count() + p.nic.tx_mac_fifo.count()) / frame_bytes + p.nic.rx_writes + p.nic.tx_frames +
           std::uint64_t{p.nic.queues} * (p.rx_ring + p.tx_ring);
  }
  std::uint32_t largest_frame(const void* parameters) const override { return frame_of(at(parameters)); }
  std::vector<part::FirmwareProperty> firmware_properties(const void* parameters) const override {
    const DescriptorPart& p = at(parameters);
    return {{"sluice,driver", p.driver == Driver::interrupt ? "interrupt" : "poll"},
            {"sluice,queues", p.nic.queues},
            {"sluice,ipv4", net::parse_ipv4(p.host.ipv4)},
            {"sluice,rx-ring", p.rx_ring},
            {"sluice,tx-ring", p.tx_ring},
            {"sluice,moderation", static_cast<std::uint32_t>(p.moderation / kModerationStep)},
            {"sluice,buffers", p.buffers},
            {"sluice,buffer-bytes", static_cast<std::uint32_t>(p.buffer_size.count())},
            {"sluice,max-frame", frame_of(p)},
            {"sluice,buffer-order", p.buffer_order == BufferOrder::shuffled ? "shuffled" : "sequence"}};
  }
  std::unique_ptr<Nic> build(const char* module_name, const void* parameters, base::RandomSeed, net::Wire& wire,
                             net::Wire::End end) const override {
    return std::make_unique<DescriptorNic>(module_name, at(parameters).nic, wire, end);
  }

 private:
  static std::uint32_t frame_of(const DescriptorPart& p) { return p.mtu + net::kEthernetHeader; }
  static const DescriptorPart& at(const void* parameters) { return *static_cast<const DescriptorPart*>(parameters); }
};

}  // namespace

void DescriptorPart::describe(base::Schema<DescriptorPart>& s) {
  using P = DescriptorPart;
  s.summary("multi-queue descriptor NIC and its driver");
  s.include("", &P::attachment);
  s.add("driver", &P::driver, "poll: the driver polls; interrupt: MSI-X or INTx, then polls until there is no more")
      .choices({{"poll", Driver::poll}, {"interrupt", Driver::interrupt}})
      .setting();
  s.include("", &P::host);
  s.add("rx_ring", &P::rx_ring, "receive descriptors of a queue")
      .range(64, 4096)
      .multiple_of(32)
      .unit("descriptors")
      .setting();
  s.add("tx_ring", &P::tx_ring, "transmit descriptors of a queue")
      .range(64, 4096)
      .multiple_of(32)
      .unit("descriptors")
      .setting();
  s.add("buffers", &P::buffers, "packet buffers that the driver has for a queue; 0: as many as it ever needs")
      .range(0, 65536)
      .unit("buffers")
      .setting();
  s.rule("buffers", [](const P& p) -> std::string {
    if (p.buffers == 0) return {};
    const unsigned fewest = p.tx_ring + kBeyondTransmit;
    if (p.buffers < fewest) return fmt::format("must be 0 or at least {}: tx_ring and {}", fewest, kBeyondTransmit);
    const unsigned all = p.rx_ring + p.tx_ring + kBurst;
    if (p.driver == Driver::interrupt && p.buffers < all)
      return fmt::format("must be 0 or at least {}: a driver that sleeps must always have buffers in the ring", all);
    return {};
  });
  s.add("buffer_size", &P::buffer_size, "from one of these buffers to the next")
      .choices({2_KiB, 4_KiB, 8_KiB, 10_KiB})
      .setting();
  s.add("mtu", &P::mtu, "longest IPv4 packet that the driver lets in and out").range(576, 9600).unit("bytes").setting();
  s.rule("mtu", [](const P& p) -> std::string {
    const std::uint64_t largest = room_in(p.buffer_size) - net::kEthernetHeader;
    if (p.mtu <= largest) return {};
    return fmt::format("must be at most {}, for which a buffer of buffer_size, {}, has room", largest,
                       base::to_text(p.buffer_size));
  });
  s.add("buffer_order", &P::buffer_order, "in which the driver first uses them")
      .choices({{"sequence", BufferOrder::sequence}, {"shuffled", BufferOrder::shuffled}})
      .setting();
  s.add("moderation", &P::moderation, "least time between two interrupts of a vector, in steps of 2 us")
      .range(0_ns, kModerationStep * 4095)
      .without_effect([](const P& p) { return p.driver == Driver::interrupt ? "" : "driver is poll"; })
      .setting();
  s.rule("moderation", [](const P& p) {
    return p.moderation % kModerationStep == 0_ns ? "" : "must be a multiple of " + base::to_text(kModerationStep);
  });
  s.include("", &P::nic);
}

}  // namespace sluice::nic

namespace sluice::part {

void add_nic_descriptor(Catalogue& catalogue) {
  catalogue.add<nic::DescriptorPart>("nic", "descriptor", "descriptor NIC",
                                     std::make_shared<const nic::DescriptorFactory>());
}

}  // namespace sluice::part
