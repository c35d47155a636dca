#include "class_products.hpp"

#include <algorithm>

namespace ispca {
namespace {

template <class Value>
constexpr auto kernel_for(const Kernels& kernels) {
  if constexpr (sizeof(Value) == sizeof(float)) return kernels.classes.of_single;
  else return kernels.classes.of_full;
}

// The table without class 0, from which the others are counted: the sum of its entries is what the others leave.
std::vector<double> contrasts(const PermutedClasses& classes) {
  std::vector<double> table(classes.table, classes.table + classes.classes * classes.outputs);
  for (std::size_t c = 1; c < classes.classes; ++c)
    for (std::size_t k = 0; k < classes.outputs; ++k) table[c * classes.outputs + k] -= table[k];
  return table;
}

}  // namespace

template <class Value, class Real>
void class_products(const SparseColumns<Value>& x, const PermutedClasses& classes, Real* out, const Poll& poll) {
  const auto sum_by_class = kernel_for<Value>(choose_kernels(""));
  const std::vector<double> table = contrasts(classes);
  // Room for any code, so that none can point outside.
  std::vector<double> sums(kMostClasses * kClassStrip), products(kClassStrip);
  const std::size_t width = classes.outputs * classes.permutations;
  for (std::size_t first = 0; first < classes.permutations; first += kClassStrip) {
    poll();
    const std::size_t used = std::min(kClassStrip, classes.permutations - first);
    const std::uint8_t* codes = classes.codes + first * x.samples;
    for (std::size_t j = 0; j < x.count; ++j) {
      const Value* values = x.values + x.begin[j];
      const auto count = static_cast<std::size_t>(x.begin[j + 1] - x.begin[j]);
      sum_by_class(count, values, x.rows + x.begin[j], codes, classes.classes, sizeof(Real) == sizeof(float),
                   sums.data());
      double total = 0;
      for (std::size_t k = 0; k < count; ++k) total += static_cast<double>(values[k]);
      for (std::size_t k = 0; k < classes.outputs; ++k) {
        std::fill(products.begin(), products.end(), total * table[k]);
        for (std::size_t c = 1; c < classes.classes; ++c) {
          const double weight = table[c * classes.outputs + k];
          const double* own = sums.data() + c * kClassStrip;
          for (std::size_t l = 0; l < kClassStrip; ++l) products[l] += weight * own[l];
        }
        Real* to = out + j * width + k * classes.permutations + first;
        for (std::size_t l = 0; l < used; ++l) to[l] = static_cast<Real>(x.scale[j] * products[l]);
      }
    }
  }
}

template void class_products(const SparseColumns<float>&, const PermutedClasses&, float*, const Poll&);
template void class_products(const SparseColumns<float>&, const PermutedClasses&, double*, const Poll&);
template void class_products(const SparseColumns<double>&, const PermutedClasses&, float*, const Poll&);
template void class_products(const SparseColumns<double>&, const PermutedClasses&, double*, const Poll&);

}  // namespace ispca
