// SPDX-License-Identifier: Apache-2.0
// How the window goes through a log: what a step does is looked up in the memo, or executed and remembered.

#include <algorithm>
#include <bit>
#include <utility>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

using base::LineUse;

namespace {

// WindowMemo::Key::loads: 16 bits for each load that a store in the store buffer may concern, in order: which load or
// store of the step it is, whether the store has only some of its bytes, and how many stores there have been since
// then.
constexpr unsigned kLoadBits = 16, kMostLoads = 12, kAgeShift = 7;
constexpr std::uint64_t kPartly = 1u << 6, kMostAge = 0x1ff;
static_assert(kMostLoads <= WindowMemo::kMostForwarded && kMostLoads * kLoadBits <= 8 * sizeof(WindowMemo::Key::Loads));

constexpr std::uint32_t kSplit = 1u << 31;  ///< beside an event's time: a store to two granules

// Each of kTrial steps that are executed to be remembered has to be looked up kWorth times, on average. Otherwise the
// memo rests: for kFirstRest steps, and for twice as many each time, up to kMostRest, until a trial has paid.
constexpr std::uint32_t kTrial = 4096, kWorth = 4, kMostRest = 1u << 24;
constexpr std::uint32_t kWorthwhile = 100;  ///< steps that a capture should save
constexpr int kMostWorth = 8;

/// 1 where they differ, otherwise 0, without a branch that a compiler could make others of.
unsigned differ(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t bits = a ^ b;
  return static_cast<unsigned>((bits | (0 - bits)) >> 63);
}

}  // namespace

void InstructionWindow::consume(ExecutionLog& log, unsigned executed, std::uint64_t next_pc) {
  if (!is_behind_) slots_.forget(at_.cycle);
  const std::uint64_t* const end = log.end_before(next_pc);
  const std::uint64_t* access = log.accesses();
  const bool is_last_whole = log.runs() == end || executed == ExecutionLog::run_at(end[-1]).count;
  const std::uint64_t* const touched = log.touched();
  const std::uint64_t* const whole = touched == end && !is_last_whole ? end - 1 : touched;
  for (const std::uint64_t* at = log.runs(); at != end; ++at) {
    if (state_ == WindowMemo::kNone)
      access = execute_steps(at, end, touched, executed, access);
    else if (at < whole && ExecutionLog::first_at(*at) == 0)
      access = last_pending_ > at_.cycle + 1 ? recall_touched<true>(at, whole, access)
                                             : recall_touched<false>(at, whole, access);
    if (at == end) break;
    Step step = step_at(at, end, executed);
    touched_ = at < touched;
    if (!recall(step, access)) [[unlikely]]
      access = perform(step, access);
  }
  if (is_behind_) follow_state();
  log.clear(bringing_sets());
}

void InstructionWindow::consume_behind(const TranslationWalk& walk, ExecutionLog& log, unsigned executed) {
  make_exact();
  slots_.forget(at_.cycle);
  const std::uint64_t* const end = log.end_before(0);
  Step step = step_at(log.runs(), end, executed);
  walk_ = &walk;
  again_.next = log.accesses();
  touched_ = false;
  execute_step(step, log.accesses());
  again_.next = nullptr;
  log.clear(bringing_sets());
}

/// What recall_touched() changes, in registers.
struct InstructionWindow::Recall {
  std::uint64_t cycle, line;
  WindowMemo::Id state;
  unsigned unwritten;
  const std::uint64_t* const first_access;
  const std::uint64_t* access = first_access;
  std::uint64_t branches = 0, right = 0;
};

/// As recall(), for all steps from `next` up to `end` that the memo knows; sets `next` to the first of the others. All
/// are whole runs whose lines the engine has touched, so less has to be looked up.
template <bool kAwaits>
const std::uint64_t* InstructionWindow::recall_touched(const std::uint64_t*& next, const std::uint64_t* end,
                                                       const std::uint64_t* const access) {
  using Key = WindowMemo::Key;
  Recall now{at_.cycle, line_, state_, unwritten_, access};
  Key key{};
  for (const std::uint64_t* at = next;; ++at) {
    if (at == end) return end_recall(now, next, at);
    const TimedRun& run = ExecutionLog::run_at(*at);
    const std::uint64_t* const accesses_end = now.access + run.access_count;
    std::uint64_t step = run.whole;
    if (now.access != accesses_end) {
      if (kAwaits && is_any_awaited(now.access, accesses_end, now.cycle)) return end_recall(now, next, at);
      if (!look_for_stores(now.access, accesses_end, now.unwritten, step, key.loads)) [[unlikely]]
        return end_recall(now, next, at);
    }
    std::uint64_t line = now.line;
    if (run.lines != 1 || run.addresses[0] != line) step += enter_lines(run, line);
    if (run.end != TimingRecord::kPlain) [[likely]] {
      const std::uint64_t pc = ExecutionLog::run_at(at[1]).pc;
      const unsigned taken = differ(pc, run.end_pc);
      const unsigned right = run.end == TimingRecord::kBranch ? predictor_.conditional(run.last_pc, taken)
                                                              : (foresee_jump(run, pc) ? 1 : 0);
      step += Key::outcome(taken, right);
      ++now.branches;
      now.right += right;
    }
    const WindowMemo::Effect* const effect = memo_.find(now.state, step, key.loads);
    if (!effect) [[unlikely]] {
      end_recall(now, next, at);
      ++next;
      key.step = step;
      return execute_new(run, key, now.access);
    }
    now.line = line;
    now.cycle += effect->cycles;
    now.state = effect->next;
    now.unwritten = effect->stores;
    now.access = accesses_end;
    if (effect->counts != 0) memo_.count(*effect, counters_);
  }
}

/// The steps from `next` to `at`, which is next now, are as the memo says.
const std::uint64_t* InstructionWindow::end_recall(const Recall& now, const std::uint64_t*& next,
                                                   const std::uint64_t* at) {
  counters_.l1d_accesses += static_cast<std::uint64_t>(now.access - now.first_access);
  counters_.branches += now.branches;
  counters_.mispredictions += now.branches - now.right;
  recalled_ += static_cast<std::uint64_t>(at - next);
  is_behind_ |= at != next;
  next = at;
  at_.cycle = now.cycle;
  line_ = now.line;
  state_ = now.state;
  unwritten_ = now.unwritten;
  return now.access;
}

/// Executes a step that recall_touched() has not found, and remembers it.
const std::uint64_t* InstructionWindow::execute_new(const TimedRun& run, const WindowMemo::Key& key,
                                                    const std::uint64_t* access) {
  using Key = WindowMemo::Key;
  take_back_stores(access, access + run.access_count);
  counters_.l1i_accesses -= key.step >> Key::kLinesShift & 0xf;
  touched_ = true;
  if (run.uses >= remember_after_) {
    learns_ = Learns::effect;
    lesson_ = {state_, key, at_.cycle, counters_};
  }
  const auto has = [&](std::uint64_t flag) { return (key.step & flag) != 0; };
  return perform({run, 0, run.count, 0, true, has(Key::kTransfers), has(Key::kTaken), has(Key::kRight)}, access);
}

/// Touches the lines of L1I that a whole run enters, from `line` on, which becomes the last one. Returns their number
/// as a part of WindowMemo::Key::step, and counts them.
inline std::uint64_t InstructionWindow::enter_lines(const TimedRun& run, std::uint64_t& line) {
  std::uint64_t entered = 0;
  for (unsigned n = 0; n < run.lines; ++n) {
    if (run.addresses[n] == line) continue;
    line = run.addresses[n];
    l1i_.hit(line, false);
    ++counters_.l1i_accesses;
    entered += std::uint64_t{1} << WindowMemo::Key::kLinesShift;
  }
  return entered;
}

/// Whether one of these accesses may have to wait for a line, or start a prefetch.
bool InstructionWindow::is_any_awaited(const std::uint64_t* first, const std::uint64_t* end,
                                       std::uint64_t cycle) const {
  return std::any_of(first, end, [&](std::uint64_t a) { return !is_there(ExecutionLog::address_of(a), cycle + 1); });
}

/// Notes the stores among these accesses, and in the key the loads that the last `unwritten` stores concern. Returns
/// false, and has noted nothing, if their time depends on more.
SLUICE_HOT bool InstructionWindow::look_for_stores(const std::uint64_t* const first, const std::uint64_t* const end,
                                                   unsigned unwritten, std::uint64_t& step,
                                                   WindowMemo::Key::Loads& loads) {
  const std::uint64_t oldest = forwarding_.next() - unwritten;
  unsigned count = 0;
  for (const std::uint64_t* a = first; a != end; ++a) {
    const std::uint64_t granule = ExecutionLog::address_of(*a) / 8;
    if ((*a & ExecutionLog::kStore) != 0) {
      forwarding_.note_order(granule, ExecutionLog::bytes_of(*a));
      continue;
    }
    const std::uint64_t last = forwarding_.last_alike(granule);
    if (last < oldest) [[likely]]
      continue;
    const unsigned bytes = ExecutionLog::bytes_of(*a);
    const std::uint64_t number = forwarding_.find_number(last, granule, bytes, oldest);
    if (number == 0) continue;
    if (!add_load(number, bytes, static_cast<unsigned>(a - first), count++, step, loads)) {
      take_back_stores(first, a);
      return false;
    }
  }
  return true;
}

/// Forgets that look_for_stores() has noted the stores among these accesses.
void InstructionWindow::take_back_stores(const std::uint64_t* first, const std::uint64_t* end) {
  const auto stores = std::count_if(first, end, [](std::uint64_t a) { return (a & ExecutionLog::kStore) != 0; });
  forwarding_.take_back_to(forwarding_.next() - static_cast<std::uint64_t>(stores));
}

/// Puts a load into the key that has some of its bytes from the store of this number. access: which access of the step
/// it is; count: how many such loads there have been.
SLUICE_HOT bool InstructionWindow::add_load(std::uint64_t number, unsigned bytes, unsigned access, unsigned count,
                                            std::uint64_t& step, WindowMemo::Key::Loads& loads) const {
  const std::uint64_t age = forwarding_.next() - number;
  if (age > kMostAge || count == kMostLoads) return false;
  const bool partly = (bytes & ~unsigned{forwarding_[number].bytes}) != 0;
  const std::uint64_t load = (access | (partly ? kPartly : 0) | age << kAgeShift) << count * kLoadBits % 64;
  std::uint64_t& word = loads[count * kLoadBits / 64];
  word = count * kLoadBits % 64 == 0 ? load : word | load;
  if (count == 64 / kLoadBits) loads.back() = 0;
  step |= count < 64 / kLoadBits ? WindowMemo::Key::kHasLoads : WindowMemo::Key::kHasManyLoads;
  return true;
}

/// Executes a step, and remembers it if recall() says so. Gets a copy, so that consume() can keep its own in registers.
[[gnu::noinline]] const std::uint64_t* InstructionWindow::perform(Step step, const std::uint64_t* access) {
  make_exact();
  access = again_.end ? execute_again(step, access) : execute_step(step, access);
  if (learns_ != Learns::nothing)
    learn();
  else
    note_use(step.run);
  return access;
}

/// Whether the state before this run should be captured. It costs as much as it saves on some ten steps, and more where
/// the host's caches do not hold the memo, so it is seldom done where fewer than kWorthwhile steps followed.
inline bool InstructionWindow::may_capture(const TimedRun& run) {
  if (captured_at_) {
    std::int8_t& worth = captured_at_->worth;
    const bool paid = recalled_ - recalled_before_ >= kWorthwhile;
    worth = static_cast<std::int8_t>(std::clamp(worth + (paid ? 2 : -1), -2 * kMostWorth, kMostWorth));
    captured_at_ = nullptr;
  }
  if (run.worth < 0 && uses_ != 0 && ++skipped_ % kRetry != 0) return false;
  captured_at_ = &run;
  recalled_before_ = recalled_;
  return true;
}

bool InstructionWindow::foresee_jump(const TimedRun& run, std::uint64_t next_pc) {
  bool right = true;
  if (run.end == TimingRecord::kReturn)
    right = predictor_.returns(next_pc);
  else if (run.end == TimingRecord::kIndirect || run.end == TimingRecord::kIndirectCall)
    right = predictor_.indirect(run.last_pc, next_pc);
  if (run.end == TimingRecord::kCall || run.end == TimingRecord::kIndirectCall) predictor_.calls(run.end_pc);
  return right;
}

/// Takes a step by what the memo knows. Returns false if it must be executed, and says then what is to be learnt of it.
SLUICE_HOT bool InstructionWindow::recall(Step& step, const std::uint64_t*& accesses) {
  if (step.run.uses < remember_after_) return false;
  if (state_ == WindowMemo::kNone && (!may_capture(step.run) || !capture_before(step, accesses))) return false;
  const std::uint64_t first_store = forwarding_.next();
  const std::uint64_t* access = accesses;
  Touched touched;
  WindowMemo::Id state = state_;
  auto number = static_cast<std::uint32_t>(step.run.whole);
  Found found = touch(step, access, unwritten_, touched);
  if (found == Found::event) [[unlikely]]
    found = meet_events(step, access, touched, state, number);
  if (found != Found::hit) [[unlikely]] {
    forwarding_.take_back_to(first_store);
    again_.end = touched.end;
    return false;
  }
  foresee(step);
  using Key = WindowMemo::Key;
  touched.key.step |= Key::step_of(number, step.first, step.end, step.transfers) | (step.taken ? Key::kTaken : 0) |
                      (step.right ? Key::kRight : 0) | touched.lines << Key::kLinesShift;
  const WindowMemo::Effect* const effect = memo_.find(state, touched.key.step, touched.key.loads);
  if (!effect) [[unlikely]] {
    forwarding_.take_back_to(first_store);
    lesson_ = {state, touched.key, at_.cycle, counters_};
    learns_ = Learns::effect;
    again_.end = access;
    return false;
  }
  again_.count = 0;
  at_.cycle += effect->cycles;
  state_ = effect->next;
  unwritten_ = effect->stores;
  is_behind_ = true;
  memo_.count(*effect, counters_);
  ++recalled_;
  line_ = touched.line;
  counters_.l1i_accesses += touched.lines;
  counters_.l1d_accesses += touched.accesses;
  accesses = access;
  return true;
}

/// Sets state_ to what the window is in before this step, if the memo can know the step. Gets a copy as perform().
[[gnu::noinline]] bool InstructionWindow::capture_before(Step step, const std::uint64_t* access) {
  const std::uint64_t first_store = forwarding_.next();
  Touched touched;
  const Found found = touch(step, access, unwritten_stores(), touched);
  forwarding_.take_back_to(first_store);
  return found != Found::other && capture();
}

/// Touches the line of a step's access. awaits: lines may be under way.
SLUICE_HOT InstructionWindow::Found InstructionWindow::touch_data(const TimingRecord& r, std::uint64_t address,
                                                                  bool awaits, Touched& touched) {
  if (r.kind == TimingRecord::kPrefetch) [[unlikely]] {
    return brings(address, static_cast<LineUse>(r.detail)) ? Found::event : Found::hit;  // touch() refuses prefetch.i
  }
  const unsigned bytes = bytes_of(address, r.detail);
  if (address == ExecutionLog::kNoCache || (bytes > 0xff && crosses_line(address, r.detail))) [[unlikely]]
    return Found::other;
  const bool is_store = r.kind == TimingRecord::kStore;
  const Found found = !touch_l1d(address, is_store) || (awaits && is_awaited(address)) ? Found::event : Found::hit;
  ++touched.accesses;
  if (is_store) {
    forwarding_.note_order(address / 8, bytes & 0xff);
    if (bytes <= 0xff) [[likely]]
      return found;
    forwarding_.note_order(address / 8 + 1, bytes >> 8);
    return Found::event;  // what follows has one entry more
  }
  const std::uint64_t number = forwarding_.find_number(address / 8, bytes & 0xff, touched.oldest);
  if (bytes > 0xff && forwarding_.find_number(address / 8 + 1, bytes >> 8, touched.oldest) != 0) [[unlikely]]
    return Found::other;
  if (number == 0) return found;
  // A load that a store may answer does not always ask for the line.
  if (found == Found::event ||
      !add_load(number, bytes, touched.accesses - 1, touched.loads++, touched.key.step, touched.key.loads))
    return Found::other;
  return Found::hit;
}

/// Touches lines in L1 as the step does, up to the first access that L1D does not answer at once, and says what its
/// time depends on beside the window's state and its branch.
SLUICE_HOT InstructionWindow::Found InstructionWindow::touch(const Step& step, const std::uint64_t*& access,
                                                             unsigned unwritten, Touched& touched) {
  touched.end = access;
  // A line that prefetch.i brings may displace one that the step enters later, and would be touched too early.
  if (step.run.prefetches_code || !touch_lines(step, touched)) [[unlikely]]
    return Found::other;
  touched.key.step = 0;
  touched.left = step.run.accesses;
  if (touched.left == 0) return Found::hit;
  if (step.first != 0 || step.end != step.run.count) [[unlikely]]
    touched.left = step.run.accesses_of(step.first, step.end);
  touched.oldest = forwarding_.next() - unwritten;
  return touch_rest(step, access, touched);
}

/// Goes on with touch().
SLUICE_HOT InstructionWindow::Found InstructionWindow::touch_rest(const Step& step, const std::uint64_t*& access,
                                                                  Touched& touched) {
  const bool awaits = last_pending_ > at_.cycle + 1;
  std::uint64_t left = touched.left;
  for (; left != 0; left &= left - 1) {
    const unsigned n = static_cast<unsigned>(std::countr_zero(left));
    const Found found = touch_data(step.run.records[n], ExecutionLog::address_of(*access++), awaits, touched);
    if (found != Found::hit) [[unlikely]] {
      touched.at = n;
      touched.end = access - 1;
      touched.left = left & (left - 1);
      return found;
    }
  }
  return Found::hit;
}

/// Touches the rest of a step that touch() has found an event in, as far as the memo knows when its lines are asked
/// for. Those lines are then under way. state, number: what the rest follows on, as find() needs it.
[[gnu::noinline]] InstructionWindow::Found InstructionWindow::meet_events(const Step& step,
                                                                          const std::uint64_t*& access,
                                                                          Touched& touched, WindowMemo::Id& state,
                                                                          std::uint32_t& number) {
  using Key = WindowMemo::Key;
  for (;;) {
    Key key = touched.key;
    key.step |= Key::step_of(number, step.first, step.end, false) | touched.lines << Key::kLinesShift | Key::kEvent |
                std::uint64_t{touched.at} << Key::kEventShift;
    const WindowMemo::Effect* const effect = memo_.find(state, key.step, key.loads);
    if (!effect) {
      lesson_ = {state, key, at_.cycle, counters_};
      learns_ = Learns::event;
      return Found::event;
    }
    if (WindowMemo::varies(*effect)) return Found::other;
    state = effect->next;
    const TimingRecord& r = step.run.records[touched.at];
    const std::uint64_t address = ExecutionLog::address_of(access[-1]);
    const std::uint32_t late = meet(r, address, at_.cycle + effect->cycles);
    again_.met[again_.count++] = {access - 1, late};
    number = late | (r.kind == TimingRecord::kStore && !is_simple(address, r.detail) ? kSplit : 0);
    touched.end = access;
    if (!keeps_lines(step, touched.at + 1)) return Found::other;
    if (const Found found = touch_rest(step, access, touched); found != Found::event) return found;
  }
}

/// Whether an access to a line that L1D has may have to wait for it, or start a prefetch.
bool InstructionWindow::is_awaited(std::uint64_t address) {
  if (is_there(address, at_.cycle + 1)) return false;
  const Pending* const p = pending_of(l1d_.line_of(address));
  return p && (p->ahead || p->ready > at_.cycle + 1);
}

/// The lines of L1I that the step enters. Returns false if one is not there.
SLUICE_HOT bool InstructionWindow::touch_lines(const Step& step, Touched& touched) {
  const TimedRun& run = step.run;
  touched.line = line_;
  if (run.lines == 1 && run.addresses[0] == line_) [[likely]]
    return true;
  for (unsigned n = 0; n < run.lines; ++n) {
    if (run.starts[n] < step.first || run.starts[n] >= step.end || run.addresses[n] == touched.line) continue;
    touched.line = run.addresses[n];
    if (!l1i_.hit(touched.line, false)) return false;
    ++touched.lines;
  }
  return true;
}

/// The step that recall() has chosen has been executed.
void InstructionWindow::learn() {
  const bool is_event = std::exchange(learns_, Learns::nothing) == Learns::event;
  if (++learnt_ == kTrial) {
    if (recalled_ - recalled_before_trial_ < kTrial * kWorth) {
      rest_ = next_rest_;
      next_rest_ = std::min(2 * next_rest_, kMostRest);
      remember_after_ = kNeverRemember;
    } else {
      next_rest_ = kFirstRest;
    }
    learnt_ = 0;
    recalled_before_trial_ = recalled_;
  }
  if (!capture() || lesson_.state == WindowMemo::kNone) return;
  if (is_event)
    return memo_.add_event(lesson_.state, lesson_.key, static_cast<std::uint32_t>(again_.asked - lesson_.cycle));
  WindowMemo::Effect effect;
  effect.next = state_;
  effect.cycles = static_cast<std::uint32_t>(at_.cycle - lesson_.cycle);
  WindowMemo::Lost lost;
  for (std::size_t n = 0; n < kLosses; ++n)
    lost[n] = static_cast<std::uint32_t>(counters_.lost[n] - lesson_.counters.lost[n]);
  memo_.add(lesson_.state, lesson_.key, effect, static_cast<unsigned>(counters_.forwarded - lesson_.counters.forwarded),
            lost);
}

}  // namespace sluice::riscv
