// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sluice::base {

/// Tells ASan, at the end of its scope, that the thread runs on its own stack again. SystemC tells it of each switch
/// to a process, but leaves wrong bounds for the stack that called sc_start(): ASan then takes memory that an exception
/// has unwound there for memory in use.
class AsanStack {
 public:
  AsanStack() = default;
  AsanStack(const AsanStack&) = delete;
  AsanStack& operator=(const AsanStack&) = delete;
#if defined(__SANITIZE_ADDRESS__)
  ~AsanStack() {
    pthread_attr_t attributes;
    void* bottom = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, bottom, size);
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
  }
#else
  ~AsanStack() {}
#endif
};

}  // namespace sluice::base
