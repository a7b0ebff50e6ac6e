// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Parameters of the descriptor NIC.

#include <string>

#include "models/base/parameters/schema.h"
#include "models/net/mac.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::nic {

using namespace base::literals;

/// What finds the service of received calls.
enum class Decoder { none, tlm, rtl };

struct DescriptorParameters {
  unsigned queues = 1;  ///< queue pairs, 1 to 64; the NIC has one MSI-X vector more
  std::string address = "02:53:4c:00:00:01";

  // Receive.
  base::Bytes rx_fifo = 256_KiB;        ///< frames that wait for descriptors or PCIe, of all queues together
  base::Time parse = 20_ns;             ///< header parser
  Decoder decoder = Decoder::none;      ///< beside it: a call's service chooses its queue
  base::Time rx_pipeline = 60_ns;       ///< from a frame's turn to its DMA write
  base::Time rx_interval = 5_ns;        ///< least time between two frames' turns
  unsigned rx_writes = 32;              ///< frames whose DMA write has not left the NIC
  unsigned rx_cache = 256;              ///< descriptors on chip, per queue
  unsigned rx_fetch_batch = 32;         ///< descriptors in one DMA read, at most
  unsigned rx_fetch_threshold = 128;    ///< partial batches are fetched below this many on chip or under way
  unsigned writeback_batch = 4;         ///< descriptors in one DMA write, at most
  bool writeback_when_idle = true;      ///< write back at once when the queue has no further frame to deliver
  base::Time writeback_timeout = 2_us;  ///< latest write-back after a batch's first frame

  // Transmit.
  base::Time tx_doorbell = 20_ns;    ///< from a doorbell's arrival to the descriptor fetch
  unsigned tx_cache = 128;           ///< descriptors on chip, per queue
  unsigned tx_fetch_batch = 32;      ///< descriptors in one DMA read, at most
  unsigned tx_fetches = 4;           ///< descriptor reads in flight, per queue
  unsigned tx_frames = 128;          ///< frames being read or waiting for the MAC
  base::Bytes tx_buffer = 64_KiB;    ///< bytes of frames being read or waiting for the MAC
  base::Time tx_pipeline = 100_ns;   ///< from a frame's last byte to the MAC: checksums, scheduling
  base::Time tx_interval = 5_ns;     ///< least time between two frames' reads
  base::Bytes tx_mac_fifo = 16_KiB;  ///< line time that frames at the MAC may wait, as bytes at the line rate

  net::Mac::Parameters mac;
  pcie::Endpoint::Parameters pcie;

  static void describe(base::Schema<DescriptorParameters>&);
};

}  // namespace sluice::nic
