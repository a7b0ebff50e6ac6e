// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/rpc_packets.h"

#include <algorithm>

namespace sluice::test {
namespace {

using nic::rpc::Arm;
using nic::rpc::kPacketBytes;
using nic::rpc::kSchemas;
using nic::rpc::Part;
using nic::rpc::Request;
using nic::rpc::Schema;

}  // namespace

std::uint64_t RpcPackets::bits(unsigned count) {
  const std::uint64_t all = std::uint64_t{random_.upto(0xffffffff)} << 32 | random_.upto(0xffffffff);
  return all >> (64 - count);
}

const std::vector<std::optional<Schema>>& RpcPackets::schemas() {
  schemas_.clear();
  for (unsigned i = 0; i < kSchemas; ++i) {
    std::optional<Schema>& s = schemas_.emplace_back();
    if (random_.one_in(10)) continue;
    s.emplace();
    if (!random_.one_in(12)) s->parts = random_.service(i).parts;
    if (random_.one_in(10))  // words of any class anywhere, even halves of hypers
      for (Part& p : s->parts) p.classes = static_cast<std::uint32_t>(bits(32));
    if (random_.one_in(20)) {
      Part& p = s->parts[random_.upto(RPCE_PARTS - 1)];
      p.limit = static_cast<std::uint16_t>(random_.one_in(2) ? bits(16) : random_.upto(9300));
    }
    if (random_.one_in(12)) {  // together more words than the hardware can count
      s->parts[1] = {0, 0, static_cast<Part::Array>(random_.upto(3)), random_.one_in(3), 0x8000};
      s->parts[2] = {0, 0, static_cast<Part::Array>(random_.upto(3)), random_.one_in(3),
                     static_cast<std::uint16_t>(0x7fe0 + random_.upto(64))};
    } else if (random_.one_in(12)) {  // that, too, if where they begin is known
      s->parts[0] = {0, 0, Part::Array::opaque, false, static_cast<std::uint16_t>(random_.upto(80))};
      s->parts[1] = {0, 0, Part::Array::scalars, true, 20};
      s->parts[2] = {0, 0, Part::Array::opaque, false, 0xffff};
    }
    if (random_.one_in(20)) s->parts[random_.upto(RPCE_PARTS - 1)].counted = true;  // if only a count, no array
    if (!random_.one_in(3)) continue;
    for (Arm& a : s->arms) {
      if (random_.one_in(3)) continue;
      a.valid = true;
      a.is_default = random_.one_in(4);
      a.entry = static_cast<std::uint8_t>(random_.upto(kSchemas - 1));
      a.value = random_.one_in(3) ? static_cast<std::uint32_t>(bits(32)) : random_.upto(3);
    }
  }
  return schemas_;
}

Request RpcPackets::request() {
  Request r;
  r.is_call = random_.one_in(3);
  r.accept_stat = static_cast<std::uint8_t>(random_.one_in(4) ? random_.upto(7) : RPCE_SUCCESS);
  r.schema = static_cast<std::uint8_t>(random_.one_in(20) ? bits(8) : random_.upto(kSchemas - 1));
  r.peer_mac = bits(48);
  r.own_mac = bits(48);
  // Sums of many ones carry more.
  const bool ones = random_.one_in(8);
  const auto number = [&](unsigned count) {
    return static_cast<std::uint32_t>(ones ? (std::uint64_t{1} << count) - 1 - random_.upto(1) : bits(count));
  };
  r.peer_address = number(32);
  r.own_address = number(32);
  r.peer_port = static_cast<std::uint16_t>(number(16));
  r.own_port = static_cast<std::uint16_t>(number(16));
  r.xid = number(32);
  r.program = number(32);
  r.version = number(32);
  r.procedure = number(32);
  return r;
}

void RpcPackets::word(RpcPacket& p, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) {
    p.little.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    p.xdr.push_back(static_cast<std::uint8_t>(value >> 8 * (3 - i)));
  }
}

void RpcPackets::hyper(RpcPacket& p, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) {
    p.little.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    p.xdr.push_back(static_cast<std::uint8_t>(value >> 8 * (7 - i)));
  }
}

void RpcPackets::opaque(RpcPacket& p, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<std::uint8_t>(bits(8));
    p.little.push_back(byte);
    p.xdr.push_back(byte);
  }
}

void RpcPackets::part(RpcPacket& p, const Part& part) {
  for (unsigned w = 0; w < part.words; ++w) {
    const unsigned word_class = part.classes >> 2 * w & 3;
    const unsigned next_class = w + 1 < part.words ? part.classes >> 2 * (w + 1) & 3 : RPCD_CLASS_COPY;
    if (word_class == RPCD_CLASS_HYPER_HIGH && next_class == RPCD_CLASS_HYPER_LOW) {
      hyper(p, bits(64));
      ++w;
    } else if (word_class == RPCD_CLASS_COPY) {
      opaque(p, 4);
    } else {
      if (word_class != RPCD_CLASS_SWAP) p.is_right = false;
      word(p, static_cast<std::uint32_t>(bits(32)));
    }
  }
  std::uint32_t count = part.limit;
  if (part.counted) {
    count = random_.one_in(8)   ? part.limit
            : random_.one_in(2) ? random_.upto(std::min<std::uint32_t>(part.limit, 9))
                                : random_.upto(part.limit);
    if (random_.one_in(60)) {
      count = random_.one_in(2) ? part.limit + 1u : static_cast<std::uint32_t>(bits(32));
      p.is_right = p.is_right && count <= part.limit;
    }
    word(p, count);
    count = std::min<std::uint32_t>(count, part.limit + 1u);
  }
  if (count > kPacketBytes) {  // more than any packet has
    p.is_right = false;
    count = random_.upto(100);
  }
  switch (part.array) {
    case Part::Array::opaque:
      if (!part.counted) return opaque(p, 4 * count);
      opaque(p, count);
      while (p.little.size() % 4 != 0) {
        p.little.push_back(0);
        p.xdr.push_back(0);
      }
      break;
    case Part::Array::scalars:
      for (std::uint32_t i = 0; i < count; ++i) word(p, static_cast<std::uint32_t>(bits(32)));
      break;
    case Part::Array::hypers:
      if (!part.counted && count % 2 != 0) p.is_right = false;
      for (std::uint32_t i = 0; i < (part.counted ? count : (count + 1) / 2); ++i) hyper(p, bits(64));
      break;
    case Part::Array::none:
      if (!part.counted) opaque(p, 4 * count);
      break;
  }
}

void RpcPackets::data(RpcPacket& p, const Schema& schema) {
  const Schema* s = &schema;
  p.is_union = s->is_union();
  if (p.is_union) {
    std::uint32_t status = random_.upto(4);
    const Arm& some = s->arms[random_.upto(RPCE_ARMS - 1)];
    if (!random_.one_in(3)) status = some.value;
    word(p, status);
    unsigned entry = kSchemas;
    for (const Arm& a : s->arms)
      if (entry == kSchemas && a.valid && !a.is_default && a.value == status) entry = a.entry;
    for (const Arm& a : s->arms)
      if (entry == kSchemas && a.valid && a.is_default) entry = a.entry;
    if (entry == kSchemas || !schemas_[entry] || schemas_[entry]->is_union()) {
      p.is_right = false;
      return;
    }
    s = &*schemas_[entry];
  }
  for (const Part& i : s->parts)
    if (p.little.size() <= kPacketBytes + 200) part(p, i);
  if (p.little.size() > kPacketBytes) p.is_right = false;
}

RpcPacket RpcPackets::packet() {
  RpcPacket p;
  Request& r = p.input.request;
  r = request();
  const bool has_data = r.is_call || r.accept_stat == RPCE_SUCCESS;
  p.is_right = has_data && r.schema < kSchemas && schemas_[r.schema];
  if (r.schema < kSchemas && schemas_[r.schema]) data(p, *schemas_[r.schema]);

  std::vector<std::uint8_t>& d = p.input.data;
  d = p.little;
  // What pads an opaque may be anything.
  if (p.is_right && !p.is_union) {
    std::size_t at = 0;
    for (const Part& i : schemas_[r.schema]->parts) {
      at += std::size_t{4} * i.words;
      std::size_t bytes = std::size_t{4} * i.limit;
      if (i.counted) {
        const std::uint32_t count = d[at] | std::uint32_t{d[at + 1]} << 8;
        at += 4;
        bytes = i.array == Part::Array::opaque    ? count
                : i.array == Part::Array::scalars ? std::size_t{4} * count
                : i.array == Part::Array::hypers  ? std::size_t{8} * count
                                                  : 0;
      }
      for (at += bytes; at % 4 != 0; ++at) d[at] = static_cast<std::uint8_t>(bits(8));
    }
  }
  switch (random_.upto(11)) {
    case 0:  // more than the data
      for (std::uint32_t i = random_.one_in(10) ? random_.upto(10000) : random_.upto(140); i > 0; --i)
        d.push_back(static_cast<std::uint8_t>(bits(8)));
      break;
    case 1:  // less
      if (!d.empty() && random_.one_in(2)) {
        d.resize(d.size() - 1 - random_.upto(std::min<std::uint32_t>(8, static_cast<std::uint32_t>(d.size() - 1))));
        p.is_right = false;
      }
      break;
    case 2:
      if (!d.empty() && random_.one_in(2)) {
        d.resize(random_.upto(static_cast<std::uint32_t>(d.size() - 1)));
        p.is_right = false;
      }
      break;
    case 3:  // a bit of the first words, which may be a count or the status
      if (!d.empty() && random_.one_in(2)) {
        d[random_.upto(static_cast<std::uint32_t>(std::min<std::size_t>(d.size(), 80) - 1))] ^=
            static_cast<std::uint8_t>(1u << random_.upto(7));
        p.is_right = false;
      }
      break;
    default:
      break;
  }
  return p;
}

}  // namespace sluice::test
