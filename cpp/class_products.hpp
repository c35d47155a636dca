// Products of sparse columns with the indicators of permuted classes: every entry belongs to one class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dispatch.hpp"
#include "interrupt.hpp"

namespace ispca {

// Columns of X one after the other, each with the samples of its entries.
template <class Value>
struct SparseColumns {
  std::size_t count, samples;
  const Value* values;
  const std::int32_t* rows;
  const std::int64_t* begin;  // count + 1
  const double* scale;        // what the products of each column are multiplied by
};

// The classes of all samples in `permutations` orders: strips of kClassStrip permutations x samples x strip.
struct PermutedClasses {
  std::size_t classes, outputs, permutations;
  const std::uint8_t* codes;
  const double* table;  // classes x outputs: what a class counts in each output
};

// out (columns x outputs x permutations) = scale * sum_i x_i table[code_i]
template <class Value, class Real>
void class_products(const SparseColumns<Value>& x, const PermutedClasses& classes, Real* out, const Poll& poll);

}  // namespace ispca
