// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Pooled objects: objects that are made for every message cost no allocation in steady state. Plain C++.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace sluice::base {

/// A pool of objects of one type. It grows when it is empty and never shrinks. T::clear() makes an object as new,
/// except for memory that it may keep. One per type and process; it is never destroyed, so objects may outlive
/// everything else.
template <class T>
class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool;
    return *pool;
  }
  T* take() {
    if (free_.empty()) grow();
    T* object = free_.back();
    free_.pop_back();
    return object;
  }
  void give_back(T* object) {
    object->clear();
    free_.push_back(object);
  }
  std::size_t taken() const { return made_ - free_.size(); }  ///< for tests: objects in use

 private:
  Pool() = default;
  void grow() {
    static constexpr std::size_t kChunk = 32;
    // Not value-initialised, so that memory that T's constructor leaves alone is not touched before it is used.
    chunks_.emplace_back(new T[kChunk]);
    made_ += kChunk;
    free_.reserve(made_);
    for (std::size_t i = kChunk; i-- > 0;) free_.push_back(&chunks_.back()[i]);
  }
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<T*> free_;
  std::size_t made_ = 0;
};

/// Owns one object of the pool; its destructor gives the object back.
template <class T>
class PoolPtr {
 public:
  PoolPtr() = default;
  explicit PoolPtr(T* object) : object_(object) {}
  PoolPtr(PoolPtr&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  PoolPtr& operator=(PoolPtr&& o) noexcept {
    if (this != &o) {
      reset();
      object_ = std::exchange(o.object_, nullptr);
    }
    return *this;
  }
  ~PoolPtr() { reset(); }

  void reset() {
    if (object_) Pool<T>::instance().give_back(std::exchange(object_, nullptr));
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

}  // namespace sluice::base
