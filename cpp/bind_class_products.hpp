// The function class_products of the Python module.
#pragma once
#include <nanobind/nanobind.h>

namespace ispca {

void bind_class_products(nanobind::module_& m);

}  // namespace ispca
