// SPDX-License-Identifier: Apache-2.0
/// The register map of DescriptorNic; offsets and meanings: descriptor_regs.h.

#include <cstring>

#include <fmt/format.h>

#include "models/nic/descriptor/descriptor_nic.h"

namespace sluice::nic {

using base::Access;
using base::RegisterWrite;

namespace {

constexpr unsigned kQueueStride = DESC_QUEUE(1) - DESC_QUEUE(0);
constexpr unsigned kVectorStride = DESC_VECTOR_CONTROL(1) - DESC_VECTOR_CONTROL(0);

std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }
std::uint64_t with_low(std::uint64_t v, std::uint64_t part) { return (v & ~0xffff'ffffull) | part; }
std::uint64_t with_high(std::uint64_t v, std::uint64_t part) { return (v & 0xffff'ffffull) | part << 32; }
bool ring_length_good(std::uint64_t n) {
  return n >= DESC_RING_MIN && n <= DESC_RING_MAX && n % DESC_RING_MULTIPLE == 0;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------- access

void DescriptorNic::mmio_read(unsigned bar, std::uint64_t offset, unsigned size, pcie::MmioReply reply) {
  std::uint32_t value = 0;
  // All registers have 4 bytes: the bank refuses every other size.
  if (bar == DESC_BAR_REGISTERS && bank_.read(offset, &value, size) == base::Answer::ok) return reply.value(value);
  if (bar != DESC_BAR_REGISTERS) base::report_refused(path(), base::Answer::unmapped, "read", offset, size, "BAR 2");
  ++counts_[DESC_STAT_BAD_ACCESS];
  reply.unsupported();
}

void DescriptorNic::mmio_write(unsigned bar, std::uint64_t offset, std::span<const std::uint8_t> data,
                               const base::Journey& journey) {
  doorbell_ = &journey;
  const auto size = static_cast<unsigned>(data.size());
  base::Answer answer = base::Answer::unmapped;
  if (bar == DESC_BAR_REGISTERS)
    answer = bank_.write(offset, data.data(), size);
  else
    base::report_refused(path(), answer, "write", offset, size, "BAR 2");
  doorbell_ = nullptr;
  if (answer != base::Answer::ok && answer != base::Answer::read_only) ++counts_[DESC_STAT_BAD_ACCESS];
}

void DescriptorNic::add_register(const char* name, std::uint64_t offset, Read read, Write write, unsigned elements,
                                 std::uint64_t stride) {
  base::RegisterDeclaration d;
  d.name = name;
  d.offset = offset;
  d.access = write ? Access::rw : Access::ro;
  d.count = elements;
  d.stride = stride;
  d.on_read = std::move(read);
  d.on_write = std::move(write);
  bank_.add(std::move(d));
}

void DescriptorNic::add_latch(const char* name, std::uint64_t offset, Read read, Read peek, unsigned elements,
                              std::uint64_t stride) {
  base::RegisterDeclaration d;
  d.name = name;
  d.offset = offset;
  d.access = Access::ro;
  d.count = elements;
  d.stride = stride;
  d.on_read = std::move(read);
  d.read_acts = true;
  d.on_peek = std::move(peek);
  bank_.add(std::move(d));
}

/// Whether a write to a ring's register is ignored, and reported, because the ring is active.
bool DescriptorNic::ignored_while_busy(const char* direction, bool busy, const char* reg, unsigned queue) {
  if (busy)
    error(DESC_ERROR_RING_BUSY, queue,
          fmt::format("{} queue {}: {} is written while the ring is active: ignored", direction, queue, reg));
  return busy;
}

bool DescriptorNic::good_cause(const std::string& reg, std::uint32_t value, unsigned queue) {
  if ((value & DESC_CAUSE_VECTOR) < vectors_.count()) return true;
  error(DESC_ERROR_VALUE, queue,
        fmt::format("{} names vector {}, the NIC has {}, 0 to {}: ignored", reg, value & DESC_CAUSE_VECTOR,
                    vectors_.count(), vectors_.count() - 1));
  return false;
}

bool DescriptorNic::good_length(const std::string& reg, std::uint64_t value, unsigned queue) {
  if (ring_length_good(value)) return true;
  error(DESC_ERROR_VALUE, queue,
        fmt::format("{} {} is not a multiple of {} from {} to {}: ignored", reg, value, DESC_RING_MULTIPLE,
                    DESC_RING_MIN, DESC_RING_MAX));
  return false;
}

/// Returns the low half of a ring's address as the register holds it. Reports a misaligned address.
std::uint64_t DescriptorNic::cut_base(const std::string& reg, std::uint64_t value) {
  const std::uint64_t kept = value & ~std::uint64_t{DESC_RING_ALIGNMENT - 1};
  if (kept != value)
    base::mistakes().report(fmt::format("{}: {} {:#x} is cut to {:#x}, a ring starts at a multiple of {} bytes", path(),
                                        reg, value, kept, DESC_RING_ALIGNMENT));
  return kept;
}

// ------------------------------------------------------------------------------------------------------- device

std::uint32_t DescriptorNic::capabilities() const {
  return parameters_.queues | vectors_.count() << DESC_CAPABILITIES_VECTORS_SHIFT | DESC_CAPABILITIES_RX_CHECKSUM |
         DESC_CAPABILITIES_TX_CHECKSUM | DESC_CAPABILITIES_RSS | DESC_CAPABILITIES_TIMESTAMP |
         DESC_CAPABILITIES_UDP_RULES | (parameters_.decoder == Decoder::none ? 0 : DESC_CAPABILITIES_RPC);
}

void DescriptorNic::write_control(std::uint32_t value) {
  if (value & DESC_CONTROL_RESET) return reset_device(false);
  control_ =
      value & (DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE | DESC_CONTROL_PROMISCUOUS | DESC_CONTROL_TURN_AROUND);
  mac_.set_loopback(control_ & DESC_CONTROL_TURN_AROUND ? net::Mac::Loopback::interface : net::Mac::Loopback::none);
  if (control_ & DESC_CONTROL_TX_ENABLE) transmit_.go_on();
}

void DescriptorNic::declare_device_registers() {
  add_register(
      "revision", DESC_REVISION, [](unsigned) { return DESC_REVISION_1; }, nullptr);
  add_register(
      "capabilities", DESC_CAPABILITIES, [this](unsigned) { return capabilities(); }, nullptr);
  add_register(
      "control", DESC_CONTROL, [this](unsigned) { return control_ | (resetting_ ? DESC_CONTROL_RESET : 0u); },
      [this](const RegisterWrite& w) { write_control(low(w.written)); });
  add_register(
      "status", DESC_STATUS, [this](unsigned) { return mac_.link_up() ? DESC_STATUS_LINK_UP : 0u; }, nullptr);
  add_register(
      "link_speed", DESC_LINK_SPEED,
      [this](unsigned) { return mac_.link_up() ? mac_.rate().bits_per_second() / 1'000'000 : 0; }, nullptr);
  add_register(
      "mac_low", DESC_MAC_LOW, [this](unsigned) { return low(address_); },
      [this](const RegisterWrite& w) { address_ = with_low(address_, w.written); });
  add_register(
      "mac_high", DESC_MAC_HIGH, [this](unsigned) { return high(address_); },
      [this](const RegisterWrite& w) { address_ = with_high(address_, w.written & DESC_MAC_HIGH_OCTETS); });
  add_register(
      "max_frame", DESC_MAX_FRAME, [this](unsigned) { return max_frame_; },
      [this](const RegisterWrite& w) {
        if (w.written < DESC_MAX_FRAME_LEAST || w.written > DESC_MAX_FRAME_LIMIT)
          return error(DESC_ERROR_VALUE, 0,
                       fmt::format("max_frame {} is not {} to {}: ignored", w.written, DESC_MAX_FRAME_LEAST,
                                   DESC_MAX_FRAME_LIMIT));
        max_frame_ = low(w.written);
        mac_.set_max_frame(max_frame_);
      });
  add_register(
      "link_interrupt", DESC_LINK_INTERRUPT, [this](unsigned) { return link_cause_; },
      [this](const RegisterWrite& w) {
        if (good_cause("link_interrupt", low(w.written), 0))
          link_cause_ = low(w.written) & (DESC_CAUSE_ENABLE | DESC_CAUSE_VECTOR);
      });
  add_latch(
      "time_low", DESC_TIME_LOW,
      [this](unsigned) {
        const std::uint64_t t = base::now() / base::Time::ns(1);
        time_high_ = high(t);
        return low(t);
      },
      [](unsigned) { return low(base::now() / base::Time::ns(1)); });
  add_register(
      "time_high", DESC_TIME_HIGH, [this](unsigned) { return time_high_; }, nullptr);
  add_register(
      "errors", DESC_ERRORS, [this](unsigned) { return errors_; },
      [this](const RegisterWrite& w) { errors_ &= ~low(w.written); });
  add_register(
      "error_queue_first", DESC_ERROR_QUEUE_FIRST, [this](unsigned) { return error_queue_; }, nullptr);
}

void DescriptorNic::declare_stamp_registers() {
  add_register(
      "tx_stamp_ready", DESC_TX_STAMP_READY(0), [this](unsigned word) { return low(stamps_.ready() >> 32 * word); },
      [this](const RegisterWrite& w) { stamps_.clear(w.written << 32 * w.index); }, DESC_TX_STAMPS / 32);
  add_register(
      "tx_stamp_low", DESC_TX_STAMP_LOW(0), [this](unsigned entry) { return low(stamps_.nanoseconds(entry)); }, nullptr,
      DESC_TX_STAMPS, 8);
  add_register(
      "tx_stamp_high", DESC_TX_STAMP_HIGH(0), [this](unsigned entry) { return high(stamps_.nanoseconds(entry)); },
      nullptr, DESC_TX_STAMPS, 8);
}

void DescriptorNic::declare_rss_registers() {
  add_register(
      "rss_control", DESC_RSS_CONTROL, [this](unsigned) { return receive_.rss_control(); },
      [this](const RegisterWrite& w) {
        receive_.set_rss_control(low(w.written) & (DESC_RSS_CONTROL_IPV4 | DESC_RSS_CONTROL_UDP));
      });
  add_register(
      "rss_key", DESC_RSS_KEY(0), [this](unsigned i) { return receive_.rss_key(i); },
      [this](const RegisterWrite& w) { receive_.set_rss_key(w.index, low(w.written)); }, DESC_RSS_KEY_WORDS);
  add_register(
      "rss_table", DESC_RSS_TABLE(0), [this](unsigned i) { return receive_.rss_table(i); },
      [this](const RegisterWrite& w) { receive_.set_rss_table(w.index, low(w.written)); }, DESC_RSS_TABLE_WORDS);
}

void DescriptorNic::declare_udp_rule_registers() {
  add_register(
      "udp_rule", DESC_UDP_RULE(0), [this](unsigned i) { return receive_.udp_rule(i); },
      [this](const RegisterWrite& w) {
        const unsigned queue = (low(w.written) & DESC_UDP_RULE_QUEUE) >> DESC_UDP_RULE_QUEUE_SHIFT;
        if (queue < parameters_.queues) return receive_.set_udp_rule(w.index, low(w.written));
        error(DESC_ERROR_VALUE, queue,
              fmt::format("udp_rule[{}] names queue {}, the NIC has {}, 0 to {}: ignored", w.index, queue,
                          parameters_.queues, parameters_.queues - 1));
      },
      DESC_UDP_RULES);
}

void DescriptorNic::declare_vector_registers() {
  const unsigned n = vectors_.count();
  add_register(
      "vector_control", DESC_VECTOR_CONTROL(0), [this](unsigned v) { return vectors_.read_control(v); },
      [this](const RegisterWrite& w) { vectors_.write_control(w.index, low(w.written)); }, n, kVectorStride);
  add_register(
      "vector_moderation", DESC_VECTOR_MODERATION(0), [this](unsigned v) { return vectors_.moderation(v); },
      [this](const RegisterWrite& w) {
        if (w.written > DESC_VECTOR_MODERATION_MAX)
          return error(DESC_ERROR_VALUE, 0,
                       fmt::format("vector_moderation[{}] {} is not 0 to {}: ignored", w.index, w.written,
                                   DESC_VECTOR_MODERATION_MAX));
        vectors_.set_moderation(w.index, low(w.written));
      },
      n, kVectorStride);
  add_register(
      "vector_status", DESC_VECTOR_STATUS(0),
      [this](unsigned v) { return vectors_.pending(v) ? DESC_VECTOR_STATUS_PENDING : 0u; }, nullptr, n, kVectorStride);
}

void DescriptorNic::declare_statistic_registers() {
  add_latch(
      "stat_low", DESC_STAT_LOW(0),
      [this](unsigned n) {
        statistic_high_[n] = high(counts_[n]);
        return low(counts_[n]);
      },
      [this](unsigned n) { return low(counts_[n]); }, DESC_STAT_COUNT, 8);
  add_register(
      "stat_high", DESC_STAT_HIGH(0), [this](unsigned n) { return statistic_high_[n]; }, nullptr, DESC_STAT_COUNT, 8);
}

// -------------------------------------------------------------------------------------------------------- rings

void DescriptorNic::declare_receive_registers() {
  const unsigned n = parameters_.queues;
  auto add = [&](const char* name, unsigned offset, Read read, Write write) {
    add_register(name, DESC_QUEUE(0) + offset, std::move(read), std::move(write), n, kQueueStride);
  };
  auto locked = [this](const char* reg, unsigned q) { return ignored_while_busy("receive", receive_.busy(q), reg, q); };
  add(
      "rx_base_low", DESC_RX_BASE_LOW, [this](unsigned q) { return low(receive_.registers(q).base); },
      [this, locked](const RegisterWrite& w) {
        if (locked("rx_base_low", w.index)) return;
        std::uint64_t& ring = receive_.registers(w.index).base;
        ring = with_low(ring, cut_base(fmt::format("rx_base_low[{}]", w.index), w.written));
      });
  add(
      "rx_base_high", DESC_RX_BASE_HIGH, [this](unsigned q) { return high(receive_.registers(q).base); },
      [this, locked](const RegisterWrite& w) {
        if (locked("rx_base_high", w.index)) return;
        std::uint64_t& ring = receive_.registers(w.index).base;
        ring = with_high(ring, w.written);
      });
  add(
      "rx_length", DESC_RX_LENGTH, [this](unsigned q) { return receive_.registers(q).length; },
      [this, locked](const RegisterWrite& w) {
        if (locked("rx_length", w.index)) return;
        if (!good_length(fmt::format("rx_length[{}]", w.index), w.written, w.index)) return;
        receive_.registers(w.index).length = low(w.written);
      });
  add(
      "rx_buffer", DESC_RX_BUFFER, [this](unsigned q) { return receive_.registers(q).buffer; },
      [this, locked](const RegisterWrite& w) {
        if (locked("rx_buffer", w.index)) return;
        if (w.written < DESC_RX_BUFFER_MIN || w.written > DESC_RX_BUFFER_MAX || w.written % DESC_RX_BUFFER_MULTIPLE)
          return error(DESC_ERROR_VALUE, w.index,
                       fmt::format("rx_buffer[{}] {} is not a multiple of {} from {} to {}: ignored", w.index,
                                   w.written, DESC_RX_BUFFER_MULTIPLE, DESC_RX_BUFFER_MIN, DESC_RX_BUFFER_MAX));
        receive_.registers(w.index).buffer = low(w.written);
      });
  add(
      "rx_control", DESC_RX_CONTROL, [this](unsigned q) { return receive_.control(q); },
      [this](const RegisterWrite& w) { receive_.set_enabled(w.index, w.written & DESC_RING_ENABLE); });
  add(
      "rx_head", DESC_RX_HEAD, [this](unsigned q) { return receive_.head(q); }, nullptr);
  add(
      "rx_interrupt", DESC_RX_INTERRUPT, [this](unsigned q) { return receive_.registers(q).cause; },
      [this, locked](const RegisterWrite& w) {
        if (!locked("rx_interrupt", w.index) &&
            good_cause(fmt::format("rx_interrupt[{}]", w.index), low(w.written), w.index))
          receive_.registers(w.index).cause = low(w.written) & (DESC_CAUSE_ENABLE | DESC_CAUSE_VECTOR);
      });
  add(
      "rx_drops", DESC_RX_DROPS, [this](unsigned q) { return receive_.drops(q); }, nullptr);
  add(
      "rx_tail", DESC_RX_TAIL, [this](unsigned q) { return receive_.tail(q); },
      [this](const RegisterWrite& w) { receive_.write_tail(w.index, low(w.written)); });
}

void DescriptorNic::declare_transmit_registers() {
  const unsigned n = parameters_.queues;
  auto add = [&](const char* name, unsigned offset, Read read, Write write) {
    add_register(name, DESC_QUEUE(0) + offset, std::move(read), std::move(write), n, kQueueStride);
  };
  auto locked = [this](const char* reg, unsigned q) {
    return ignored_while_busy("transmit", transmit_.busy(q), reg, q);
  };
  add(
      "tx_base_low", DESC_TX_BASE_LOW, [this](unsigned q) { return low(transmit_.registers(q).base); },
      [this, locked](const RegisterWrite& w) {
        if (locked("tx_base_low", w.index)) return;
        std::uint64_t& ring = transmit_.registers(w.index).base;
        ring = with_low(ring, cut_base(fmt::format("tx_base_low[{}]", w.index), w.written));
      });
  add(
      "tx_base_high", DESC_TX_BASE_HIGH, [this](unsigned q) { return high(transmit_.registers(q).base); },
      [this, locked](const RegisterWrite& w) {
        if (locked("tx_base_high", w.index)) return;
        std::uint64_t& ring = transmit_.registers(w.index).base;
        ring = with_high(ring, w.written);
      });
  add(
      "tx_length", DESC_TX_LENGTH, [this](unsigned q) { return transmit_.registers(q).length; },
      [this, locked](const RegisterWrite& w) {
        if (locked("tx_length", w.index)) return;
        if (!good_length(fmt::format("tx_length[{}]", w.index), w.written, w.index)) return;
        transmit_.registers(w.index).length = low(w.written);
      });
  add(
      "tx_control", DESC_TX_CONTROL, [this](unsigned q) { return transmit_.control(q); },
      [this](const RegisterWrite& w) { transmit_.set_enabled(w.index, w.written & DESC_RING_ENABLE); });
  add(
      "tx_head", DESC_TX_HEAD, [this](unsigned q) { return transmit_.head(q); }, nullptr);
  add(
      "tx_interrupt", DESC_TX_INTERRUPT, [this](unsigned q) { return transmit_.registers(q).cause; },
      [this, locked](const RegisterWrite& w) {
        if (!locked("tx_interrupt", w.index) &&
            good_cause(fmt::format("tx_interrupt[{}]", w.index), low(w.written), w.index))
          transmit_.registers(w.index).cause = low(w.written) & (DESC_CAUSE_ENABLE | DESC_CAUSE_VECTOR);
      });
  add(
      "tx_tail", DESC_TX_TAIL, [this](unsigned q) { return transmit_.tail(q); },
      [this](const RegisterWrite& w) {
        static const base::Journey kNoTlp{};  // a debugger's write comes without a TLP
        transmit_.write_tail(w.index, low(w.written), doorbell_ ? *doorbell_ : kNoTlp);
      });
}

}  // namespace sluice::nic
