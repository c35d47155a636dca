// Runs all chains of a problem in threads, with draws that do not depend on how many there are.
#include "sampling.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "density.hpp"

namespace ispca {

Sampler parse_sampler(const std::string& name) {
  if (name == "nuts") return Sampler::nuts;
  if (name == "blocked") return Sampler::blocked;
  throw std::invalid_argument("sampler '" + name + "' is unknown; choose nuts or blocked");
}

std::size_t position_size(const Problem& problem, Sampler) { return Layout(problem).size(); }

std::size_t metric_size(const Problem& problem, Sampler sampler) {
  if (sampler == Sampler::nuts) return Layout(problem).size();
  if (problem.model == Model::gaussian) return 0;
  return problem.outputs * (problem.columns + 1) * (problem.columns + 1) + 1;  // curvature, width of the scale move
}

std::vector<ChainState> fresh_states(std::size_t chains, std::uint64_t seed) {
  std::vector<ChainState> states(chains);
  for (std::size_t chain = 0; chain < chains; ++chain) states[chain].random = Random(seed, chain).state();
  return states;
}

namespace {

void run_one(const Problem& problem, const Settings& settings, ChainState& state, const ChainOutput& output,
             const std::atomic<bool>& stop) {
  if (settings.sampler == Sampler::nuts) run_nuts(problem, settings, state, output, stop);
  else run_blocked(problem, settings, state, output, stop);
}

// Shared by the workers and the waiting thread.
struct Progress {
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t running = 0;
  std::exception_ptr failure;
};

}  // namespace

bool run_chains(const Problem& problem, const Settings& settings, std::vector<ChainState>& states,
                const std::vector<ChainOutput>& outputs, std::size_t threads,
                const std::function<bool()>& interrupted) {
  Progress progress;
  const auto work = [&] {
    std::exception_ptr failure;
    try {
      for (std::size_t chain; !progress.stop && (chain = progress.next++) < states.size();)
        run_one(problem, settings, states[chain], outputs[chain], progress.stop);
    } catch (...) {
      failure = std::current_exception();
      progress.stop = true;
    }
    const std::lock_guard<std::mutex> lock(progress.mutex);
    if (failure) progress.failure = failure;
    --progress.running;
    progress.changed.notify_all();
  };
  std::vector<std::thread> workers;
  const std::size_t count = std::max<std::size_t>(1, std::min(threads, states.size()));
  progress.running = count;
  bool complete = true;
  for (std::size_t i = 0; i < count; ++i) workers.emplace_back(work);
  {
    std::unique_lock<std::mutex> lock(progress.mutex);
    while (!progress.changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return progress.running == 0; })) {
      lock.unlock();
      if (interrupted()) {
        progress.stop = true;
        complete = false;
      }
      lock.lock();
    }
  }
  for (std::thread& worker : workers) worker.join();
  if (progress.failure) std::rethrow_exception(progress.failure);
  return complete;
}

}  // namespace ispca
