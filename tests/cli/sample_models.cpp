// Models that do nothing, for testing the command line without a board.

#include "platform/cli/command.h"
#include "platform/board/models.h"

namespace sluice {
namespace {

using namespace base::literals;

struct Slot {
  int lanes = 16;
  base::Time flight = 5_ns;
  static void describe(base::Schema<Slot>& s) {
    s.summary("a slot");
    s.add("lanes", &Slot::lanes, "width").choices({1, 2, 4, 8, 16}).setting();
    s.add("flight", &Slot::flight, "one way").range(0_ns, 1_us).assumed("1 m of trace");
  }
};

struct Nic {
  int queues = 1;
  std::string slot;
  static void describe(base::Schema<Nic>& s) {
    s.summary("a NIC");
    s.add("queues", &Nic::queues, "receive queues").range(1, 64).setting();
    s.add("slot", &Nic::slot, "where it is plugged in").required().refers_to("pcie");
  }
};

struct ClosedLoop {
  int outstanding = 1;
  static void describe(base::Schema<ClosedLoop>& s) {
    s.summary("N calls outstanding, each answered before the next");
    s.add("outstanding", &ClosedLoop::outstanding, "calls in flight").range(1, 4096).unit("calls").setting();
  }
};

}  // namespace

void platform::register_models(config::Registry& r) {
  r.add_kind("pcie", "slot");
  r.add<Slot>("pcie", "slot", "PCIe slot");
  r.add_kind("nic");
  r.add<Nic>("nic", "descriptor", "descriptor NIC");
  r.add_single("workload", "kind");
  r.add<ClosedLoop>("workload", "closed-loop", "closed loop");
}

}  // namespace sluice

// Debian's libsystemc refers to sc_main.
int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  using namespace sluice::cli;
  return run(argc, argv, {add_boards, add_describe});
}
