#pragma once
/// [workload] with model "traffic": calls over a wire.

#include "models/net/traffic_source.h"
#include "models/workload/workload.h"

namespace sluice::platform {

class TrafficWorkload final : public workload::Workload {
 public:
  /// allow_drops: a dropped call is a result, and no failure. Both references outlive it.
  TrafficWorkload(net::TrafficSource&, const net::TrafficSource::Parameters&, bool allow_drops);

  void start(workload::Run&) override;
  std::uint64_t ended() const override { return source_.settled(); }
  std::uint64_t under_way() const override { return source_.under_way(); }
  bool waits() const override { return !source_.running() || source_.under_way() > 0; }
  std::optional<double> progress() const override;
  std::string stall_reason() const override;
  std::string stall_details() const override;
  std::string failure(bool finished) const override;
  void add_result(workload::Json& result) const override;
  std::string report(const workload::Json& result) const override;

 private:
  bool overloads_on_purpose() const;
  std::string lost_sentence() const;

  net::TrafficSource& source_;
  const net::TrafficSource::Parameters& parameters_;
  bool allow_drops_;
};

}  // namespace sluice::platform
