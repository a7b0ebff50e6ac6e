// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/parameters.h"

#include "models/net/frame.h"
#include "models/nic/rpc_decoder/call_decoder.h"

namespace sluice::nic {

void DescriptorParameters::describe(base::Schema<DescriptorParameters>& s) {
  using P = DescriptorParameters;
  s.summary("multi-queue descriptor NIC");
  s.add("queues", &P::queues, "queue pairs; MSI-X vectors are one more").range(1, 64).unit("queues").setting();
  s.add("address", &P::address, "station address").setting();
  s.rule("address", &P::address, net::parse_host_mac);

  const char* nothing_received = "the NIC has received no frame";
  const char* nothing_sent = "the NIC has sent no frame";
  const char* silicon = "the part's data sheet gives no pipeline latencies";
  s.add("rx_fifo", &P::rx_fifo, "frames that wait for descriptors or PCIe, of all queues together")
      .range(16_KiB, 64_MiB)
      .acts_with({"rx_drop_fifo"}, "the receive FIFO was never full")
      .assumed("order of the packet buffer of a 100 Gb/s part");
  s.add("parse", &P::parse, "header parser")
      .range(0_ns, 1_ms)
      .acts_with({"rx_frames"}, nothing_received)
      .assumed(silicon);
  s.add("decoder", &P::decoder,
        "what lets a call's service choose its queue: none, the RPC decoder's model, or its RTL")
      .choices({{"none", Decoder::none}, {"tlm", Decoder::tlm}, {"rtl", Decoder::rtl}})
      .setting();
  s.rule("decoder", [](const P& p) -> std::string {
    if (p.decoder != Decoder::rtl || rpc::rtl_factory() != nullptr) return {};
    return "rtl needs a program that was built where Verilator was; must be none or tlm";
  });
  s.add("rx_pipeline", &P::rx_pipeline, "from a frame's turn to its DMA write")
      .range(0_ns, 1_ms)
      .acts_with({"rx_frames"}, nothing_received)
      .assumed(silicon);
  s.add("rx_interval", &P::rx_interval, "least time between two frames' turns")
      .range(0_ns, 1_ms)
      .acts_with({"rx_frames"}, nothing_received)
      .assumed("200 M frames per second: above 100 GbE line rate");
  s.add("rx_writes", &P::rx_writes, "frames whose DMA write has not left the NIC")
      .range(1, 1024)
      .unit("frames")
      .acts_with({"rx_limited_by_writes"}, "no frame waited for another's DMA write")
      .assumed(silicon);
  s.add("rx_cache", &P::rx_cache, "receive descriptors on chip, per queue")
      .range(8, 4096)
      .unit("descriptors")
      .acts_with({"rx_limited_by_cache"}, "the descriptor cache was never full")
      .assumed("covers a PCIe round trip at 100 GbE line rate");
  s.add("rx_fetch_batch", &P::rx_fetch_batch, "receive descriptors in one DMA read, at most")
      .range(1, 128)
      .unit("descriptors")
      .acts_with({"rx_limited_by_batch", "rx_below_batch"}, "no other number of descriptors was fetched")
      .assumed("as Niantic's free list in pcie-model (niantic.py); the part's own is not published");
  s.add("rx_fetch_threshold", &P::rx_fetch_threshold,
        "descriptors on chip or under way below which less than a batch is fetched too")
      .range(1, 4096)
      .unit("descriptors")
      .acts_with({"rx_below_batch"}, "every fetch was of a batch")
      .assumed("half the cache");
  s.add("writeback_batch", &P::writeback_batch, "receive descriptors in one DMA write, at most")
      .range(1, 8)
      .unit("descriptors")
      .acts_with({"rx_full_writebacks"}, "no write-back was of so many descriptors")
      .assumed("one 128 B block, as of the X710: DPDK, commit a08f9cb698c3");
  s.add("writeback_when_idle", &P::writeback_when_idle, "write back at once when no other frame of the queue follows")
      .assumed("interrupt and polling drivers of the part both see single frames at once");
  s.add("writeback_timeout", &P::writeback_timeout, "latest write-back after a batch's first frame")
      .range(0_ns, 1_ms)
      .acts_with({"rx_late_writebacks"}, "no descriptor waited so long for its write-back")
      .assumed("the part's unit of interrupt throttling");

  s.add("tx_doorbell", &P::tx_doorbell, "from a doorbell's arrival to the descriptor fetch")
      .range(0_ns, 1_ms)
      .assumed(silicon);
  s.add("tx_cache", &P::tx_cache, "transmit descriptors on chip, per queue")
      .range(16, 4096)
      .unit("descriptors")
      .acts_with({"tx_limited_by_cache"}, "the descriptor cache was never full")
      .assumed("covers a PCIe round trip at 100 GbE line rate");
  s.add("tx_fetch_batch", &P::tx_fetch_batch, "transmit descriptors in one DMA read, at most")
      .range(1, 128)
      .unit("descriptors")
      .acts_with({"tx_limited_by_batch"}, "no more descriptors were there to be fetched at a time")
      .assumed("one read request of 512 B; Niantic in pcie-model (niantic.py) has 40; the part's own is not published");
  s.add("tx_fetches", &P::tx_fetches, "descriptor reads in flight, per queue")
      .range(1, 8)
      .unit("reads")
      .acts_with({"tx_limited_by_fetches"}, "no more descriptor reads were to be made at a time")
      .assumed(silicon);
  s.add("tx_frames", &P::tx_frames, "frames being read or waiting for the MAC")
      .range(1, 1024)
      .unit("frames")
      .acts_with({"tx_limited_by_frames"}, "no more frames were under way at a time")
      .assumed("covers a PCIe round trip at 100 GbE line rate");
  s.add("tx_buffer", &P::tx_buffer, "bytes of those frames")
      .range(16_KiB, 16_MiB)
      .acts_with({"tx_limited_by_buffer"}, "no more bytes were under way at a time")
      .assumed(silicon);
  s.add("tx_pipeline", &P::tx_pipeline, "from a frame's last byte to the MAC: checksums, scheduling")
      .range(0_ns, 1_ms)
      .acts_with({"tx_frames"}, nothing_sent)
      .assumed(silicon);
  s.add("tx_interval", &P::tx_interval, "least time between the reads of two frames")
      .range(0_ns, 1_ms)
      .acts_with({"tx_frames"}, nothing_sent)
      .assumed("200 M frames per second: above 100 GbE line rate");
  s.add("tx_mac_fifo", &P::tx_mac_fifo, "line time that frames at the MAC may wait, as bytes at the line rate")
      .range(base::Bytes(0), 1_MiB)
      .acts_with({"tx_limited_by_mac_fifo"}, "no frame waited for the MAC")
      .assumed("more than one frame of the longest size");
  s.include("mac", &P::mac);
  s.include("pcie", &P::pcie);
}

}  // namespace sluice::nic
