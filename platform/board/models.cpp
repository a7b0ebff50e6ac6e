// SPDX-License-Identifier: Apache-2.0
#include "platform/board/models.h"

#include "models/coherence/memory_system.h"
#include "models/irq/aplic.h"
#include "models/irq/imsic.h"
#include "models/irq/plic.h"
#include "models/memory/ram.h"
#include "models/memory/soc_bus.h"
#include "models/net/traffic/traffic_source.h"
#include "models/part/catalogue.h"
#include "models/pcie/root/root_complex.h"
#include "models/riscv/cluster.h"
#include "platform/board/host_map.h"
#include "platform/board/instances.h"
#include "platform/board/system_plan.h"
#include "platform/faults/fault_parameters.h"
#include "platform/plugin/device.h"
#include "platform/plugin/plugins.h"
#include "platform/workload/no_workload.h"

namespace sluice::platform {

namespace {

/// Sets call.maker for the program that call.program names: a built-in program, or one of a plug-in of the board.
std::string choose_calls(net::TrafficSource::Parameters& p, const config::Registry& r) {
  const config::Registry::Part* part = r.find_part("calls", p.call.program);
  if (!part) return net::no_such_program(p.call.program, r.part_names("calls"));
  p.call.maker = static_cast<const CallFactory&>(*part->factory).make;
  return {};
}
std::string choose_calls_of_peer(TrafficPeerParameters& p, const config::Registry& r) {
  return choose_calls(p.traffic, r);
}

}  // namespace

void register_models(config::Registry& r) {
  r.on_plugin(load_plugin);
  r.add_kind("soc", "soc", "model", "a system-on-chip");
  r.add<SystemParameters>("soc", "soc", "system-on-chip");
  r.add_kind("cluster", "riscv");
  r.add<riscv::ClusterParameters>("cluster", "riscv", "RISC-V cluster");
  r.add_kind("memory", "ram");
  r.add<memory::Ram::Parameters>("memory", "ram", "RAM");
  r.add_single("caches", "model", "caches");
  r.add<coherence::MemorySystem::Parameters>("caches", "caches", "memory system");
  r.add_single("bus", "model", "bus");
  r.add<memory::SocBus::Parameters>("bus", "bus", "SoC bus");
  r.add_single("map", "model", "map");
  r.add<HostMap>("map", "map", "address map");
  r.add_single("plic", "model", "plic");
  r.add<irq::Plic::Parameters>("plic", "plic", "PLIC");
  r.add_single("aplic", "model", "aplic");
  r.add<irq::Aplic::Parameters>("aplic", "aplic", "APLIC");
  r.add_single("imsic", "model", "imsic");
  r.add<irq::Imsic::Parameters>("imsic", "imsic", "IMSIC");
  r.add_single("uart", "model", "16550");
  r.add<UartParameters>("uart", "16550", "UART");
  r.add_single("root", "model", "root-complex");
  r.add<pcie::RootComplex::Parameters>("root", "root-complex", "root complex");
  r.add_single("iommu", "model", "iommu");
  r.add<IommuInstance>("iommu", "iommu", "IOMMU");
  r.add_kind("pcie", "link", "model", "a PCIe slot");
  r.add<SlotParameters>("pcie", "link", "PCIe link");
  r.add_kind("switch", "plain", "model", "a PCIe switch");
  r.add_kind("coherent", "", "model", "a coherent link");
  r.add_kind("net", "wire", "model", "an Ethernet link");
  r.add<WireParameters>("net", "wire", "Ethernet link");
  r.add_kind("nic");
  r.add_kind("accel");
  r.add_kind("device");
  r.add_kind("peer", "echo");
  r.add<EchoPeerParameters>("peer", "echo", "echoing peer");
  r.add<RpcPeerParameters>("peer", "rpc", "serving peer");
  r.add<TrafficPeerParameters>("peer", "traffic", "traffic source");
  r.add_single("workload", "model", "traffic");
  r.add<net::TrafficSource::Parameters>("workload", "traffic", "traffic source");
  for (const auto& [name, make] : net::built_in_calls().makers()) Devices(r).add_calls(name, make);
  r.add_choice<net::TrafficSource::Parameters>("call.program", choose_calls);
  r.add_choice<TrafficPeerParameters>("call.program", choose_calls_of_peer);
  r.add_kind("fault", "", "kind");
  r.add<AgentFault>("fault", "kill", "kill");
  r.add<AgentFault>("fault", "hang", "hang");
  r.add<PauseFault>("fault", "pause", "pause");
  r.add<LinkDownFault>("fault", "link-down", "link-down");
  r.add<TlpLinkFault>("fault", "corrupt-tlp", "corrupted TLP");
  r.add<TlpLinkFault>("fault", "lost-tlp", "lost TLP");
  r.add<CoherentMessageFault>("fault", "corrupt-message", "corrupted message of a coherent link");
  r.add<FrameFault>("fault", "corrupt-frame", "corrupted frame");
  r.add<FrameFault>("fault", "lost-frame", "lost frame");
  r.add<CompletionFault>("fault", "poisoned-completion", "poisoned completion");
  r.add<CompletionFault>("fault", "completion-timeout", "completion timeout");
  r.add_single("run", "model", "run");
  r.add<RunParameters>("run", "run", "run");
  part::add_built_in_parts(r);
  r.add<NoWorkloadParameters>("workload", "none", "board without a workload");
}

}  // namespace sluice::platform
