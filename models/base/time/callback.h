// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A move-only callable that never allocates: what calendar entries and ports call.

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace sluice::base {

template <class Signature, std::size_t Capacity = 48>
class Callback;

/// Holds any callable of at most Capacity bytes in place; a larger one does not compile.
template <class R, class... A, std::size_t Capacity>
class Callback<R(A...), Capacity> {
 public:
  Callback() = default;
  Callback(std::nullptr_t) {}
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Callback>>>
  Callback(F&& f) {
    set(std::forward<F>(f));
  }
  Callback(Callback&& o) noexcept { take(o); }
  Callback& operator=(Callback&& o) noexcept {
    if (this != &o) {
      clear();
      take(o);
    }
    return *this;
  }
  ~Callback() { clear(); }

  /// Assigns a callable without a move in between.
  template <class F>
  void emplace(F&& f) {
    if constexpr (std::is_same_v<std::decay_t<F>, Callback>) {
      *this = std::forward<F>(f);
    } else {
      clear();
      set(std::forward<F>(f));
    }
  }
  explicit operator bool() const { return call_ != nullptr; }
  R operator()(A... a) { return call_(store_, std::forward<A>(a)...); }

 private:
  template <class F>
  void set(F&& f) {
    using T = std::decay_t<F>;
    static_assert(sizeof(T) <= Capacity && alignof(T) <= alignof(std::max_align_t), "capture less");
    static_assert(std::is_nothrow_move_constructible_v<T>);
    new (store_) T(std::forward<F>(f));
    call_ = [](void* p, A... a) -> R { return (*static_cast<T*>(p))(std::forward<A>(a)...); };
    if constexpr (!std::is_trivially_copyable_v<T> || !std::is_trivially_destructible_v<T>)
      manage_ = [](void* from, void* to) {
        T* t = static_cast<T*>(from);
        if (to) new (to) T(std::move(*t));
        t->~T();
      };
  }
  void take(Callback& o) {
    call_ = std::exchange(o.call_, nullptr);
    manage_ = std::exchange(o.manage_, nullptr);
    if (!call_) return;
    if (manage_)
      manage_(o.store_, store_);
    else
      __builtin_memcpy(store_, o.store_, Capacity);
  }
  void clear() {
    if (manage_) manage_(store_, nullptr);
    call_ = nullptr;
    manage_ = nullptr;
  }

  R (*call_)(void*, A...) = nullptr;
  void (*manage_)(void* from, void* to) = nullptr;  ///< null: trivially copyable
  alignas(std::max_align_t) unsigned char store_[Capacity] = {};
};

}  // namespace sluice::base
