// The Python module ispca._engine: checks shapes, owns the output arrays, releases the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bind_class_products.hpp"
#include "density.hpp"
#include "dispatch.hpp"
#include "lasso_path.hpp"
#include "released_gil.hpp"
#include "sampling.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ispca {
namespace {

using Matrix = nb::ndarray<const double, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

using Indices = nb::ndarray<const std::int32_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Pointers = nb::ndarray<const std::int64_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns zeroed memory, or a MemoryError. calloc hands out pages when they are first written to, so a
// run that asks for too many draws does not fill the memory before it has begun.
template <class T>
struct Array {
  T* data;
  nb::object object;
  explicit Array(const std::vector<std::size_t>& shape) {
    constexpr std::size_t kMost = PTRDIFF_MAX / sizeof(T);
    std::size_t size = 1;
    for (std::size_t extent : shape) {
      if (extent > 0 && size > kMost / extent) throw std::bad_alloc();
      size *= extent;
    }
    std::unique_ptr<void, decltype(&std::free)> memory(std::calloc(std::max<std::size_t>(size, 1), sizeof(T)),
                                                       &std::free);
    if (!memory) throw std::bad_alloc();
    data = static_cast<T*>(memory.get());
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    memory.release();  // NOLINT(bugprone-unused-return-value): the capsule owns it now
    object = nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
  }
};

// A vector with one number per sample or column, or null where there is none.
const double* read_optional(const std::optional<Vector>& values, std::size_t size, const char* message) {
  if (!values) return nullptr;
  if (values->shape(0) != size) throw std::invalid_argument(message);
  return values->data();
}

Problem read_problem(const std::string& model, const Matrix& x, const Vector& y, std::int64_t classes,
                     const std::optional<Vector>& weights, const std::optional<Vector>& offset,
                     const std::optional<Vector>& unpenalized, const Prior& prior, const std::string& kernel,
                     const std::string& precision) {
  if (precision != "single" && precision != "double") throw std::invalid_argument("precision is single or double");
  if (x.shape(0) != y.shape(0)) throw std::invalid_argument("X and y differ in the number of samples");
  if (classes < 0 || classes > 100000) throw std::invalid_argument("n_classes must lie between 0 and 100000");
  RawData raw{x.shape(0), x.shape(1), static_cast<std::size_t>(classes), x.data(), y.data()};
  raw.weight = read_optional(weights, raw.n, "weights must have one number per sample");
  raw.offset = read_optional(offset, raw.n, "offset must have one number per sample");
  raw.fixed_scale = read_optional(unpenalized, raw.columns, "unpenalized must have one number per column of X");
  const Family& family = find_model(model);
  const Kernels& kernels = choose_kernels(kernel);
  return without_gil([&](const auto& interrupted) {
    return make_problem(family, raw, prior, kernels, precision == "double", poll_now_and_then(interrupted));
  });
}

// The arrays of a result, chains first.
struct Result {
  Array<double> intercept, coef, log_lambda, log_tau, log_c2, extra, accept, step;
  Array<bool> divergent;
  Array<std::int32_t> treedepth, n_leapfrog;
  Result(std::size_t C, std::size_t D, const Problem& problem)
      : intercept({C, D, problem.outputs}), coef({C, D, problem.outputs, problem.columns}),
        log_lambda({local(problem) ? C : 0, D, problem.outputs, problem.columns}), log_tau({C, D}),
        log_c2({local(problem) ? C : 0, D}), extra(extra_shape(C, D, problem)), accept({C, D}), step({C}),
        divergent({C, D}), treedepth({C, D}), n_leapfrog({C, D}) {}

  static std::vector<std::size_t> extra_shape(std::size_t C, std::size_t D, const Problem& problem) {
    if (problem.family->extra_vector) return {C, D, problem.extras};
    return {problem.extras ? C : 0, D};
  }

  static bool local(const Problem& problem) { return problem.prior.kind->local_scales; }

  ChainOutput chain(std::size_t c, std::size_t D, const Problem& problem) const {
    const std::size_t H = problem.outputs, P = problem.coefficients(), d = c * D;
    return {intercept.data + d * H,
            coef.data + d * P,
            local(problem) ? log_lambda.data + d * P : nullptr,
            log_tau.data + d,
            local(problem) ? log_c2.data + d : nullptr,
            problem.extras ? extra.data + d * problem.extras : nullptr,
            accept.data + d,
            divergent.data + d,
            treedepth.data + d,
            n_leapfrog.data + d};
  }

  nb::dict dict(const Problem& problem) {
    nb::dict out;
    out["intercept"] = intercept.object;
    out["coef"] = coef.object;
    out["log_tau"] = log_tau.object;
    if (local(problem)) out["log_lambda"] = log_lambda.object;
    if (local(problem)) out["log_c2"] = log_c2.object;
    if (problem.extras) out[problem.family->extra_name] = extra.object;
    out["accept"] = accept.object;
    out["divergent"] = divergent.object;
    out["treedepth"] = treedepth.object;
    out["n_leapfrog"] = n_leapfrog.object;
    out["step_size"] = step.object;
    return out;
  }
};

void check_settings(std::int64_t chains, std::int64_t warmup, std::int64_t draws, double target, std::int64_t depth) {
  if (chains < 1 || chains > 10000) throw std::invalid_argument("n_chains must lie between 1 and 10000");
  if (warmup < 0 || draws < 0) throw std::invalid_argument("n_warmup and n_draws must not be negative");
  if (!(target > 0 && target < 1)) throw std::invalid_argument("target_accept must lie between 0 and 1");
  if (depth < 1 || depth > 20) throw std::invalid_argument("max_treedepth must lie between 1 and 20");
}

nb::dict sample(const std::string& model, const Matrix& x, const Vector& y, std::int64_t n_classes,
                const std::optional<Vector>& weights, const std::optional<Vector>& offset,
                const std::optional<Vector>& unpenalized, const std::string& prior, double tau0, double slab_df,
                double slab_scale, double intercept_scale, double sigma_scale, const std::string& sampler,
                std::int64_t n_chains, std::int64_t n_warmup, std::int64_t n_draws, double target_accept,
                std::int64_t max_treedepth, std::uint64_t seed, std::int64_t n_threads,
                const std::optional<nb::bytes>& state, const std::string& kernel, const std::string& precision) {
  check_settings(n_chains, n_warmup, n_draws, target_accept, max_treedepth);
  const Prior constants{&find_prior(prior), tau0, slab_df, slab_scale, intercept_scale, sigma_scale};
  const Problem problem =
      read_problem(model, x, y, n_classes, weights, offset, unpenalized, constants, kernel, precision);
  const Settings settings{parse_sampler(sampler), static_cast<std::size_t>(n_warmup), static_cast<std::size_t>(n_draws),
                          target_accept,          static_cast<int>(max_treedepth),    seed};
  check_sampler(problem, settings.sampler);
  std::vector<ChainState> states =
      state ? unpack_states(std::string(state->c_str(), state->size()), problem, settings.sampler)
            : fresh_states(static_cast<std::size_t>(n_chains), seed);
  Result result(states.size(), settings.n_draws, problem);
  std::vector<ChainOutput> outputs;
  outputs.reserve(states.size());
  for (std::size_t c = 0; c < states.size(); ++c) outputs.push_back(result.chain(c, settings.n_draws, problem));
  const auto threads = static_cast<std::size_t>(std::max<std::int64_t>(n_threads, 1));
  without_gil([&](const auto& interrupted) {
    if (!run_chains(problem, settings, states, outputs, threads, interrupted)) throw Interrupted();
  });
  for (std::size_t c = 0; c < states.size(); ++c) result.step.data[c] = states[c].step;
  nb::dict out = result.dict(problem);
  const std::string packed = pack_states(states, problem, settings.sampler);
  out["state"] = nb::bytes(packed.data(), packed.size());
  return out;
}

nb::tuple log_density(const std::string& model, const Matrix& x, const Vector& y, const Vector& q,
                      std::int64_t n_classes, const std::optional<Vector>& weights, const std::optional<Vector>& offset,
                      const std::optional<Vector>& unpenalized, const std::string& prior, double tau0, double slab_df,
                      double slab_scale, double intercept_scale, double sigma_scale, const std::string& kernel,
                      const std::string& precision, std::int64_t repeat) {
  const Prior constants{&find_prior(prior), tau0, slab_df, slab_scale, intercept_scale, sigma_scale};
  const Problem problem =
      read_problem(model, x, y, n_classes, weights, offset, unpenalized, constants, kernel, precision);
  Density density(problem);
  if (q.shape(0) != density.size())
    throw std::invalid_argument("q must have " + std::to_string(density.size()) + " entries");
  Array<double> gradient({density.size()});
  const double value = without_gil([&](const auto& interrupted) {
    const Poll poll = poll_now_and_then(interrupted);
    for (std::int64_t i = 1; i < repeat; ++i) poll(), density(q.data(), gradient.data);
    return density(q.data(), gradient.data);
  });
  return nb::make_tuple(value, gradient.object);
}

// The columns of X: features x samples (dense, C order), or CSC as (data, indices, indptr).
Columns read_columns(const std::optional<Matrix>& x, const std::optional<Vector>& data,
                     const std::optional<Indices>& indices, const std::optional<Pointers>& indptr, std::size_t rows) {
  Columns columns;
  columns.rows = rows;
  columns.kernels = &choose_kernels("");
  if (x) {
    if (x->shape(1) != rows) throw std::invalid_argument("X must be features x samples");
    columns.count = x->shape(0);
    columns.dense = x->data();
    return columns;
  }
  if (!data || !indices || !indptr || indptr->shape(0) < 1) throw std::invalid_argument("X is missing");
  columns.count = indptr->shape(0) - 1;
  columns.data = data->data();
  columns.indices = indices->data();
  columns.indptr = indptr->data();
  const auto entries = static_cast<std::int64_t>(std::min(data->shape(0), indices->shape(0)));
  bool valid = columns.indptr[0] == 0 && columns.indptr[columns.count] <= entries;
  for (std::size_t j = 0; valid && j < columns.count; ++j) valid = columns.indptr[j] <= columns.indptr[j + 1];
  for (std::int64_t k = 0; valid && k < columns.indptr[columns.count]; ++k)
    valid = columns.indices[k] >= 0 && static_cast<std::size_t>(columns.indices[k]) < rows;
  if (!valid) throw std::invalid_argument("the sparse X is not a valid CSC matrix");
  return columns;
}

template <class T>
nb::object to_array(const std::vector<T>& values, const std::vector<std::size_t>& shape) {
  Array<T> array(shape);
  std::copy(values.begin(), values.end(), array.data);
  return array.object;
}

nb::dict lasso(const std::string& family, const Matrix& y, const Vector& weight, const std::optional<Vector>& offset,
               const std::optional<Matrix>& x, const std::optional<Vector>& data, const std::optional<Indices>& indices,
               const std::optional<Pointers>& indptr, const std::optional<Vector>& penalty_factors,
               const std::vector<double>& lambdas, std::int64_t n_lambdas, double ratio, double tolerance) {
  if (weight.shape(0) != y.shape(1)) throw std::invalid_argument("y must be outputs x samples, as many as weights");
  if (offset && offset->shape(0) != y.shape(1)) throw std::invalid_argument("offset must have one number per sample");
  if (n_lambdas < 1 || n_lambdas > 100000) throw std::invalid_argument("n_lambdas must lie between 1 and 100000");
  if (!(ratio > 0 && ratio <= 1)) throw std::invalid_argument("ratio must lie between 0 and 1");
  LassoProblem problem;
  problem.family = &find_family(family);
  problem.outputs = y.shape(0);
  if (problem.outputs < 1 || (!problem.family->per_class && problem.outputs != 1))
    throw std::invalid_argument("y has a wrong number of outputs");
  if (!(tolerance > 0) || !std::isfinite(tolerance)) throw std::invalid_argument("tolerance must be positive");
  for (double lambda : lambdas)
    if (!(lambda >= 0) || !std::isfinite(lambda))
      throw std::invalid_argument("lambdas must be finite and not negative");
  problem.x = read_columns(x, data, indices, indptr, weight.shape(0));
  if (problem.x.rows < 1 || problem.x.count < 1)
    throw std::invalid_argument("X must have at least one sample and one feature");
  problem.y = y.data();
  problem.weight = weight.data();
  problem.offset = offset ? offset->data() : nullptr;
  problem.penalty_factors =
      read_optional(penalty_factors, problem.x.count, "penalty_factors must have one number per feature");
  for (std::size_t j = 0; problem.penalty_factors && j < problem.x.count; ++j)
    if (const double factor = problem.penalty_factors[j]; factor != 0 && !(factor >= 1e-100 && factor <= 1e100))
      throw std::invalid_argument("penalty_factors must be 0 or lie between 1e-100 and 1e100");
  const LassoSettings settings{lambdas, static_cast<std::size_t>(n_lambdas), ratio, tolerance};
  const LassoPath path = without_gil([&](const auto& interrupted) {
    LassoPath found = lasso_path(problem, settings, interrupted);
    if (found.interrupted) throw Interrupted();
    return found;
  });
  const std::size_t L = path.lambdas.size(), C = problem.outputs;
  nb::dict out;
  out["lambdas"] = to_array(path.lambdas, {L});
  out["explained"] = to_array(path.explained, {L});
  out["intercepts"] = to_array(path.intercepts, {L, C});
  out["predictors"] = to_array(path.predictors, {L, C, problem.x.rows});
  out["begin"] = to_array(path.begin, {L + 1});
  out["index"] = to_array(path.index, {path.index.size()});
  out["values"] = to_array(path.values, {path.values.size()});
  return out;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const Kernels* kernels : available_kernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace
}  // namespace ispca

NB_MODULE(_engine, m) {
  m.doc() = "Engine of ispca: Bayesian regression by NUTS and by a blocked sampler, and lasso paths.";
  m.def(
      "sample", &ispca::sample, "model"_a, "X"_a, "y"_a, nb::kw_only(), "n_classes"_a = 2, "weights"_a = nb::none(),
      "offset"_a = nb::none(), "unpenalized"_a = nb::none(), "prior"_a = "horseshoe", "tau0"_a, "slab_df"_a = 4.0,
      "slab_scale"_a = 5.0, "intercept_scale"_a = 10.0, "sigma_scale"_a = 0.0, "sampler"_a = "nuts", "n_chains"_a = 4,
      "n_warmup"_a = 1000, "n_draws"_a = 1000, "target_accept"_a = 0.9, "max_treedepth"_a = 10, "seed"_a = 0,
      "n_threads"_a = 1, "state"_a = nb::none(), "kernel"_a = "", "precision"_a = "single",
      "Draw from the posterior. Returns a dict of arrays, chains and draws first, and the state to go on from.\n"
      "y has class numbers (logistic, softmax, ordinal), numbers (gaussian), counts (poisson, negative_binomial), or\n"
      "times of events and minus times of censoring (cox: only their order counts). The intercepts of cox\n"
      "and ordinal are 0. Draws of more parameters are called sigma (gaussian), dispersion (negative_binomial: the\n"
      "variance is mu + mu^2 / dispersion) and thresholds (ordinal: P(y <= k) = expit(thresholds[k] - X coef)).\n"
      "weights (one per sample) multiply the log likelihoods of the samples, and offset (one per sample) is added to\n"
      "their linear predictors. unpenalized (one number per column of X) is 0 for a column under the prior;\n"
      "otherwise it is the standard deviation of the normal prior of its coefficients, whose log_lambda is 0.");
  m.def("log_density", &ispca::log_density, "model"_a, "X"_a, "y"_a, "q"_a, nb::kw_only(), "n_classes"_a = 2,
        "weights"_a = nb::none(), "offset"_a = nb::none(), "unpenalized"_a = nb::none(), "prior"_a = "horseshoe",
        "tau0"_a, "slab_df"_a = 4.0, "slab_scale"_a = 5.0, "intercept_scale"_a = 10.0, "sigma_scale"_a = 0.0,
        "kernel"_a = "", "precision"_a = "double", "repeat"_a = 1,
        "Log posterior density (up to a constant) and its gradient at q = (b0 (H), z (H K), log lambda (H K),\n"
        "log(tau / tau0), log(c2 / s^2)[, extra][, u]), coefficients class by class. The ridge prior has no\n"
        "log lambda and no log(c2 / s^2). Unpenalized coefficients have neither z nor log lambda, but a standardized\n"
        "value u at the end.");
  m.def("lasso_path", &ispca::lasso, "family"_a, "y"_a, "weight"_a, nb::kw_only(), "offset"_a = nb::none(),
        "X"_a = nb::none(), "data"_a = nb::none(), "indices"_a = nb::none(), "indptr"_a = nb::none(),
        "penalty_factors"_a = nb::none(), "lambdas"_a = std::vector<double>(), "n_lambdas"_a = 100, "ratio"_a = 1e-2,
        "tolerance"_a = 1e-12,
        "Lasso solutions over decreasing penalties, standardized inside, in the units of X. X is features x samples,\n"
        "or CSC; y outputs x samples; weights sum to one, and samples of weight 0 are only predicted. offset is\n"
        "added to the predictors. y may be fractional: probabilities (that sum to one over the outputs), or means.\n"
        "penalty_factors multiply the penalties of the features; they are not rescaled, and 0 means unpenalized. The\n"
        "first penalty is then the smallest at which all penalized features are zero.");
  ispca::bind_class_products(m);
  m.def(
      "simd", [] { return std::string(ispca::choose_kernels("").name); },
      "Name of the kernels in use; the environment variable ISPCA_SIMD forces one.");
  m.def("simd_available", &ispca::kernel_names, "Names of the kernels this processor can run, slowest first.");
}
