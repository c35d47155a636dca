// Warm-up: dual averaging of the step size, and running variances in doubling windows, both as in Stan.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ispca {

// Nesterov dual averaging (Hoffman and Gelman 2014, section 3.2): moves log(step) until the mean acceptance
// statistic meets the target; the averaged step is the one to keep.
class DualAveraging {
 public:
  DualAveraging(double target, double step, double largest_log_step = 5) : target_(target), largest_(largest_log_step) {
    restart(step);
  }

  void restart(double step) {
    centre_ = std::log(10 * step);  // starts bold: large steps are cheap to try
    error_ = 0;
    log_average_ = std::log(step);
    count_ = 0;
  }

  // Takes the acceptance statistic of one transition; returns the step for the next one.
  double update(double accept) {
    count_ += 1;
    const double rate = 1 / (count_ + 10);
    error_ = (1 - rate) * error_ + rate * (target_ - (accept == accept ? std::min(accept, 1.0) : 0.0));
    const double log_step = std::clamp(centre_ - std::sqrt(count_) / 0.05 * error_, -30.0, largest_);
    const double weight = std::pow(count_, -0.75);
    log_average_ = weight * log_step + (1 - weight) * log_average_;
    return std::exp(log_step);
  }

  double average() const { return std::exp(log_average_); }

 private:
  double target_, largest_, centre_ = 0, error_ = 0, log_average_ = 0, count_ = 0;
};

// Welford's running variance, shrunk towards 1e-3 when few draws are in, as in Stan.
class RunningVariance {
 public:
  explicit RunningVariance(std::size_t size) : mean_(size), squares_(size) {}

  void add(const double* q) {
    count_ += 1;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double delta = q[i] - mean_[i];
      mean_[i] += delta / count_;
      squares_[i] += delta * (q[i] - mean_[i]);
    }
  }

  // Writes the variances and starts afresh.
  void take(double* variance) {
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double raw = count_ > 1 ? squares_[i] / (count_ - 1) : 1.0;
      variance[i] = std::clamp((count_ * raw + 5e-3) / (count_ + 5), 1e-20, 1e20);
      mean_[i] = squares_[i] = 0;
    }
    count_ = 0;
  }

 private:
  double count_ = 0;
  std::vector<double> mean_, squares_;
};

// Which warm-up iterations feed the metric: a start-up phase, windows that double, a final phase for the step.
class Windows {
 public:
  explicit Windows(std::size_t warmup) : end_(warmup > 50 ? warmup - 50 : 0) {
    if (warmup < 20) begin_ = end_ = warmup;  // too short to learn a metric
    else if (warmup < 150) {
      begin_ = warmup * 15 / 100;
      end_ = warmup - warmup / 10;
      width_ = end_ - begin_;
    }
    next_ = begin_ + width_;
    settle();
  }

  bool collects(std::size_t iteration) const { return iteration >= begin_ && iteration < end_; }

  // True after the last iteration of a window; moves on to the next one.
  bool closes(std::size_t iteration) {
    if (!collects(iteration) || iteration + 1 != next_) return false;
    width_ *= 2;
    next_ += width_;
    settle();
    return true;
  }

 private:
  // A window whose successor would not fit runs to the end.
  void settle() {
    if (next_ + 2 * width_ > end_) next_ = end_;
  }
  std::size_t begin_ = 75, end_, width_ = 25, next_ = 0;
};

}  // namespace ispca
