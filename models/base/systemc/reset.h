#pragma once
/// What a board's reset line reaches. Plain C++.

namespace sluice::base {

class Resettable {
 public:
  virtual ~Resettable() = default;
  /// Everything that software can see is as after construction, at now(), and so are the outputs. Time and counters go
  /// on, and so does what comes from outside the board. A second call right after the first changes nothing.
  virtual void reset() = 0;
};

}  // namespace sluice::base
