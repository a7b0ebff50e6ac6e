// SPDX-License-Identifier: Apache-2.0
/// Builds the peers and clients at the far ends of a board's wires, and the board's workload.

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "models/net/frame.h"
#include "platform/board/board.h"
#include "platform/board/pcie_tree.h"
#include "platform/firmware/device_tree_properties.h"
#include "platform/workload/named_workload.h"
#include "platform/workload/traffic_workload.h"

namespace sluice::platform {
namespace {

/// Whether a peer of the board is at the far end of a wire.
bool has_peer(const config::BoardConfig& config, const WireInstance& w) {
  const auto peers = config.of_kind("peer");
  return std::any_of(peers.begin(), peers.end(), [&](const config::Instance* p) { return wire_of_peer(*p) == w.path; });
}

/// Whether a key of an instance was set, and not before its kind was, as by a board's file whose kind --set replaces.
bool is_set_with_kind(const config::Instance& instance, const std::string& key) {
  const auto& set = instance.origin(key);
  return set.layer > 0 && set.layer >= instance.origin("kind").layer;
}

}  // namespace

/// The firmware's IPv4 address at a wire; empty where no NIC is.
std::string Board::address_at(const WireInstance& w) const {
  for (const NicInstance& n : nics_)
    if (n.place.wire == w.path) return n.place.ipv4;
  return {};
}

/// The station address of the NIC at a wire; empty where there is none.
std::string Board::station_at(const WireInstance& w) const {
  for (const NicInstance& n : nics_)
    if (n.place.wire == w.path) return n.place.address;
  return {};
}

/// The most frames of this size that the NIC at a wire and the rings of its driver can hold.
std::uint64_t Board::buffered_frames(const WireInstance& w, std::uint64_t frame_bytes) const {
  std::uint64_t frames = 0;
  for (const config::Instance* n : config_.of_kind("nic")) {
    if (place_of(config_, *n).wire == w.path)
      frames += by_author(config_, n->path(), "cannot be built",
                          [&] { return nic_factory_of(*n).buffered_frames(n->values(), frame_bytes); });
  }
  return frames;
}

/// Checks that a host and the NIC at the other end of its wire have different addresses.
void Board::check_addresses(const config::Instance& host, const net::RemoteHost::Parameters& p,
                            const std::string& wire) const {
  for (const config::Instance* n : config_.of_kind("nic")) {
    const nic::NicPlace nic = place_of(config_, *n);
    if (nic.wire != wire) continue;
    const auto check = [&](const char* host_key, const char* nic_key, bool same) {
      if (!same) return;
      if (config::BoardConfig::is_later(*n, nic_key, host, host_key))
        throw config_.error(*n, nic_key, fmt::format("must not be {}.{} too", host.path(), host_key));
      throw config_.error(host, host_key, fmt::format("must not be {}.{} too", n->path(), nic_key));
    };
    check("host.address", "ipv4", net::parse_ipv4(p.address) == net::parse_ipv4(nic.ipv4));
    if (!nic.address.empty()) check("host.mac", "address", net::parse_mac(p.mac) == net::parse_mac(nic.address));
  }
}

/// What a workload is told of the board. External traffic is at the first wire.
workload::Surroundings Board::surroundings(Traffic traffic) {
  const auto& caches = config_.parameters<coherence::MemorySystem::Parameters>("caches");
  workload::Surroundings board;
  for (DeviceInstance& d : devices_) board.devices.push_back(d.endpoint.get());
  for (NicInstance& n : nics_) board.nics.push_back({n.model, n.largest_frame});
  for (WireInstance& w : wires_) {
    const bool external = traffic == Traffic::external && &w == &wires_.front();
    if (!external && !has_peer(config_, w))
      board.wires.push_back({w.path, w.wire.get(), address_at(w), station_at(w),
                             [this, &w](std::uint64_t bytes) { return buffered_frames(w, bytes); }});
  }
  board.caches = base::Bytes(caches.llc_size.count() + caches.l2_size.count() * host().harts());
  board.iommu = iommu_ != nullptr;
  board.iommu_page = config_.parameters<IommuInstance>("iommu").page;
  board.seed = {run_.seed, run_.replication};
  return board;
}

/// Calls f, which is code of the workload. A refusal of the board is told as the workload words it, any other exception
/// as a mistake of its author.
template <class F>
auto Board::by_workload(const char* verb, const F& f) const {
  std::string refusal;
  auto result = by_author(config_, "workload", verb, [&]() -> std::optional<decltype(f())> {
    try {
      return f();
    } catch (const workload::NotForThisBoard& e) {
      refusal = e.what();
      return std::nullopt;
    }
  });
  if (result) return *std::move(result);
  const config::Location& chosen = config_.the("workload").model_set().where;
  const bool by_option = !chosen.file.empty() && chosen.line == 0;
  throw config::UserError((by_option ? chosen.text() : config_.file()) + ": " + refusal);
}

/// What the workload tells the firmware in /chosen.
std::vector<part::FirmwareProperty> Board::workload_properties() {
  if (!workload_) return {};
  return by_workload("cannot say what the firmware must know", [&] {
    auto properties = workload_->firmware_properties();
    check_properties(properties, PropertyNode::chosen);
    return properties;
  });
}

void Board::build_workload(Traffic traffic) {
  build_peers(traffic);
  const config::Instance& instance = config_.the("workload");
  if (traffic == Traffic::generated)
    build_traffic();
  else
    check_displaced_by_tap(instance);
  if (!clients_.empty()) {
    workload_ = std::make_unique<TrafficWorkload>(clients_, run_.allow_drops);
    return;
  }
  const auto* factory = dynamic_cast<const workload::WorkloadFactory*>(instance.factory());
  if (!factory) return;
  check_files(instance);
  surroundings_ = surroundings(traffic);
  marks_.push_back(std::make_unique<ElaborationMark>("before__workload", "workload"));
  workload_ = std::make_unique<NamedWorkload>(by_workload("cannot be built", [&] {
    auto built = factory->build(instance.model_values(), surroundings_);
    if (!built) throw std::logic_error(kBuiltNothing);
    return built;
  }));
  marks_.push_back(std::make_unique<ElaborationMark>("after__workload", ""));
}

/// Builds the peers that the board names. External traffic takes the far end of the first wire. It excludes peers with
/// clients, because the run then ends with the external traffic and not with clients.
void Board::build_peers(Traffic traffic) {
  for (const config::Instance* i : config_.of_kind("peer")) {
    const std::string& at = wire_of_peer(*i);
    if (traffic == Traffic::external && i->model() == "traffic")
      throw config_.error(*i, "wire",
                          "cannot have clients in a run whose packets come from a TAP interface; the "
                          "run needs a board without peers of model \"traffic\"");
    if (traffic == Traffic::external && at == wires_.front().path)
      throw config_.error(*i, "wire", "must not be " + at + ", which leads to the TAP interface in this run");
    for (const config::Instance* other : config_.of_kind("peer"))
      if (other != i && wire_of_peer(*other) == at)
        throw clash(config_, *i, *other, "wire", "must be a link of its own; {} is at it too");
    WireInstance& link = wire(*i, at);
    if (i->model() == "traffic") {
      if (config_.the("workload").model() != "traffic")
        throw config_.error(*i, "wire", "cannot have clients on a board whose workload.model is not \"traffic\"");
      build_clients(*i, i->parameters<TrafficPeerParameters>().traffic, link);
      continue;
    }
    peers_.push_back(build_peer(*i, link));
    peers_.back()->publish_statistics();
  }
}

/// Builds a peer that makes no calls.
std::unique_ptr<base::Model> Board::build_peer(const config::Instance& instance, WireInstance& at) const {
  const std::string name = base::module_name(instance.path());
  if (instance.model() == "rpc") {
    const net::RpcPeer::Parameters& p = instance.parameters<RpcPeerParameters>().peer;
    check_addresses(instance, p.host, at.path);
    const base::RandomSeed seed{run_.seed, run_.replication};
    return std::make_unique<net::RpcPeer>(name.c_str(), p, seed, *at.wire, net::Wire::kA);
  }
  const net::EchoPeer::Parameters& p = instance.parameters<EchoPeerParameters>().peer;
  check_addresses(instance, p.host, at.path);
  return std::make_unique<net::EchoPeer>(name.c_str(), p, *at.wire, net::Wire::kA);
}

/// Builds the workload's clients at the first NIC's wire if no peer is there, else at the first wire without a peer.
void Board::build_traffic() {
  const auto is_free = [&](const WireInstance& w) { return !has_peer(config_, w); };
  const auto nics = config_.of_kind("nic");
  auto free = std::find_if(wires_.begin(), wires_.end(), [&](const WireInstance& w) {
    return !nics.empty() && is_free(w) && w.path == place_of(config_, *nics.front()).wire;
  });
  if (free == wires_.end()) free = std::find_if(wires_.begin(), wires_.end(), is_free);
  const config::Instance& workload = config_.the("workload");
  if (workload.model() != "traffic") return;
  if (wires_.empty()) return check_displaced(workload, "it has no Ethernet link", true);
  if (!makes_calls(config_)) return check_displaced(workload, "workload.requests is 0", false, "requests");
  if (free != wires_.end())
    build_clients(workload, workload.parameters<net::TrafficSource::Parameters>(), *free);
  else
    check_displaced(workload, "peers are at the far ends of all its Ethernet links", true);
}

/// Refuses parameters of an instance, except one, that would have no effect: those from the command line, and on
/// request those in the board's own file. A board may have inherited others, so they are accepted.
void Board::check_displaced(const config::Instance& instance, const char* why, bool in_own_file,
                            std::string_view except) const {
  const std::size_t own = config_.files().size();
  for (const auto& p : instance.schema().parameters())
    if (const auto layer = instance.origin(p->key()).layer;
        p->key() != except && (layer > own || (layer == own && in_own_file)))
      throw config_.without_effect(instance, p->key(), why);
}

/// Refuses what the command line sets for a run whose packets come from a TAP interface, and what would have an effect
/// only without it.
void Board::check_displaced_by_tap(const config::Instance& workload) const {
  constexpr const char* kWhy = "the TAP interface is in the workload's place";
  const config::Instance& run = config_.the("run");
  if (config_.is_override(run, "time_limit"))
    throw config_.without_effect(run, "time_limit",
                                 "a run with a TAP interface goes on until --until or a signal ends it");
  if (workload.model() != "traffic") return;
  check_displaced(workload, kWhy, false);
  if (const auto& chosen = workload.model_set(); chosen.layer > config_.files().size())
    throw config::UserError(chosen.where, fmt::format("has no effect on {}: {}", config_.name(), kWhy));
  for (const char* key : {"stall_limit", "allow_drops"})
    if (config_.is_override(run, key)) throw config_.without_effect(run, key, kWhy);
}

/// Sentences about a run with a TAP interface: what of the board's own file has no effect, and which workload runs
/// beside the interface.
std::string Board::about_tap() const {
  const config::Instance& workload = config_.the("workload");
  const std::string& wire = wires_.front().path;
  if (workload_) return fmt::format("the {} runs beside the TAP interface, which is at {}", workload.title(), wire);
  if (workload.model() != "traffic") return {};
  const auto& parameters = workload.schema().parameters();
  const auto set = std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) {
    return workload.origin(p->key()).layer == config_.files().size();
  });
  if (set == parameters.end()) return {};
  return fmt::format("[workload] of {} has no effect in this run: the TAP interface, at {}, is in its place",
                     config_.file(), wire);
}

/// The sizes of a size sweep take the place of a call's bytes, which what says that it is one must not set.
void Board::check_sizes(const config::Instance& instance, const net::TrafficSource::Parameters& p) const {
  if (p.kind == net::TrafficSource::Kind::size_sweep && is_set_with_kind(instance, "call.bytes"))
    throw config_.error(instance, "call.bytes", "must not be set for a size sweep, whose calls are of workload.sizes");
}

/// Builds the clients that an instance, the workload or a peer, describes.
void Board::build_clients(const config::Instance& instance, const net::TrafficSource::Parameters& p, WireInstance& at) {
  auto traffic = p;
  if (p.find_warmup && instance.kind() != "workload")
    throw config_.error(instance, "find_warmup", "belongs to the workload, and not to a peer");
  if (warm_up_) traffic.warmup = warm_up_->calls;
  check_sizes(instance, traffic);
  check_addresses(instance, traffic.host, at.path);
  if (traffic.host.partner.empty()) traffic.host.partner = address_at(at);
  if (traffic.host.partner.empty())
    throw config_.error(instance, "host.partner", "must be set: no NIC is at " + at.path + " to take it from");
  try {
    sources_.push_back(std::make_unique<net::TrafficSource>(base::module_name(instance.path()).c_str(), traffic,
                                                            base::RandomSeed{run_.seed, run_.replication}, *at.wire,
                                                            net::Wire::kA));
    sources_.back()->publish_statistics();
  } catch (const std::runtime_error& e) {
    if (traffic.kind == net::TrafficSource::Kind::replay)
      throw config_.error(instance, "pcap", std::string("cannot be replayed: ") + e.what());
    throw config::UserError(fmt::format("{}: {} {}", config_.file(), instance.path(), e.what()));
  }
  sources_.back()->set_buffered(buffered_frames(
      at,
      std::max<std::uint64_t>(net::Packet::kMinimum, net::kUdpPayload + traffic.smallest_calls()->smallest_call())));
  clients_.push_back({instance.path(), at.path, sources_.back().get(), &p});
  if (traffic.kind == net::TrafficSource::Kind::replay)
    check_replay(instance, sources_.back()->total(), traffic.warmup);
}

/// The longest frame, in bytes without FCS, that the firmware of any of the host's clusters takes. A driver says so by
/// a symbol; where it says nothing, any length may do.
std::uint64_t Board::longest_frame_of_firmware() {
  std::uint64_t longest = 0;
  for (const auto& cluster : host().clusters())
    longest = std::max(longest,
                       cluster->firmware.symbols().variable("sluice_largest_frame").value_or(net::Packet::kCapacity));
  return longest;
}

/// Refuses calls with frames that the firmware's driver lets the NIC drop, and NICs that are set up for longer frames
/// than the driver takes.
void Board::check_frames_fit() {
  const std::uint64_t longest = longest_frame_of_firmware();
  for (const NicInstance& n : nics_)
    if (n.largest_frame < net::Packet::kCapacity && n.largest_frame > longest)
      throw config::UserError(
          fmt::format("{}: {} is set up for frames of {} bytes, and the firmware takes no longer "
                      "ones than {}",
                      config_.file(), n.path, n.largest_frame, longest));
  for (const Clients& c : clients_) {
    if (c.parameters->kind == net::TrafficSource::Kind::replay) continue;
    const std::uint32_t frame = c.parameters->calls()->largest_message() + net::kUdpPayload;
    const auto nic =
        std::find_if(nics_.begin(), nics_.end(), [&](const NicInstance& n) { return n.place.wire == c.wire; });
    if (nic == nics_.end()) continue;
    const auto refuse = [&](const std::string& who, std::uint64_t most) {
      if (frame > most)
        throw config_.error(
            *config_.find(c.path), c.parameters->kind == net::TrafficSource::Kind::size_sweep ? "sizes" : "call.bytes",
            fmt::format("makes frames of {} bytes, and {} takes no longer ones than {}", frame, who, most));
    };
    refuse("the firmware", longest);
    refuse(nic->path, nic->largest_frame);
  }
}

/// Checks a replay, which makes exactly the calls of its capture: `requests` must not be set, and the warm-up must
/// leave calls to count.
void Board::check_replay(const config::Instance& workload, std::uint64_t total, std::uint64_t warmup) const {
  if (is_set_with_kind(workload, "requests"))
    throw config_.error(workload, "requests", "must not be set for a replay, which makes every call of its capture");
  if (total > warmup) return;
  const bool pcap_later = config::BoardConfig::is_later(workload, "pcap", workload, "warmup");
  const std::string calls = total == 1 ? "1 call" : fmt::format("{} calls", total);
  if (pcap_later)
    throw config_.error(
        workload, "pcap",
        fmt::format("has {}, of which {}.warmup, {}, leaves none to count", calls, workload.path(), warmup));
  throw config_.error(workload, "warmup", fmt::format("leaves none of the capture's {} to count", calls));
}

}  // namespace sluice::platform
