// SPDX-License-Identifier: Apache-2.0
#include "models/nic/lauberhorn/parameters.h"

#include "models/net/frame.h"
#include "models/nic/lauberhorn/lauberhorn_regs.h"
#include "models/nic/rpc_decoder/call_decoder.h"

namespace sluice::nic {
namespace {

using P = LauberhornParameters;

void describe_tables(base::Schema<P>& s) {
  s.add("cores", &P::cores, "cores that have a kernel end-point").range(1, LAUB_CORES_MOST).unit("cores").setting();
  s.add("processes", &P::processes, "processes that may be entered").range(1, 1024).unit("processes").setting();
  s.add("workers", &P::workers, "end-points of a process: most cores that can serve it at a time")
      .range(1, 32)
      .unit("end-points")
      .setting();
  s.add("services", &P::services, "entries of the service table; a procedure is an entry")
      .range(1, rpc::kServices)
      .unit("services")
      .acts_with({"unknown_calls"}, "no call was of a service that the table does not have")
      .setting();
  s.add("sessions", &P::sessions, "requests whose clients the NIC remembers until they are answered")
      .range(1, 16384)
      .unit("requests")
      .acts_with({"dropped_sessions"}, "the session table was never full")
      .assumed("not published; enzian-pio-nic, the prototype, has 16");
  s.add("queue", &P::queue, "requests that wait for a process; at half of them it gets one more core")
      .range(1, 4096)
      .unit("requests")
      .acts_with({"queued"}, "no request waited for a core")
      .measured("enzian-pio-nic: 32");
  s.add("continuations", &P::continuations, "calls of handlers that wait for their results")
      .range(1, 8192)
      .unit("calls")
      .acts_with({"nested_refused"}, "no handler's call found the table full")
      .assumed("as many as sessions; not published");
  s.add("unknown", &P::unknown, "calls to a port of services that no entry is for, or whose arguments are wrong")
      .choices({{"drop", UnknownCall::drop}, {"bypass", UnknownCall::bypass}})
      .acts_with({"unknown_calls"}, "there was no such call")
      .assumed("to the kernel, which says what is wrong; enzian-pio-nic drops them");
  s.add("lost", &P::lost, "requests whose process ended before it answered: SYSTEM_ERR, or no reply")
      .choices({{"answer", LostRequest::answer}, {"drop", LostRequest::drop}})
      .acts_with({"lost"}, "no request was lost in that way")
      .assumed("not published");
}

void describe_way(base::Schema<P>& s) {
  describe_pipelines<P>(s, {.rx_queue = "receive queue, from the MAC's last beat to the decoder",
                            .rx_stream = "from the decoder to the packet buffer and the scheduler",
                            .tx_stream = "from the lines to the encoder",
                            .sent = {"replies"},
                            .none_sent = "no call was answered"});
  s.add("rx_buffer", &P::rx_buffer, "requests and frames that the host has not done with; what does not fit is dropped")
      .range(16_KiB, 16_MiB)
      .multiple_of(64)
      .acts_with({"dropped_buffer"}, "the packet buffer was never full")
      .measured("enzian-pio-nic: 64 KiB for each of four cores");
}

}  // namespace

void LauberhornParameters::describe(base::Schema<P>& s) {
  s.summary("NIC that is part of the operating system");
  s.add("station", &P::address, "station address: `address` is that of its first register").setting();
  s.rule("station", &P::address, net::parse_host_mac);
  s.add("decoder", &P::decoder, "of RPC calls, and encoder of replies: their models or their RTL")
      .choices({{"tlm", LauberhornDecoder::tlm}, {"rtl", LauberhornDecoder::rtl}})
      .setting();
  s.rule("decoder", [](const P& p) -> std::string {
    if (p.decoder != LauberhornDecoder::rtl || rpc::rtl_factory() != nullptr) return {};
    return "rtl needs a program that was built where Verilator was; must be tlm";
  });
  describe_tables(s);
  s.add("clock", &P::clock, "of the FPGA: the unit of its times in registers")
      .range(1_MHz, 10_GHz)
      .acts_with({"times_set"}, "software set no time of the NIC")
      .measured("enzian-pio-nic: 250 MHz, 64 B a beat");
  describe_way(s);
  s.add("block", &P::block, "how long a load is held back before it is answered with TRYAGAIN, at the start")
      .range(0_ns, 1_s)
      .acts_with({"tryagain"}, "no load was answered with TRYAGAIN")
      .stated("the paper's 15 ms");
  s.add("preempt", &P::preempt, "how long a core that is wanted elsewhere may go on with its handler, at the start")
      .range(0_ns, 1_s)
      .acts_with({"interrupts"}, "no handler was interrupted")
      .measured("enzian-pio-nic: 100,000 cycles for a critical section");
  s.add("give_back", &P::give_back,
        "how long a core waits for a request when its kernel has other work for it, at the start")
      .range(0_ns, 1_s)
      .acts_with({"given_back"}, "no core went back to other work")
      .assumed(
          "not published; about what it costs to take the core again, so that waiting costs at most that much more");
  s.add("call_timeout", &P::call_timeout, "after which a handler's call without a result has SYSTEM_ERR, at the start")
      .range(1_us, 10_s)
      .acts_with({"nested_timeouts"}, "no handler's call waited so long")
      .assumed("not published; the default timeout of the clients");
  s.include("mac", &P::mac);
}

}  // namespace sluice::nic
