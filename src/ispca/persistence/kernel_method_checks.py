"""What the predictions of a kernel method use, and the checks of its training samples and members."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels import KernelClassifier, KernelRegressor
from ..kernels.base import KernelMethod
from .archive import ContentError
from .shapes import Sizes, check_shapes

# Axes without an attribute are encoded features, training samples, unpenalized columns, and values: one per class,
# or one per column of the scores.
KERNEL_SHAPES: dict[type, dict[str, str]] = {
    KernelMethod: {
        "member_weights_": "distribution *",
        "dual_coef_": "finite member_weights_ samples values",
        "unpenalized_coef_": "finite member_weights_ unpenalized values",
        "mean_ weight_": "finite encoded",
        "lengths_": "finite samples",
        "width_": "positive",
        "adjusted_": "flags encoded",
        "fill_values_": "finite? encoded",
    },
    KernelClassifier: {
        "slopes_": "positive member_weights_",
        "intercepts_": "finite member_weights_ classes_",
    },
    KernelRegressor: {"deviations_": "positive member_weights_"},
}


def check_kernels(method: Any, sizes: Sizes) -> None:
    """Refuse training samples that are not finite numbers, and members with unknown kernels; note the sizes."""
    training, kernels, dual = (vars(method).get(name) for name in ("training_", "member_kernels_", "dual_coef_"))
    values = training.data if isinstance(training, sp.csr_array) else training
    sound = isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and bool(np.isfinite(values).all())
    if not sound or training.ndim != 2 or training.shape[1] != sizes["encoded"]:
        raise ContentError(f"its training_ is not a matrix of finite numbers with {sizes['encoded']} columns")
    if not isinstance(dual, np.ndarray) or dual.ndim != 3:
        raise ContentError("its dual_coef_ is not an array with three axes")
    check_shapes(method, {"member_weights_": "distribution *", "adjusted_": "flags encoded"}, sizes)
    numbers = isinstance(kernels, np.ndarray) and kernels.dtype.kind in "iu"
    if (
        not numbers
        or kernels.shape != dual.shape[:1]
        or not set(kernels.tolist()) <= set(range(len(method.kernels)))
    ):
        raise ContentError("its member_kernels_ are not the numbers of its kernels")
    sizes["samples"], sizes["unpenalized"] = training.shape[0], 1 + int(np.count_nonzero(method.adjusted_))
    sizes["values"] = sizes["classes_"] or (1 if isinstance(method, KernelRegressor) else dual.shape[2])
