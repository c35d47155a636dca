// Runs all chains of a problem in threads, with draws that do not depend on how many there are.
#include "sampling.hpp"

#include <atomic>
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

std::size_t metric_size(const Problem& problem, Sampler sampler) {
  if (sampler == Sampler::nuts) return Layout(problem).size();
  return problem.family->blocked_metric_size(problem);
}

void check_sampler(const Problem& problem, Sampler sampler) {
  if (sampler == Sampler::nuts || problem.family->blocked) return;
  throw std::invalid_argument(std::string("the ") + problem.family->model +
                              " model has no blocked sampler: choose nuts");
}

std::vector<ChainState> fresh_states(std::size_t chains, std::uint64_t seed) {
  std::vector<ChainState> states(chains);
  for (std::size_t chain = 0; chain < chains; ++chain) states[chain].random = Random(seed, chain).state();
  return states;
}

namespace {

// The threads of one run, and what they share with the waiting one. They have ended when this object has.
class Crew {
 public:
  Crew(const Problem& problem, const Settings& settings, std::vector<ChainState>& states,
       const std::vector<ChainOutput>& outputs)
      : problem_(problem), settings_(settings), states_(states), outputs_(outputs) {}

  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  ~Crew() {
    stop_ = true;
    for (std::thread& worker : workers_) worker.join();
  }

  // Starts up to `count` threads and returns how many there are: the system may allow fewer, even none.
  std::size_t start(std::size_t count) {
    workers_.reserve(count);
    while (workers_.size() < count) {
      change_running(+1);
      try {
        workers_.emplace_back([this] { run(); });
      } catch (const std::exception&) {  // no thread, or no memory for one
        change_running(-1);
        break;
      }
    }
    return workers_.size();
  }

  // Runs chains until there are none left or `poll` throws.
  void work(const Poll& poll) {
    for (std::size_t chain; (chain = next_++) < states_.size();) {
      if (settings_.sampler == Sampler::nuts) run_nuts(problem_, settings_, states_[chain], outputs_[chain], poll);
      else problem_.family->run_blocked(problem_, settings_, states_[chain], outputs_[chain], poll);
    }
  }

  // Waits for the threads; returns false as soon as `interrupted` does not. A chain's exception is rethrown.
  bool wait(const std::function<bool()>& interrupted) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return running_ == 0; })) {
      lock.unlock();
      if (interrupted()) return false;
      lock.lock();
    }
    if (failure_) std::rethrow_exception(failure_);
    return true;
  }

 private:
  // The body of a thread: nothing may leave it.
  void run() noexcept {
    try {
      work([this] {
        if (stop_) throw Interrupted();
      });
    } catch (const Interrupted&) {
    } catch (...) {
      stop_ = true;
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
    }
    change_running(-1);
  }

  void change_running(int by) {
    const std::scoped_lock lock(mutex_);
    running_ += by;
    changed_.notify_all();
  }

  const Problem& problem_;
  const Settings& settings_;
  std::vector<ChainState>& states_;
  const std::vector<ChainOutput>& outputs_;
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> workers_;
};

}  // namespace

bool run_chains(const Problem& problem, const Settings& settings, std::vector<ChainState>& states,
                const std::vector<ChainOutput>& outputs, std::size_t threads,
                const std::function<bool()>& interrupted) {
  Crew crew(problem, settings, states, outputs);
  if (crew.start(std::max<std::size_t>(1, std::min(threads, states.size()))) > 0) return crew.wait(interrupted);
  try {
    crew.work(poll_now_and_then(interrupted));
  } catch (const Interrupted&) {
    return false;
  }
  return true;
}

}  // namespace ispca
