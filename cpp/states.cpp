// Chain states to and from bytes, so that Python can hold and pickle them.
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "sampling.hpp"

namespace ispca {
namespace {

constexpr std::uint64_t kMagic = 0x31656e6967736900ULL;  // changes whenever the content does

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
  std::uint64_t magic, model, sampler, position, metric, chains;
};

Header header(const Problem& problem, Sampler sampler, std::size_t chains) {
  return {kMagic, static_cast<std::uint64_t>(problem.model), static_cast<std::uint64_t>(sampler),
          position_size(problem, sampler), metric_size(problem, sampler), chains};
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
  const std::uint64_t per_chain = 8 * (5 + head.position + head.metric);
  if (head.chains == 0 || head.chains > bytes.size() || bytes.size() != sizeof head + head.chains * per_chain)
    throw std::invalid_argument("state has the wrong length");
  std::vector<ChainState> states(head.chains);
  for (ChainState& state : states) {
    state.position.resize(head.position);
    state.metric.resize(head.metric);
    reader.get(state.random.data(), state.random.size());
    reader.get(&state.step, 1);
    reader.get(state.position.data(), state.position.size());
    reader.get(state.metric.data(), state.metric.size());
    if (!(state.step > 0)) throw std::invalid_argument("state holds a chain that never started");
  }
  return states;
}

}  // namespace ispca
