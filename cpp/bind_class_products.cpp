// Checks the arrays of class_products: types, shapes, and that no sample lies outside.
#include "bind_class_products.hpp"

#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>

#include "class_products.hpp"
#include "released_gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace ispca {
namespace {

template <class T, std::size_t Axes>
struct Read;
template <class T>
struct Read<T, 1> {
  using type = nb::ndarray<const T, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
};
template <class T>
struct Read<T, 2> {
  using type = nb::ndarray<const T, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
};
template <class T>
struct Read<T, 3> {
  using type = nb::ndarray<const T, nb::shape<-1, -1, -1>, nb::c_contig, nb::device::cpu>;
};

template <class Value, class Real>
void products(const typename Read<Value, 1>::type& data, const Read<std::int32_t, 1>::type& indices,
              const Read<std::int64_t, 1>::type& indptr, const Read<double, 1>::type& scale,
              const Read<std::uint8_t, 3>::type& codes, const Read<double, 2>::type& table, std::size_t permutations,
              const nb::ndarray<Real, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>& out) {
  const SparseColumns<Value> x{scale.shape(0), codes.shape(1), data.data(),
                               indices.data(), indptr.data(),  scale.data()};
  const PermutedClasses classes{table.shape(0), table.shape(1), permutations, codes.data(), table.data()};
  if (classes.classes < 2 || classes.classes > kMostClasses) throw std::invalid_argument("2 to 256 classes");
  if (codes.shape(2) != kClassStrip || permutations > codes.shape(0) * kClassStrip)
    throw std::invalid_argument("codes must be strips x samples x 64, with room for all permutations");
  if (out.shape(0) != x.count || out.shape(1) != classes.outputs * permutations)
    throw std::invalid_argument("out must be features x (outputs * permutations)");
  const auto entries = static_cast<std::int64_t>(std::min(data.shape(0), indices.shape(0)));
  bool valid = indptr.shape(0) == x.count + 1 && x.begin[0] == 0 && x.begin[x.count] <= entries;
  for (std::size_t j = 0; valid && j < x.count; ++j) valid = x.begin[j] <= x.begin[j + 1];
  for (std::int64_t k = 0; valid && k < x.begin[x.count]; ++k)
    valid = x.rows[k] >= 0 && static_cast<std::size_t>(x.rows[k]) < x.samples;
  if (!valid) throw std::invalid_argument("the sparse columns are not valid");
  without_gil([&](const auto& interrupted) {
    class_products(x, classes, out.data(), poll_now_and_then(interrupted));
    return 0;
  });
}

constexpr const char* kDoc =
    "Fill out (features x outputs * permutations) with scale * sum_i x_i table[code_i], for the features of a sparse\n"
    "X in rows (data, indices, indptr) and the permuted classes of the samples (codes: strips of 64 permutations x\n"
    "samples x 64). Class 0 should be the most frequent one. Single-precision sums are of 256 entries at most.";

template <class Value, class Real>
void define(nb::module_& m) {
  m.def("class_products", &products<Value, Real>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
        "scale"_a.noconvert(), "codes"_a.noconvert(), "table"_a.noconvert(), "n_permutations"_a, "out"_a.noconvert(),
        kDoc);
}

}  // namespace

void bind_class_products(nb::module_& m) {
  define<float, float>(m);
  define<float, double>(m);
  define<double, float>(m);
  define<double, double>(m);
}

}  // namespace ispca
