// Chain states to and from bytes, so that Python can hold and pickle them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "density.hpp"
#include "sampling.hpp"

namespace ispca {
namespace {

constexpr std::uint64_t kMagic = 0x32656e6967736900ULL;  // changes whenever the content does

template <class T>
void put(std::string& out, const T* values, std::size_t count) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  template <class T>
  void get(T* values, std::size_t count) {
    if (count > (bytes_.size() - at_) / sizeof(T)) throw std::invalid_argument("state is cut short");
    if (count > 0) std::memcpy(values, bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  bool done() const { return at_ == bytes_.size(); }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

struct Header {
  std::uint64_t magic, family, prior, sampler, position, metric, chains;
};

template <class T>
std::uint64_t place(const std::vector<const T*>& all, const T* one) {
  return static_cast<std::uint64_t>(std::find(all.begin(), all.end(), one) - all.begin());
}

Header header(const Problem& problem, Sampler sampler, std::size_t chains) {
  return {kMagic,
          place(families(), problem.family),
          place(priors(), problem.prior.kind),
          static_cast<std::uint64_t>(sampler),
          Layout(problem).size(),
          metric_size(problem, sampler),
          chains};
}

// The bytes may come from anywhere: what would make a chain hang or draw NaN is refused.
void check(const ChainState& state, const Problem& problem, Sampler sampler) {
  if (!(state.step > 0)) throw std::invalid_argument("state holds a chain that never started");
  bool valid = std::isfinite(state.step) && state.random != Random::State{};  // all zero, the stream stays at zero
  for (double value : state.position) valid = valid && std::isfinite(value);
  for (double value : state.metric) valid = valid && std::isfinite(value);
  if (sampler == Sampler::nuts) {
    for (double variance : state.metric) valid = valid && variance > 0;
  } else if (!state.metric.empty()) {
    const std::size_t block = problem.columns + 1;  // the diagonals of the curvatures, then a width
    for (std::size_t h = 0; h < problem.outputs; ++h)
      for (std::size_t i = 0; i < block; ++i) valid = valid && state.metric[(h * block + i) * block + i] >= 0;
    valid = valid && state.metric.back() > 0;
  }
  if (!valid) throw std::invalid_argument("state holds numbers that no chain leaves");
}

}  // namespace

std::string pack_states(const std::vector<ChainState>& states, const Problem& problem, Sampler sampler) {
  std::string out;
  const Header head = header(problem, sampler, states.size());
  put(out, &head, 1);
  for (const ChainState& state : states) {
    put(out, state.random.data(), state.random.size());
    put(out, &state.step, 1);
    put(out, state.position.data(), state.position.size());
    put(out, state.metric.data(), state.metric.size());
  }
  return out;
}

std::vector<ChainState> unpack_states(const std::string& bytes, const Problem& problem, Sampler sampler) {
  Reader reader(bytes);
  Header head{};
  reader.get(&head, 1);
  const Header expected = header(problem, sampler, head.chains);
  if (std::memcmp(&head, &expected, sizeof head) != 0)
    throw std::invalid_argument("state comes from another model, sampler, data size or version");
  const std::uint64_t per_chain = 8 * (5 + head.position + head.metric), rest = bytes.size() - sizeof head;
  if (head.chains == 0 || rest % per_chain != 0 || rest / per_chain != head.chains)
    throw std::invalid_argument("state has the wrong length");
  std::vector<ChainState> states(head.chains);
  for (ChainState& state : states) {
    state.position.resize(head.position);
    state.metric.resize(head.metric);
    reader.get(state.random.data(), state.random.size());
    reader.get(&state.step, 1);
    reader.get(state.position.data(), state.position.size());
    reader.get(state.metric.data(), state.metric.size());
    check(state, problem, sampler);
  }
  return states;
}

}  // namespace ispca
