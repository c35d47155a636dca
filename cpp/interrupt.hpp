// The way out of long work: a check that is called often, and throws once the run should stop.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "kernels.hpp"

namespace ispca {

struct Interrupted {};

// Called every few milliseconds of work at the latest; throws Interrupted to end it.
using Poll = std::function<void()>;

// Asks `interrupted` at most 20 times a second, and never again after it has said yes.
inline Poll poll_now_and_then(std::function<bool()> interrupted) {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval(50);
  return [interrupted = std::move(interrupted), next = Clock::now() + kInterval]() mutable {
    const auto now = Clock::now();
    if (now < next) return;
    next = now + kInterval;
    if (interrupted()) throw Interrupted();
  };
}

// Kernels::cholesky of the whole matrix, a few columns at a time.
inline bool cholesky(const Kernels& kernels, std::size_t size, double* matrix, const Poll& poll) {
  constexpr std::size_t kStripWork = 4'000'000;
  const std::size_t strip = 1 + kStripWork / (size * size);
  for (std::size_t from = 0; from < size; from += strip) {
    poll();
    if (!kernels.cholesky(size, from, std::min(from + strip, size), matrix)) return false;
  }
  return true;
}

}  // namespace ispca
