"""The supervised loop and what follows it: the paper's algorithm, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..containers.array_api import matching, stack_rows
from ..foundation.arrays import Floats, Indices
from .components import principal_components
from .deflation import Deflation, carried_roundings, correlation_scores, deflate, start_deflation
from .design import Design
from .max_score_test import MaxScoreTest, ResidualTest
from .reduction_result import Reduction, Step, TestResult, projection_matrix
from .response import Response
from .threads import Workers
from .threshold import Candidate, SearchSettings, search

Test = MaxScoreTest | ResidualTest
Listener = Callable[[Step], None]


def supervised_step(
    design: Design,
    workers: Workers,
    state: Deflation,
    response: Response,
    test: Test | None,
    settings: SearchSettings,
) -> tuple[Deflation, Step, Candidate | None]:
    """Extract one component if the test passes: steps 1 to 4 of the paper."""
    scores = correlation_scores(state)
    result = test(state, workers) if test is not None else None
    largest = result.score if result else float(scores.max(initial=0.0))
    if largest == 0.0 or (result is not None and not result.passed):
        return state, Step(False, largest, **_test_facts(result)), None
    best = search(design, workers, state, scores, settings)
    state = deflate(design, workers, state, best.component, (best.features, best.direction), response.columns)
    if test is not None:
        test.note_component(state, workers)
    step = Step(
        True,
        largest,
        **_test_facts(result),
        threshold=best.threshold,
        n_features=len(best.features),
        features=best.features,
        target_class=response.column_classes[best.column],
        component_score=best.score,
    )
    return state, step, best


def _test_facts(result: TestResult | None) -> dict[str, Any]:
    if result is None:
        return {}
    names = ["p_value", "p_value_interval", "n_permutations", "stopped_early", "limit_reached", "borderline"]
    return {name: getattr(result, name) for name in names}


@dataclass
class SupervisedSteps:
    """The supervised steps taken so far: a fit that wants more components continues those of another fit."""

    design: Design
    response: Response
    test: Test | None
    settings: SearchSettings
    state: Deflation
    steps: list[Step] = field(default_factory=list)
    extracted: list[Candidate] = field(default_factory=list)

    def up_to(self, max_supervised: int, workers: Workers) -> Iterator[Step]:
        """Yield the steps until a test fails or there are enough components."""
        yield from self.steps
        while len(self.extracted) < max_supervised and (not self.steps or self.steps[-1].accepted):
            self.state, step, best = supervised_step(
                self.design, workers, self.state, self.response, self.test, self.settings
            )
            self.steps.append(step)
            if best is None:
                self.test = None  # it may hold many permutations
            else:
                self.extracted.append(best)
            yield step


def start_steps(
    design: Design,
    workers: Workers,
    response: Response,
    test: Test | None,
    settings: SearchSettings,
    basis: Floats,
) -> SupervisedSteps:
    """Return the state before the first step; ``basis`` is the orthonormal start basis Q0, projected off first."""
    state = start_deflation(design, workers, response.columns, basis)
    return SupervisedSteps(design, response, test, settings, state)


def iterate(
    supervised: SupervisedSteps,
    workers: Workers,
    *,
    max_supervised: int,
    n_components: int | None,
    listen: Listener,
) -> Reduction:
    """Extract supervised components while the test passes, then add unsupervised ones."""
    for step in supervised.up_to(max_supervised, workers):
        listen(step)
    design, state, extracted = supervised.design, supervised.state, supervised.extracted
    steps = supervised.steps
    directions = np.zeros((len(extracted), design.shape[1]))
    for row, best in zip(directions, extracted, strict=True):
        row[best.features] = best.direction
    components = np.array([best.component for best in extracted]).reshape(-1, design.shape[0]).T
    supervised_loadings = state.loadings[:, state.loadings.shape[1] - len(extracted) :]
    loadings = (supervised_loadings / np.linalg.norm(components, axis=0)).T
    return complete(
        design, workers, state.basis, state.roundings, directions, components, loadings, n_components, tuple(steps)
    )


def take_components(
    design: Design,
    workers: Workers,
    features: Indices,
    *,
    n_supervised: int,
    n_components: int | None,
    basis: Floats,
) -> Reduction:
    """Take the principal components of the screened features, then add unsupervised ones (SPCA and PSPCA)."""
    directions, components = principal_components(design, workers, basis, design.roundings, n_supervised, features)
    lengths = np.linalg.norm(components, axis=0)
    loadings = (design.t_dot(components, workers) / lengths**2).T
    basis = np.column_stack([basis, components / lengths])
    roundings = carried_roundings(design.roundings, directions**2 @ design.roundings, loadings)
    return complete(design, workers, basis, roundings, directions, components, loadings, n_components, ())


def complete(
    design: Design,
    workers: Workers,
    basis: Floats,
    roundings: Floats,
    directions: Floats,
    components: Floats,
    loadings: Floats,
    n_components: int | None,
    steps: Sequence[Step],
) -> Reduction:
    """Add unsupervised components of what is left, up to ``n_components`` in total."""
    n_supervised = len(directions)
    # Without signal, one unsupervised component keeps pipelines working.
    wanted = max(1, n_supervised) if n_components is None else min(n_components, design.shape[1])
    if wanted > n_supervised:
        more, scores = principal_components(design, workers, basis, roundings, wanted - n_supervised)
        # Where the unsupervised directions are, which is where X is.
        directions = stack_rows([matching(more, directions), more])
        loadings = matching(more, loadings)
        components = np.column_stack([components, scores])
    projection = projection_matrix(directions, loadings)
    return Reduction(projection, directions, loadings, components, n_supervised, tuple(steps))
