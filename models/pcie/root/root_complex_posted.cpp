// SPDX-License-Identifier: Apache-2.0
/// Cores' posted writes.

#include <algorithm>
#include <cstring>

#include "models/base/time/access_time.h"
#include "models/pcie/root/root_complex.h"

namespace sluice::pcie {

/// Makes the TLP of a core's posted write now and sends it later from a calendar entry, so that it leaves in time order
/// even if harts run ahead of each other, or hand their writes over before base::access_time(). It takes its place
/// among the core's posted writes at its time; a core that hands it over before that waits only for writes that have
/// found no place at theirs. A reset drops writes that are not yet on a link, also those that wait for room.
void RootComplex::post(std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
  ++counters_.core_writes;
  const base::Site by = base::access_site();
  const base::Time leaves = base::access_time();
  const unsigned buffers = posted_writes_of_caller();
  PostedWrites& mine = *posted_writes_[buffers];
  const std::uint64_t resets = resets_;
  const auto blocked = [&] { return leaves > base::now() ? !mine.due.empty() : is_full(mine); };
  if (blocked()) ++counters_.posted_stalls;
  while (blocked()) base::wait_for(mine.freed, "room for a posted write", path().c_str());
  if (resets != resets_) {
    ++counters_.master_aborts;
    return;
  }
  TlpPtr t = make_tlp(TlpType::kMWr);
  t->requester = kSelf;
  t->cover(address, bytes);
  t->resize_payload();
  std::memcpy(t->payload() + address % 4, data, bytes);
  t->observer = this;
  t->cookie = buffers;
  t->by = by;
  t->carries_journey = true;
  const base::Time begin = std::max(leaves, base::now());
  t->journey.enter(SLUICE_STAGE_doorbell, component(), begin);
  if (begin == base::now()) return send_posted(std::move(t));
  base::calendar().at(begin, key(), [this, tlp = std::move(t), resets]() mutable {
    PostedWrites& writes = *posted_writes_[tlp->cookie];
    if (resets != resets_) {
      ++counters_.master_aborts;
    } else if (is_full(writes)) {
      ++counters_.posted_stalls;
      writes.due.push(std::move(tlp));
    } else {
      send_posted(std::move(tlp));
    }
  });
}

/// A posted write takes a place, which it keeps until it is on the link.
void RootComplex::send_posted(TlpPtr t) {
  ++posted_writes_[t->cookie]->waiting;
  base::calendar().after(parameters_.outbound_latency, key(), [this, tlp = std::move(t), resets = resets_]() mutable {
    const bool cut_off = resets != resets_;
    RootPort* p = cut_off ? nullptr : port_of_address(tlp->address);
    if (p && p->port.up()) return p->port.send(std::move(tlp));
    ++counters_.master_aborts;
    if (!cut_off) report_unclaimed(*tlp);
    tlp->observer = nullptr;
    transmitted(*tlp, base::now());
  });
}

void RootComplex::transmitted(Tlp& t, base::Time) {
  PostedWrites& writes = *posted_writes_[t.cookie];
  --writes.waiting;
  if (!writes.due.empty()) send_posted(writes.due.pop());
  writes.freed.notify();
}

unsigned RootComplex::posted_writes_of_caller() {
  const base::Runner* core = base::Scheduler::instance().running();
  unsigned n = 0;
  while (n < posted_writes_.size() && posted_writes_[n]->core != core) ++n;
  if (n == posted_writes_.size()) posted_writes_.push_back(std::make_unique<PostedWrites>(core));
  return n;
}

bool RootComplex::has_due_writes() { return !posted_writes_[posted_writes_of_caller()]->due.empty(); }

/// A core's other accesses do not pass its posted writes.
void RootComplex::wait_for_due_writes() {
  PostedWrites& mine = *posted_writes_[posted_writes_of_caller()];
  while (!mine.due.empty()) base::wait_for(mine.freed, "room for a posted write", path().c_str());
}

void RootComplex::drop_due_writes() {
  for (auto& writes : posted_writes_) {
    counters_.master_aborts += writes->due.size();
    writes->due.clear();
    writes->freed.notify();
  }
}

}  // namespace sluice::pcie
