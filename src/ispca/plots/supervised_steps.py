"""Plots of the supervised steps: the permutation test of each, and the search for its number of features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..fitted_parts import take_apart
from ..foundation.arrays import Floats
from ..foundation.messages import p_value_text
from ..foundation.result_tables import ResultTable
from ..inputs.checks import columns_of, target_array
from ..reduction.deflation import Deflation, correlation_scores, deflate, project_off, start_basis, start_deflation
from ..reduction.design import Design, make_design
from ..reduction.max_score_test import TIE
from ..reduction.null_distribution import null_maxima, tested_scores
from ..reduction.permutation import Permutations
from ..reduction.reduction_result import Step
from ..reduction.response import Response, adjusted_response, exchangeable_samples, make_response
from ..reduction.threads import Workers, workers
from ..reduction.threshold import SearchSettings, threshold_path
from ..transformers.ispca_transformer import ISPCA
from .canvas import ACCENT, FAINT, INK, PALE, SECOND, class_legend, new_axes, shorten, text_styles
from .plot_arguments import check_positive, check_target, fitted_reduction, stack_tables

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
def replay(model: Any, X: Any, y: Any) -> Iterator[Trace]:
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
        design = make_design(X, threads, center=reduction.center, scale=reduction.scale_, rows=response.rows)
        far = np.abs(design.moments.mean - reduction.mean_) > ROUNDING * (
            np.abs(reduction.mean_) + reduction.scale_
        )
        if far.any():
            raise ValueError(OTHER_DATA)
        start = start_basis(design, reduction.adjusted_, reduction.center).basis
        response = adjusted_response(response, start)
        design = design.restricted(reduction.feature_mask_)
        number = reduction.n_permutations
        if isinstance(number, str):
            # Those of the longest sequential test.
            number = max(FEWEST_PERMUTATIONS, *(step.n_permutations for step in reduction.steps_))
        exchange = exchangeable_samples(response, None)
        permutations = Permutations(seed, n_samples, int(number), int(reduction.memory_budget), exchange=exchange)
        yield Trace(reduction, design, response, threads, permutations, start)


# Color, marker and label of an observed score, by whether it was accepted.
OUTCOMES = {
    True: (ACCENT, "D", "observed: component added"),
    False: (SECOND, "X", "observed: no component added"),
}


def permutation_table(model: Any, X: Any, y: Any, *, max_steps: int = 12) -> ResultTable:
    """Recompute the null distribution of the test of each step from the data of the fit.

    The fit stops a test as soon as its outcome is certain, and does not store the distribution.

    Parameters
    ----------
    model : ISPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X, y : array-like
        The data of the fit.
    max_steps : int, default=12
        Maximum number of steps to show.

    Returns
    -------
    table : recarray
        One row per step and permutation: ``step`` and ``permutation`` (from 1), ``maximum`` (largest score of any
        feature with the permuted target), ``observed`` (with the observed target), ``p_value`` (fraction of all
        permutations that reach it), ``p_value_fit`` and ``n_permutations_fit`` (recorded by the fit; NaN and 0 if
        it did not test), ``borderline`` (whether its p-value is close to alpha) and ``accepted``. With an integer
        ``random_state``, the permutations are those of the fit.

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_permutations=200, random_state=0).fit(data.data, data.target)
    >>> table = plots.permutation_table(ispca, data.data, data.target)
    >>> bool(table.p_value[0] == ispca.steps_[0].p_value)
    True
    """
    check_positive(max_steps, "max_steps")
    parts: list[dict[str, Any]] = []
    with replay(model, X, y) as trace:
        for number, (step, state) in enumerate(islice(trace.states(), max_steps), 1):
            scores, permuted, state = tested_scores(
                trace.design, state, trace.response.columns, trace.test, trace.response.exchange
            )
            observed = float(scores.max(initial=0.0))
            how = (trace.permutations, trace.test, trace.start, trace.response.exchange)
            maxima = null_maxima(trace.design, trace.workers, state, permuted, *how)
            parts.append(
                {
                    "step": number,
                    "permutation": np.arange(1, len(maxima) + 1),
                    "maximum": maxima,
                    "observed": observed,
                    "p_value": np.mean(maxima >= observed - TIE),
                    "p_value_fit": np.nan if step.p_value is None else step.p_value,
                    "n_permutations_fit": step.n_permutations,
                    "borderline": step.borderline,
                    "accepted": step.accepted,
                }
            )
    return stack_tables(parts)


def plot_permutations(model: Any, X: Any, y: Any, *, max_steps: int = 12, ax: Any = None) -> Any:
    """Plot the null distribution of the largest score, the observed score and the p-value of each step.

    Parameters
    ----------
    model, X, y, max_steps
        As in `permutation_table`.
    $ax

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(n_permutations=200, random_state=0).fit(data.data, data.target)
    >>> ax = plots.plot_permutations(ispca, data.data, data.target)
    >>> [text.get_text() for text in ax.texts]
    ['p < 0.005', 'p = 1']
    """
    table = permutation_table(model, X, y, max_steps=max_steps)
    steps = np.unique(table["step"])
    ax = new_axes(ax, 6.4, 1.1 + 0.62 * len(steps))
    for position, number in enumerate(steps):
        rows = table[table["step"] == number]
        _draw_null(ax, position, rows["maximum"])
        _draw_observed(ax, position, rows)
    ax.set_yticks(np.arange(len(steps)), [f"step {number}" for number in steps])
    ax.set_ylim(len(steps) - 0.8, -1.0)
    ax.yaxis.set_tick_params(length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(f"largest score of any feature: observed, and {table['permutation'].max():,} permutations")
    _legend(ax, table["accepted"])
    return ax


def _draw_null(ax: Any, position: int, maxima: Floats) -> None:
    """Draw a histogram above the line of its step."""
    counts, borders = np.histogram(maxima, bins=int(np.clip(np.sqrt(len(maxima)), 5, 40)))
    heights = 0.8 * counts / max(counts.max(), 1)
    ax.stairs(position - heights, borders, baseline=position, fill=True, facecolor=PALE, edgecolor=FAINT, zorder=1)
    ax.axhline(position, color=FAINT, linewidth=0.6, zorder=0)


def _draw_observed(ax: Any, position: int, rows: ResultTable) -> None:
    accepted, observed = bool(rows["accepted"][0]), rows["observed"][0]
    color, marker, _ = OUTCOMES[accepted]
    ax.plot([observed] * 2, [position, position - 0.8], color=color, linewidth=1.6, zorder=3)
    ax.plot(observed, position, marker, color=color, markersize=7, zorder=4, clip_on=False)
    text = p_value_text(rows["p_value"][0], len(rows), bool(rows["borderline"][0]))
    look = {"va": "bottom", "fontsize": 9, "color": INK, "fontweight": "bold" if accepted else "normal"}
    ax.annotate(text, (1.01, position), xycoords=("axes fraction", "data"), **look)


def _legend(ax: Any, accepted: Any) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker=marker, label=label, linewidth=1.6)
        for outcome, (color, marker, label) in OUTCOMES.items()
        if (accepted == outcome).any()
    ]
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False, fontsize=9)


def threshold_table(model: Any, X: Any, y: Any, step: int = 1) -> ResultTable:
    """Recompute the threshold path of a step from the data of the fit: the score of each subset of features.

    Parameters
    ----------
    model : ISPCA or Pipeline
        Fitted reduction, or a fitted pipeline with one.
    X, y : array-like
        The data of the fit.
    step : int, default=1
        The step, numbered from 1; it must have added a component.

    Returns
    -------
    table : recarray
        One row per subset (and class, if there are more than two): ``target_class``, ``n_features``,
        ``threshold`` (lowest score of a feature in the subset), ``score`` (of the first component of the subset)
        and ``chosen``.

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(random_state=0).fit(data.data, data.target)
    >>> table = plots.threshold_table(ispca, data.data, data.target)
    >>> table.n_features[table.chosen].tolist() == [ispca.steps_[0].n_features]
    True
    """
    parts = []
    with replay(model, X, y) as trace:
        reduction = trace.reduction
        taken = [number for number, record in enumerate(reduction.steps_, 1) if record.accepted]
        if step not in taken:
            choice = f"choose from 1 to {len(taken)}" if taken else "no step did"
            raise ValueError(f"step={step!r} did not add a component: {choice}.")
        record, state = next(islice(trace.states(), step - 1, None))
        scores = correlation_scores(state)
        settings = SearchSettings(reduction.max_features, reduction.n_thresholds)
        for column, label in enumerate(trace.response.column_classes):
            sizes, thresholds, reached = threshold_path(
                trace.design, trace.workers, state, scores, column, settings
            )
            parts.append(
                {
                    "target_class": "" if label is None else str(label),
                    "n_features": sizes,
                    "threshold": thresholds,
                    "score": reached,
                    "chosen": (sizes == record.n_features) & (label == record.target_class),
                }
            )
    return stack_tables(parts)


def plot_threshold(model: Any, X: Any, y: Any, step: int = 1, *, ax: Any = None) -> Any:
    """Plot the score of a component by its number of features, with the selected number marked.

    Parameters
    ----------
    model, X, y, step
        As in `threshold_table`.
    $ax

    Examples
    --------
    >>> from ispca import ISPCA, datasets, plots
    >>> data = datasets.make_expression(n_samples=60, n_features=300, random_state=0)
    >>> ispca = ISPCA(random_state=0).fit(data.data, data.target)
    >>> ax = plots.plot_threshold(ispca, data.data, data.target)
    >>> ax.get_xlabel()
    'features in the component (log scale)'
    """
    table = threshold_table(model, X, y, step)
    styles = text_styles(getattr(fitted_reduction(model), "classes_", [""]))
    several = len(np.unique(table["target_class"])) > 1
    ax = new_axes(ax, 6.4 if several else 5.4, 3.8)
    for label, style in styles.items():
        rows = table[table["target_class"] == label]
        if len(rows):
            look = {"color": style.color, "linestyle": style.line, "marker": style.marker} if several else {}
            ax.plot(rows["n_features"], rows["score"], **({"color": INK, "marker": "o"} | look), markersize=4)
    [best] = table[table["chosen"]]
    ring = {"markersize": 14, "markerfacecolor": "none", "markeredgewidth": 2}
    ax.plot(best["n_features"], best["score"], "o", color=SECOND, **ring)
    ax.axvline(best["n_features"], color=SECOND, linestyle=":", linewidth=1, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set(xlabel="features in the component (log scale)", ylabel=f"score of the component, step {step}")
    of_class = f" ({shorten(best['target_class'], 20)} vs. rest)" if several else ""
    title = f"selected: {best['n_features']} features, score {best['score']:.3f}{of_class}"
    ax.set_title(title, fontsize=10, loc="left")
    if several:
        class_legend(ax, styles, lines=True)
    return ax
