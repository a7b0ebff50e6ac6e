// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One hart on a board: it runs the ISS ahead of the calendar, reaches devices by TLM-2.0, and accounts for its time.

#include <algorithm>
#include <array>
#include <bitset>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "models/base/fabric/interrupt_line.h"
#include "models/base/measure/mistakes.h"
#include "models/base/measure/statistics.h"
#include "models/base/memory/hart_memory.h"
#include "models/base/memory/interrupt_file.h"
#include "models/base/systemc/model.h"
#include "models/base/systemc/reset.h"
#include "models/base/systemc/scheduler.h"
#include "models/riscv/cluster.h"
#include "models/riscv/idle.h"
#include "models/riscv/iss/hart.h"
#include "models/riscv/iss/spin/spin_loop.h"
#include "models/riscv/wake_up.h"

namespace sluice::riscv {

class Core;

/// Accompanies a core between its instructions: a debugger, a trace. It is called on the core's thread, just before the
/// core would go on. It may take any amount of host time, but no simulated time.
class CoreObserver {
 public:
  static constexpr std::uint64_t kOneEvent = 0, kFree = ~std::uint64_t{0};

  virtual ~CoreObserver() = default;
  /// The core is about to go on at state.pc. Returns the slot by which the observer wants to be called again. kFree: it
  /// does not mind. kOneEvent: after one instruction, trap or interrupt.
  virtual std::uint64_t before(Core&) = 0;
  /// The core has run. If the reason is slot_limit, it may have executed no instruction.
  virtual void after(Core&, StopReason) = 0;
};

class Core : public base::Model, public Bus, public base::Resettable, private base::LineWatcher {
 public:
  tlm_utils::simple_initiator_socket<Core> socket;  ///< to the SoC bus

  /// hart_id: mhartid. cache: index of this hart's private caches in `memory`. The group has all harts that share the
  /// memory.
  Core(const sc_core::sc_module_name&, const ClusterParameters&, unsigned hart_id, std::uint64_t reset_pc,
       base::RunnerGroup&, base::HartMemory& memory, unsigned cache);

  /// The hart as its last turn has left it, registers included. Only observers may change it.
  Hart& hart() {
    if (runner_.spinning()) show_spin();
    return hart_;
  }
  /// Sets an interrupt line at the hart. bit: its position in mip. Called at base::now(). The requests in
  /// base::InterruptRequests::now() wait for the hart's handler.
  void set_interrupt(unsigned bit, bool level);
  /// Sets a line of the CLINT, which takes ClusterParameters::local_delivery to the hart. bit: of MSIP or MTIP.
  void set_local_interrupt(unsigned bit, bool level) { local_[bit].set(level); }
  /// Attaches an IMSIC file of this hart. file: 0 machine, 1 supervisor.
  void attach(unsigned file, base::InterruptFile& f) { files_[file] = &f; }
  /// For the log of mistakes: returns the memory map's name of a physical address outside RAM; empty: nothing is there.
  /// If not set, no names are known.
  std::function<std::string(std::uint64_t)> on_name_place;
  /// Whether the target at a physical address outside RAM takes stores before their time (base::access_time()). If not
  /// set, none does.
  std::function<bool(std::uint64_t)> on_posts;
  /// Sets the registers for the first instruction: a0 = hart id, a1 = address of the device tree, a2 = address of
  /// OpenSBI's fw_dynamic_info. Address 0: there is none.
  void set_boot_arguments(std::uint64_t device_tree, std::uint64_t fw_dynamic_info);

  /// Sets the pc after the next reset. Cluster firmware that a debugger has loaded may begin at another address.
  void set_reset_pc(std::uint64_t pc) { reset_pc_ = pc; }
  /// Resets the hart at once, and puts the boot arguments into its registers. During a device access, the reset waits
  /// until the access has ended. If the hart is synchronising before a device access or an atomic, the access does not
  /// take place. A stopped hart stays stopped.
  void reset() override;

  /// Stops the hart until resume(): it executes nothing and takes no interrupt. The stop starts at now(), or, where
  /// several harts run, at the end of the window that others have already run to. Time goes on, in the account that the
  /// hart was in. Stops are counted: each needs its own resume(). why, who: for the stall diagnosis; they must outlive
  /// the stop.
  void stop(const char* why, const char* who);
  void resume();
  bool stopped() const { return stops_ > 0; }
  /// Observers are called in order of their addition and must outlive the simulation's last instruction.
  void observe(CoreObserver& observer) { observers_.push_back(&observer); }
  /// For observers: a core that is running stops after its present instruction. Simulated results do not change.
  void end_run() { pause_at(0); }
  /// Whether the core is inside an instruction, which may wait for a device. Its registers must not be changed then.
  bool inside_instruction() const { return inside_; }
  unsigned present_account() const { return account_; }
  /// The request that the hart works for, as its firmware last said by a probe (hints.h); 0: none.
  base::RequestId serving() const { return serving_; }

  base::Time local_time() const {
    runner_.settle();
    return runner_.time();
  }
  using Accounts = std::array<std::uint64_t, SLUICE_ACCOUNT_COUNT>;  ///< issue slots by account
  /// Whether a core in this account has something to do that others wait for: not polling, batch, parked or idle.
  static bool is_busy(unsigned account);
  /// Issue slots up to `until` by account. Every slot is in one account, including those of a wait that has not ended
  /// yet.
  Accounts accounts(base::Time until) const;
  /// Time up to `until` in accounts other than polling, parked and idle.
  base::Time worked(base::Time until) const;
  /// Where the time in wfi went up to `until`.
  IdleUse idle_use(base::Time until) const;
  const base::Clock& slot_clock() const { return slot_clock_; }
  std::uint64_t cycles() const {
    runner_.settle();
    return hart_.state().slots / parameters_.issue_width;
  }
  std::uint64_t bus_errors() const { return bus_errors_; }
  bool reset_due() const { return reset_due_; }  ///< a reset waits for the present instruction to end

  // Bus, called by the ISS. Observers call synchronise() too.
  base::GuestRam* ram_at(std::uint64_t address) override { return memory_.ram_at(address, 1); }
  bool homed(std::uint64_t address) override { return memory_.homed(address); }
  unsigned line_bytes() override { return memory_.line_bytes(); }
  std::uint8_t* hold(std::uint64_t address, base::LineUse use) override;
  std::uint8_t* held(std::uint64_t address, base::LineUse use) override { return memory_.held(cache_, address, use); }
  void let_go() override { memory_.let_go(cache_); }
  bool load(std::uint64_t address, void* data, unsigned size) override;
  bool store(std::uint64_t address, const void* data, unsigned size) override;
  bool synchronise() override;
  std::uint64_t slot_limit() override;
  bool move_limit() override;
  std::uint64_t time() override;
  void set_stimecmp(std::uint64_t due) override;
  void cache_miss(std::uint64_t address, base::LineUse use) override;
  std::uint64_t fill(std::uint64_t address, base::LineUse use, std::uint64_t slot) override;
  bool posts(std::uint64_t address) override { return on_posts && on_posts(address); }
  std::optional<std::uint64_t> post(std::uint64_t address, const void* data, unsigned size,
                                    std::uint64_t slot) override;
  std::uint64_t post_combined(std::uint64_t address, const void* data, unsigned size, std::uint64_t slot) override;
  std::uint64_t uncached(std::uint64_t address, bool write, std::uint64_t slot) override;
  void clean_line(std::uint64_t address, bool keep) override;
  void give_back(std::uint64_t line) override { memory_.give_back(cache_, line); }
  bool start_read(std::uint64_t line, unsigned size, std::uint64_t slot) override;
  bool await_line() override;
  void refused(Refusal, std::uint64_t pc, std::uint64_t address, unsigned size) override;
  void stale_code() override;
  void probe(unsigned stage, std::uint64_t address) override;
  void drop(unsigned reason, std::uint64_t address) override;
  void complete(std::uint64_t address) override;
  void bind(std::uint64_t to, std::uint64_t from) override;
  void open(std::uint64_t what, std::uint64_t address) override;
  void begins(unsigned step, std::uint64_t address) override;
  void does(unsigned step, std::uint64_t stage) override;
  void tells(unsigned step) override;
  void account(unsigned account) override;
  bool in_account(std::uint64_t account) override;
  void interrupt_taken(std::uint64_t handler) override;
  bool imsic_read(unsigned file, std::uint64_t select, std::uint64_t& value) override;
  bool imsic_write(unsigned file, std::uint64_t select, std::uint64_t value) override;
  bool imsic_top(unsigned file, std::uint64_t& value) override;
  bool imsic_claim(unsigned file, std::uint64_t identity) override;

 private:
  void register_statistics(base::StatisticsGroup&) override;
  void register_window_statistics(base::StatisticsGroup&);
  void register_uncached_statistics(base::StatisticsGroup&);
  void line_changed(std::uint64_t address, std::uint64_t length) override { hart_.line_changed(address, length); }
  void execute();
  [[noreturn]] void execute_forever();
  void pause_at(std::uint64_t slots);
  void begin_spin();
  void end_spin();
  void show_spin();
  void pass_turns(base::Time until);
  bool undisturbed() const { return stops_ == 0 && !reset_due_ && observers_.empty(); }
  StopReason run();
  void restart();
  std::uint64_t slots_allowed() const {
    return stops_ > 0 || reset_due_ ? 0 : std::min(slot_clock_.next_cycle(bound_), pause_);
  }
  StopReason run_observed();
  void park(sluice_account account, std::uint64_t deadline_slots);
  void leave_idle(base::Time exit, bool in_wrs);
  void take_requests();
  void enter(base::RequestId id, base::Stage stage, base::Time t) { enter(id, stage, t, mark(stage)); }
  void enter(base::RequestId, base::Stage, base::Time, base::Mark);
  base::Mark mark(base::Stage) const;
  bool in_user_mode() const { return hart_.state().privilege == Privilege::user; }
  void execute_for(base::RequestId);
  std::uint64_t busy_instructions() const;
  void move_requests(base::Stage, base::Time);
  void end_trap_entry();
  void divide_wait(base::RequestId, base::Time until);
  base::RequestId request_at(std::uint64_t address);
  void belongs_to(std::uint64_t address, base::RequestId);
  /// A wait for a line, of the request that this core works on.
  struct Fill {
    base::RequestId id = 0;  ///< 0: there is none, or somebody else has it already
    base::Stage stage{};     ///< in which it was
    std::size_t tiles = 0;
    base::Time since;
  };
  base::Site site() const;
  base::Site site_at(std::uint64_t pc) const;
  void arrived(base::RequestId, base::Time);
  void note_brought(std::uint64_t address, base::RequestId);
  Fill begin_fill(const base::Site&) const;
  void end_fill(const Fill&, std::uint64_t address);
  std::uint64_t slots_held_back(base::Time until) const;
  void count_parked();
  void publish_own_time();
  bool access(tlm::tlm_command, std::uint64_t address, unsigned char* data, unsigned size);
  void stall_to(base::Time ready, base::Time at);
  bool call_bus(tlm::tlm_command, std::uint64_t address, unsigned char* data, unsigned size, const base::Site& by,
                base::Time& delay);
  bool call_bus(tlm::tlm_generic_payload&, tlm::tlm_command, std::uint64_t address, unsigned char* data, unsigned size,
                const base::Site& by, base::Time& delay);
  std::optional<std::uint64_t> hand_over(std::uint64_t address, const void* data, unsigned size, std::uint64_t slot,
                                         base::Time accepted);
  base::Time time_of_hint() const;
  std::uint64_t stall_slots() const;
  void publish_time() { runner_.advance_to(slot_clock_.time_of(hart_.state().slots)); }
  void fail_access(const char* access, std::uint64_t address, const base::Site& by, std::uint64_t reports);
  std::string place_of(std::uint64_t address) const;
  void stall_until(base::Time t);
  /// As stall_until(), and counts the slots as stalls.
  void stall(base::Time t);
  void stand_still();

  ClusterParameters parameters_;
  base::Clock slot_clock_;
  base::Clock timebase_;
  base::HartMemory& memory_;
  unsigned cache_;
  const CoreShape shape_;
  mutable base::Runner runner_;  ///< what looks at the core from outside settles it first
  Hart hart_;
  std::array<base::InterruptFile*, 2> files_{};
  std::array<base::InterruptLine, 8> local_;  ///< by bit of mip: MSIP, STIP and MTIP
  SpinLoop spin_;
  /// How often a search for a loop at a pc has failed in a row, and how many it is not worth until the next.
  struct Refusals {
    std::uint64_t pc = ~std::uint64_t{0};
    std::uint8_t failed = 0;
    std::uint8_t left = 0;
  };
  std::array<Refusals, 64> refusals_;
  std::uint64_t turn_ended_at_ = 0;  ///< the pc at the end of the last turn
  std::bitset<4096> spun_at_;        ///< by pc: whether it is in a loop that has been found, or has the place of one
  unsigned unsearched_ = 0;
  IdleLog idle_;
  base::Event wake_;
  base::Event line_read_;  ///< one that start_read() has started has ended
  bool reservation_lost_ = false;
  bool parked_ = false;  ///< in wfi or wrs
  bool waits_for_line_ = false;
  base::HeldLoad device_load_;  ///< a load from a device that the hart waits for
  bool leaving_ = false;        ///< an idle state
  std::uint64_t reset_pc_;
  std::uint64_t device_tree_ = 0;
  std::uint64_t fw_dynamic_info_ = 0;
  bool suspended_ = false;  ///< inside an instruction, while other threads run
  bool reset_due_ = false;  ///< a reset waits for the present access to end
  bool restarted_ = false;  ///< by a reset while the hart waited
  unsigned stops_ = 0;
  const char* stopped_why_ = "";
  const char* stopped_by_ = "";
  base::Event resumed_;
  base::Calendar::Handle timer_;
  base::Calendar::Handle deadline_;
  base::Time bound_;
  std::uint64_t limit_ = 0;
  std::uint64_t pause_ = ~std::uint64_t{0};
  std::vector<CoreObserver*> observers_;
  bool inside_ = false;
  base::RequestId serving_ = 0;
  base::RequestId executing_for_ = 0;  ///< the request that instructions since executed_ are for; 0: none
  std::uint64_t executed_ = 0;
  std::array<std::array<base::StepSet, SLUICE_STAGE_COUNT>, 2> does_{};  ///< by in_user_mode()
  bool has_users_ = false;  ///< software in user mode has told of its steps
  /// The latest load from a device that brought bytes of a request.
  struct {
    std::uint64_t address = 0;
    base::RequestId id = 0;
  } brought_;
  std::vector<base::RequestId> interrupted_;  ///< wait for an interrupt that the hart has not taken
  std::vector<base::RequestId> entering_;     ///< in trap_entry, which ends at handler_begins_
  base::Time handler_begins_;
  WakeUp wake_up_;
  unsigned account_ = SLUICE_ACCOUNT_kernel;
  std::uint64_t account_since_ = 0;
  Accounts account_slots_{};
  std::uint64_t account_instructions_ = 0;  ///< retired before the present account began
  std::uint64_t busy_instructions_ = 0;     ///< until then
  std::uint64_t stall_slots_ = 0;
  std::uint64_t bus_errors_ = 0;
  std::uint64_t lines_unanswered_ = 0;  ///< accesses to lines that had no answer in time, or no link
  std::uint64_t local_interrupts_ = 0;
  std::uint64_t sleeps_ = 0;
  std::uint64_t reservation_waits_ = 0;
  std::uint64_t device_accesses_ = 0;
};

}  // namespace sluice::riscv
