// Stand-alone fuzzer: random small problems through every model, sampler, kernel and the lasso, under sanitizers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "density.hpp"
#include "dispatch.hpp"
#include "lasso_path.hpp"
#include "sampling.hpp"

namespace {

using namespace ispca;

std::size_t between(Random& random, std::size_t low, std::size_t high) {
  return low + static_cast<std::size_t>(random.uniform() * static_cast<double>(high - low + 1));
}

double power_of_ten(Random& random, double low, double high) {
  return std::pow(10.0, low + (high - low) * random.uniform());
}

struct Case {
  const Family* family = nullptr;
  std::size_t n = 0, columns = 0, classes = 0;
  std::vector<double> x, y, weight, offset, fixed_scale;  // the last three may be empty
  Prior prior;
  Settings settings;
  std::size_t chains = 0, threads = 0;
};

// A target that the family accepts.
double target(Random& random, const Case& c, std::size_t i, double normal, double y_scale, bool separable) {
  const std::string model = c.family->model;
  const double first = c.x[i * c.columns];
  if (c.family->noise) return separable ? first : y_scale * normal;
  if (model == "poisson" || model == "negative_binomial")
    return std::floor(separable ? 5 * (first > 0) : std::min(std::fabs(y_scale * normal), 1e12));
  if (model == "cox") {  // ties, and a first sample that is an event
    const double time = separable ? 5 - std::clamp(first, -4.0, 4.0) : static_cast<double>(between(random, 1, 2 * c.n));
    return i > 0 && random.uniform() < 0.5 ? -time : time;
  }
  if (model == "ordinal" && i < c.classes) return static_cast<double>(i);  // every class occurs
  if (separable) return first > 0 ? 1 : 0;
  return static_cast<double>(between(random, 0, c.classes - 1));
}

void fill_data(Random& random, Case& c) {
  const double x_scale = power_of_ten(random, -6, 6), y_scale = power_of_ten(random, -6, 6);
  const bool separable = random.uniform() < 0.3, coarse = random.uniform() < 0.2;
  c.x.resize(c.n * c.columns);
  c.y.resize(c.n);
  random.normals(c.x.size(), c.x.data());
  random.normals(c.n, c.y.data());
  for (double& value : c.x) value = x_scale * (coarse ? std::round(value) : value);
  for (std::size_t i = 0; i < c.n; ++i) c.y[i] = target(random, c, i, c.y[i], y_scale, separable);
}

// Weights with zeros, offsets and unpenalized columns; the first samples always count.
void fill_options(Random& random, Case& c) {
  if (random.uniform() < 0.3) {
    for (std::size_t i = 0; i < c.n; ++i)
      c.weight.push_back(i > 5 && random.uniform() < 0.2 ? 0 : power_of_ten(random, -3, 3));
  }
  if (random.uniform() < 0.3 && !c.family->per_class) {
    c.offset.resize(c.n);
    random.normals(c.n, c.offset.data());
    const double scale = power_of_ten(random, -3, 3);
    for (double& value : c.offset) value *= scale;
  }
  if (random.uniform() < 0.3) {
    for (std::size_t j = 0; j < c.columns; ++j)
      c.fixed_scale.push_back(random.uniform() < 0.5 ? 0 : power_of_ten(random, -3, 3));
  }
}

Case make_case(Random& random) {
  Case c;
  c.family = families()[between(random, 0, families().size() - 1)];
  c.n = between(random, 2, 30);
  c.columns = random.uniform() < 0.3 ? between(random, 8, 60) : between(random, 1, 8);  // often more than samples
  c.classes = c.family->per_class || c.family->extra_vector ? between(random, 2, std::min<std::size_t>(c.n, 6)) : 2;
  fill_data(random, c);
  fill_options(random, c);
  c.prior.kind = priors()[between(random, 0, priors().size() - 1)];
  c.prior.tau0 = power_of_ten(random, -6, 3);
  c.prior.slab_df = power_of_ten(random, -1, 2);
  c.prior.slab_scale = power_of_ten(random, -3, 3);
  c.prior.intercept_scale = power_of_ten(random, -3, 3);
  c.prior.sigma_scale = random.uniform() < 0.5 ? 0 : power_of_ten(random, -3, 3);
  c.settings.sampler = random.uniform() < 0.5 || !c.family->blocked ? Sampler::nuts : Sampler::blocked;
  c.settings.n_warmup = between(random, 0, 60);
  c.settings.n_draws = between(random, 0, 10);
  c.settings.target_accept = 0.5 + 0.49 * random.uniform();
  c.settings.max_treedepth = static_cast<int>(between(random, 1, 6));
  c.chains = between(random, 1, 2);
  c.threads = between(random, 1, 2);
  return c;
}

bool finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

// Runs the chains, then goes on from their packed state; returns whether all draws are finite.
bool run_case(const Case& c, const Kernels& kernels) {
  const auto optional = [](const std::vector<double>& values) { return values.empty() ? nullptr : values.data(); };
  const RawData raw{c.n,        c.columns,          c.classes,          c.x.data(),
                    c.y.data(), optional(c.weight), optional(c.offset), optional(c.fixed_scale)};
  const Problem problem = make_problem(*c.family, raw, c.prior, kernels, c.n % 2 == 0, [] {});
  auto states = fresh_states(c.chains, c.settings.seed);
  for (int part = 0; part < 2; ++part) {
    const std::size_t D = c.settings.n_draws, H = problem.outputs, P = problem.coefficients();
    const std::size_t all = c.chains * D;
    const bool local = c.prior.kind->local_scales;
    std::vector<double> draws(all * (H + 2 * P + 3 + problem.extras));
    Buffer<bool> divergent(all);
    std::vector<std::int32_t> depth(all), leaps(all);
    std::vector<ChainOutput> outputs;
    double *coef = draws.data() + all * H, *lambda = coef + all * P, *rest = lambda + all * P;
    for (std::size_t i = 0; i < c.chains; ++i) {
      const std::size_t d = i * D;
      outputs.push_back({draws.data() + d * H, coef + d * P, local ? lambda + d * P : nullptr, rest + d,
                         local ? rest + all + d : nullptr,
                         problem.extras ? rest + 3 * all + d * problem.extras : nullptr, rest + 2 * all + d,
                         divergent.data() + d, depth.data() + d, leaps.data() + d});
    }
    run_chains(problem, c.settings, states, outputs, c.threads, [] { return false; });
    if (!finite(draws)) return false;
    for (const ChainState& state : states)
      if (!finite(state.position) || !finite(state.metric) || !std::isfinite(state.step)) return false;
    states = unpack_states(pack_states(states, problem, c.settings.sampler), problem, c.settings.sampler);
  }
  return true;
}

// Fits a lasso path to the same data, dense and sparse, some samples left out; returns whether all is finite.
bool run_lasso(const Case& c, const Kernels& kernels, Random& random) {
  const bool per_class = c.family->per_class;
  const std::size_t outputs = per_class ? c.classes : 1;
  std::vector<double> columns(c.n * c.columns), y(outputs * c.n), weight(c.n), data;
  std::vector<std::int32_t> indices;
  std::vector<std::int64_t> indptr = {0};
  const double zeros = random.uniform() < 0.5 ? random.uniform() : 0;
  for (std::size_t j = 0; j < c.columns; ++j) {
    for (std::size_t i = 0; i < c.n; ++i) {
      const double value = random.uniform() < zeros ? 0 : c.x[i * c.columns + (random.uniform() < 0.02 ? 0 : j)];
      columns[j * c.n + i] = value;
      if (value != 0) data.push_back(value), indices.push_back(static_cast<std::int32_t>(i));
    }
    indptr.push_back(static_cast<std::int64_t>(data.size()));
  }
  for (std::size_t i = 0; i < c.n; ++i)
    for (std::size_t k = 0; k < outputs; ++k)
      y[k * c.n + i] = per_class ? static_cast<std::size_t>(c.y[i]) == k : c.y[i];
  const std::size_t left_out = between(random, 0, c.n - 1);
  for (std::size_t i = 0; i < c.n; ++i) weight[i] = i < left_out ? 0 : 1.0 / static_cast<double>(c.n - left_out);
  LassoProblem problem;
  problem.family = c.family;
  problem.outputs = outputs;
  problem.y = y.data();
  problem.weight = weight.data();
  std::vector<double> offset(c.n);
  for (double& value : offset) value = 4 * random.uniform() - 2;
  problem.offset = random.uniform() < 0.3 ? offset.data() : nullptr;
  std::vector<double> factors(c.columns);
  for (double& value : factors) value = random.uniform() < 0.2 ? 0 : power_of_ten(random, -3, 3);
  problem.penalty_factors = random.uniform() < 0.3 ? factors.data() : nullptr;
  LassoSettings settings;
  settings.n_lambdas = between(random, 1, 60);
  settings.ratio = power_of_ten(random, -6, 0);
  for (int sparse = 0; sparse < 2; ++sparse) {
    problem.x.rows = c.n;
    problem.x.count = c.columns;
    problem.x.kernels = &kernels;
    problem.x.dense = sparse ? nullptr : columns.data();
    problem.x.data = data.data();
    problem.x.indices = indices.data();
    problem.x.indptr = indptr.data();
    const LassoPath path = lasso_path(problem, settings, [] { return false; });
    if (!finite(path.lambdas) || !finite(path.intercepts) || !finite(path.predictors) || !finite(path.values))
      return false;
    settings.lambdas = path.lambdas;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const long cases = count > 1 ? std::strtol(arguments[1], nullptr, 10) : 10000;
  const auto kernels = ispca::available_kernels();
  long failures = 0;
  for (long i = 0; i < cases; ++i) {
    ispca::Random random(20240501, static_cast<std::uint64_t>(i));
    Case c = make_case(random);
    c.settings.seed = static_cast<std::uint64_t>(i);
    if (!run_case(c, *kernels[static_cast<std::size_t>(i) % kernels.size()])) {
      ++failures;
      std::printf("case %ld: a draw is not finite (model %s, prior %s, sampler %d)\n", i, c.family->model,
                  c.prior.kind->name, static_cast<int>(c.settings.sampler));
    }
    if (c.family->name && !run_lasso(c, *kernels[static_cast<std::size_t>(i) % kernels.size()], random)) {
      ++failures;
      std::printf("case %ld: a lasso solution is not finite (%s)\n", i, c.family->name);
    }
    if ((i + 1) % 1000 == 0) std::printf("%ld cases, %ld failures\n", i + 1, failures), std::fflush(stdout);
  }
  return failures == 0 ? 0 : 1;
}
