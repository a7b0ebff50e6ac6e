// SPDX-License-Identifier: Apache-2.0
#include "models/nic/descriptor/parameters.h"

#include "models/net/frame.h"

namespace sluice::nic {

void DescriptorParameters::describe(base::Schema<DescriptorParameters>& s) {
  using P = DescriptorParameters;
  s.summary("multi-queue descriptor NIC");
  s.add("queues", &P::queues, "queue pairs; MSI-X vectors are one more").range(1, 64).unit("queues").setting();
  s.add("address", &P::address, "station address").setting();
  s.rule("address", &P::address, net::parse_host_mac);

  const char* silicon = "the part's data sheet gives no pipeline latencies";
  s.add("rx_fifo", &P::rx_fifo, "frames that wait for descriptors or PCIe, of all queues together")
      .range(16_KiB, 64_MiB)
      .assumed("order of the packet buffer of a 100 Gb/s part");
  s.add("parse", &P::parse, "header parser").range(0_ns, 1_ms).assumed(silicon);
  s.add("rx_pipeline", &P::rx_pipeline, "from a frame's turn to its DMA write").range(0_ns, 1_ms).assumed(silicon);
  s.add("rx_interval", &P::rx_interval, "least time between two frames' turns")
      .range(0_ns, 1_ms)
      .assumed("200 M frames per second: above 100 GbE line rate");
  s.add("rx_writes", &P::rx_writes, "frames whose DMA write has not left the NIC")
      .range(1, 1024)
      .unit("frames")
      .assumed(silicon);
  s.add("rx_cache", &P::rx_cache, "receive descriptors on chip, per queue")
      .range(8, 4096)
      .unit("descriptors")
      .assumed("covers a PCIe round trip at 100 GbE line rate");
  s.add("rx_fetch_batch", &P::rx_fetch_batch, "receive descriptors in one DMA read, at most")
      .range(1, 128)
      .unit("descriptors")
      .assumed("as Niantic's free list in pcie-model (niantic.py); the part's own is not published");
  s.add("rx_fetch_threshold", &P::rx_fetch_threshold,
        "descriptors on chip or under way below which less than a batch is fetched too")
      .range(1, 4096)
      .unit("descriptors")
      .assumed("half the cache");
  s.add("writeback_batch", &P::writeback_batch, "receive descriptors in one DMA write, at most")
      .range(1, 8)
      .unit("descriptors")
      .assumed("one 128 B block, as of the X710: DPDK, commit a08f9cb698c3");
  s.add("writeback_when_idle", &P::writeback_when_idle, "write back at once when no other frame of the queue follows")
      .assumed("interrupt and polling drivers of the part both see single frames at once");
  s.add("writeback_timeout", &P::writeback_timeout, "latest write-back after a batch's first frame")
      .range(0_ns, 1_ms)
      .assumed("the part's unit of interrupt throttling");

  s.add("tx_doorbell", &P::tx_doorbell, "from a doorbell's arrival to the descriptor fetch")
      .range(0_ns, 1_ms)
      .assumed(silicon);
  s.add("tx_cache", &P::tx_cache, "transmit descriptors on chip, per queue")
      .range(16, 4096)
      .unit("descriptors")
      .assumed("covers a PCIe round trip at 100 GbE line rate");
  s.add("tx_fetch_batch", &P::tx_fetch_batch, "transmit descriptors in one DMA read, at most")
      .range(1, 128)
      .unit("descriptors")
      .assumed("one read request of 512 B; Niantic in pcie-model (niantic.py) has 40; the part's own is not published");
  s.add("tx_fetches", &P::tx_fetches, "descriptor reads in flight, per queue")
      .range(1, 8)
      .unit("reads")
      .assumed(silicon);
  s.add("tx_frames", &P::tx_frames, "frames being read or waiting for the MAC")
      .range(1, 1024)
      .unit("frames")
      .assumed("covers a PCIe round trip at 100 GbE line rate");
  s.add("tx_buffer", &P::tx_buffer, "bytes of those frames").range(16_KiB, 16_MiB).assumed(silicon);
  s.add("tx_pipeline", &P::tx_pipeline, "from a frame's last byte to the MAC: checksums, scheduling")
      .range(0_ns, 1_ms)
      .assumed(silicon);
  s.add("tx_interval", &P::tx_interval, "least time between the reads of two frames")
      .range(0_ns, 1_ms)
      .assumed("200 M frames per second: above 100 GbE line rate");
  s.add("tx_mac_fifo", &P::tx_mac_fifo, "line time that frames at the MAC may wait, as bytes at the line rate")
      .range(base::Bytes(0), 1_MiB)
      .assumed("more than one frame of the longest size");
  s.include("mac", &P::mac);
  s.include("pcie", &P::pcie);
}

}  // namespace sluice::nic
