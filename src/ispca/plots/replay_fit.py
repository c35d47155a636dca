"""Replay the supervised steps of a fit: the deflated features before each step, from the fitted directions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .._array_types import Floats
from .._training_samples import columns_of, target_array
from ..fitted_parts import take_apart
from ..ispca_transformer import ISPCA
from ..reduction.deflation import Deflation, deflate, project_off, start_deflation
from ..reduction.design import Design, make_design
from ..reduction.null_distribution import tested_scores
from ..reduction.permutation import Permutations
from ..reduction.records import Step
from ..reduction.response import Response, adjusted_response, make_response
from ..reduction.start_basis import start_basis
from ..reduction.threads import Workers, workers
from .input_checks import check_target, fitted_reduction

# Tolerance for rounding, which depends on the container of X.
ROUNDING = 1e-6
# A clear outcome needs too few permutations for a picture of the null distribution.
FEWEST_PERMUTATIONS = 1000
OTHER_DATA = "X and y differ from the data the reduction was fitted to: pass the same samples in the same order."


class Trace(NamedTuple):
    """A fit whose steps can be replayed; the permutations are those of the fit if its seed was an integer."""

    reduction: ISPCA
    design: Design
    response: Response
    workers: Workers
    permutations: Permutations
    start: Floats  # the start basis

    @property
    def test(self) -> str:
        """The test of the fit, or the paper's if the fit did not test."""
        return "paper" if self.reduction.alpha is None else str(self.reduction.test)

    def states(self) -> Iterator[tuple[Step, Deflation]]:
        """Yield every step with the deflation before it."""
        reduction, design, columns = self.reduction, self.design, self.response.columns
        state = start_deflation(design, self.workers, columns, self.start)
        for number, step in enumerate(reduction.steps_):
            scores = tested_scores(design, state, columns, self.test, self.response.exchange)[0]
            if abs(scores.max(initial=0.0) - step.score) > ROUNDING:
                raise ValueError(OTHER_DATA)
            yield step, state
            if step.accepted and number + 1 < len(reduction.steps_):
                direction = reduction.directions_[number, step.features]
                component = project_off(state.basis, design.dot(direction[:, None], step.features)[:, 0])
                state = deflate(design, self.workers, state, component, (step.features, direction), columns)


@contextmanager
def replayed(model: Any, X: Any, y: Any) -> Iterator[Trace]:
    """Open the data of a fit again, or raise an error if that is not possible."""
    reduction = fitted_reduction(model)
    if not isinstance(reduction, ISPCA):
        raise ValueError("This plot needs ISPCA: SPCA has no supervised steps.")
    if not reduction.steps_:
        raise ValueError("The reduction has no supervised steps (n_supervised=0), so there is nothing to plot.")
    X = take_apart(model).encoded_input(X)
    n_samples = X.shape[0]
    response = make_response(
        check_target(target_array(y, reduction.family), n_samples),
        reduction.family,
        hasattr(reduction, "classes_"),
        covariates=columns_of(X, reduction.adjusted_),
    )
    # Other kinds of seed cannot be replayed.
    seed = int(reduction.random_state) if isinstance(reduction.random_state, int | np.integer) else 0
    with workers() as threads:
        design = make_design(X, threads, center=reduction.center, scale=reduction.scale, rows=response.rows)
        far = np.abs(design.moments.mean - reduction.mean_) > ROUNDING * (
            np.abs(reduction.mean_) + reduction.scale_
        )
        if far.any():
            raise ValueError(OTHER_DATA)
        start = start_basis(design, reduction.adjusted_, reduction.center).basis
        response = adjusted_response(response, start)
        design = design.restricted(reduction.feature_mask_)
        permutations = Permutations(
            seed, n_samples, _replayed_permutations(reduction), int(reduction.memory_budget)
        )
        yield Trace(reduction, design, response, threads, permutations, start)


def _replayed_permutations(reduction: ISPCA) -> int:
    """Return how many permutations to repeat: all of a fixed number, or those of the longest sequential test."""
    if not isinstance(reduction.n_permutations, str):
        return int(reduction.n_permutations)
    return max(FEWEST_PERMUTATIONS, *(step.n_permutations for step in reduction.steps_))
