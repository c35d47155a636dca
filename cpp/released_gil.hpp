// Work without the GIL, which Python's signal handlers can still end.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

#include "interrupt.hpp"

namespace ispca {

// The GIL, given up while this object lives.
//
// A thread that asks for the GIL while Python shuts down is ended by unwinding its stack (before Python 3.14). No C++
// frame survives that, and std::terminate would take the process along, so the thread is put to sleep instead: the
// process is about to end anyway.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() { take(); }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

  // Runs Python's signal handlers; true if one of them has raised.
  bool interrupted() {
    take();
    const bool raised = PyErr_CheckSignals() != 0;
    state_ = PyEval_SaveThread();
    return raised;
  }

 private:
  void take() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  PyThreadState* state_;
};

// Calls task(interrupted) without the GIL; what it throws arrives here, an interrupt as the exception of its handler.
template <class Task>
auto without_gil(const Task& task) {
  try {
    Released released;
    return task([&released] { return released.interrupted(); });
  } catch (const Interrupted&) {
    throw nanobind::python_error();  // KeyboardInterrupt by default
  }
}

}  // namespace ispca
