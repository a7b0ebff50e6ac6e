// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The pipelines between the MAC and the lines or packet buffers of a NIC, as the FPGA of enzian-pio-nic has them.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/schema.h"

namespace sluice::nic {

using namespace base::literals;

/// Parameters that a NIC's own begin with. A stage takes a fixed time and a time for each beat of 64 B.
struct PipelineParameters {
  base::Time rx_queue = 36_ns;
  base::Time rx_queue_beat = 4_ns;
  base::Time rx_stream = 24_ns;
  base::Time tx_stream = 44_ns;
  base::Time tx_stream_beat = 8_ns;
  base::Time tx_queue = 36_ns;
  base::Time tx_queue_beat = 4_ns;

  /// What so many bytes take in a stage.
  base::Time receive_queue(std::uint64_t bytes) const { return rx_queue + rx_queue_beat * beats(bytes); }
  base::Time transmit_stream(std::uint64_t bytes) const { return tx_stream + tx_stream_beat * beats(bytes); }
  base::Time transmit_queue(std::uint64_t bytes) const { return tx_queue + tx_queue_beat * beats(bytes); }

 private:
  static std::uint64_t beats(std::uint64_t bytes) { return (bytes + 63) / 64; }
};

/// How a NIC describes its stages.
struct PipelineTexts {
  const char *rx_queue, *rx_stream, *tx_stream;  ///< what they are
  std::vector<std::string> sent;                 ///< counters of what goes through those to the MAC
  const char* none_sent;
};

/// Describes the stages of PipelineParameters, which P begins with.
template <class P>
void describe_pipelines(base::Schema<P>& s, const PipelineTexts& texts) {
  const auto stage = [&](const char* key, base::Time P::*member, const char* meaning, base::Time most) -> auto& {
    return s.add(key, member, meaning)
        .range(0_ns, most)
        .measured("enzian-pio-nic, data of its loopback experiment: stamps inside the NIC");
  };
  const std::vector<std::string> received{"rx_frames"};
  constexpr const char* kNoneReceived = "no frame was received";
  constexpr const char* kBeat = "more, for each 64 B";
  stage("rx_queue", &P::rx_queue, texts.rx_queue, 1_ms).acts_with(received, kNoneReceived);
  stage("rx_queue_beat", &P::rx_queue_beat, kBeat, 1_us).acts_with(received, kNoneReceived);
  stage("rx_stream", &P::rx_stream, texts.rx_stream, 1_ms).acts_with(received, kNoneReceived);
  stage("tx_stream", &P::tx_stream, texts.tx_stream, 1_ms).acts_with(texts.sent, texts.none_sent);
  stage("tx_stream_beat", &P::tx_stream_beat, kBeat, 1_us).acts_with(texts.sent, texts.none_sent);
  stage("tx_queue", &P::tx_queue, "transmit queue, to its last beat to the MAC", 1_ms)
      .acts_with(texts.sent, texts.none_sent);
  stage("tx_queue_beat", &P::tx_queue_beat, kBeat, 1_us).acts_with(texts.sent, texts.none_sent);
}

}  // namespace sluice::nic
