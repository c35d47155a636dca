// Runs all chains of a problem in threads, with draws that do not depend on how many there are.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "chain.hpp"

namespace ispca {

// Refuses a sampler that the family does not have.
void check_sampler(const Problem& problem, Sampler sampler);

// Fresh states for every chain.
std::vector<ChainState> fresh_states(std::size_t chains, std::uint64_t seed);

// States to and from bytes. Reading checks that they fit; throws std::invalid_argument if not.
std::string pack_states(const std::vector<ChainState>& states, const Problem& problem, Sampler sampler);
std::vector<ChainState> unpack_states(const std::string& bytes, const Problem& problem, Sampler sampler);

// Runs the chains in as many threads as asked for or, where the system refuses them, in fewer; without any, in the
// calling one. `interrupted` is called about 20 times a second from the calling thread, until it returns true: that
// stops everything. Returns whether the run was complete. A chain's exception is rethrown here.
bool run_chains(const Problem& problem, const Settings& settings, std::vector<ChainState>& states,
                const std::vector<ChainOutput>& outputs, std::size_t threads, const std::function<bool()>& interrupted);

}  // namespace ispca
