"""Samples in groups by their predictions: Kaplan-Meier curves, and calibration of survival and of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from ..families.survival_curves import kaplan_meier, kaplan_meier_interval, numbers_at_risk
from ..families.survival_target import survival_target
from ..foundation.arrays import Floats, Indices
from ..foundation.result_tables import ResultTable
from .canvas import ACCENT, FAINT, INK, SECOND, Style, new_axes
from .plot_arguments import check_positive, make_table, stack_tables

GROUPS = {2: ("low", "high"), 3: ("low", "middle", "high")}
STYLES = {"low": Style(ACCENT, "o", "-"), "middle": Style("#E69F00", "s", "--"), "high": Style(SECOND, "^", "-.")}
# Thirds need this many events; with fewer, the samples are halved.
EVENTS_FOR_THIRDS = 30
# Half the width of a 95% confidence interval, in standard errors.
NORMAL_95 = float(norm.ppf(0.975))
# By default a group has at least this many samples.
SAMPLES_PER_GROUP = 20


def risk_groups(risk: Any, event: Any) -> np.ndarray:
    """Return "low", "middle" or "high" for each sample: thirds by risk, or halves if there are few events.

    >>> risk_groups([0.3, -1.2, 0.9, 0.1], [True, False, True, True]).tolist()
    ['high', 'low', 'high', 'low']
    """
    risk = np.asarray(risk, dtype=np.float64)
    names = GROUPS[3 if np.count_nonzero(event) >= EVENTS_FOR_THIRDS else 2]
    borders = np.quantile(risk, np.arange(1, len(names)) / len(names))
    # Equal risks share a group.
    return np.array(names)[np.searchsorted(borders, risk, side="left")]


def kaplan_meier_table(risk: Any, y: Any) -> ResultTable:
    """Return Kaplan-Meier curves of groups of predicted risk.

    Parameters
    ----------
    risk : array-like of shape (n_samples,)
        Risk scores of samples that were held out when the model was fitted, such as those of
        ``sklearn.model_selection.cross_val_predict``. The risks of training samples separate them too well.
    y : structured array, frame or tuple
        Event and time of the samples.

    Returns
    -------
    table : recarray
        One row per group and distinct time: ``group`` ("low", "middle" and "high", each a third of the samples, or
        halves if there are fewer than 30 events), ``time``, ``n_at_risk`` (just before the time), ``n_events`` and
        ``n_censored`` (at the time), ``survival``, ``low`` and ``high`` (95% confidence limits).

    Examples
    --------
    >>> from ispca.plots import kaplan_meier_table
    >>> table = kaplan_meier_table([2.0, 1.0, -1.0, -2.0], ([True] * 4, [1.0, 2.0, 3.0, 4.0]))
    >>> table.group.tolist(), table.survival.tolist()
    (['low', 'low', 'high', 'high'], [0.5, 0.0, 0.5, 0.0])
    """
    y = survival_target(y)
    risk = _check_numbers(risk, len(y), "risk")
    groups = risk_groups(risk, y["event"])
    return stack_tables([{"group": name} | _curve(y[groups == name]) for name in STYLES if (groups == name).any()])


def _curve(y: np.ndarray) -> dict[str, Any]:
    event, time = y["event"], y["time"]
    times = np.unique(time)
    low, high = kaplan_meier_interval(event, time)
    return {
        "time": times,
        "n_at_risk": numbers_at_risk(time, times).astype(int),
        "n_events": np.array([np.count_nonzero(event & (time == here)) for here in times]),
        "n_censored": np.array([np.count_nonzero(~event & (time == here)) for here in times]),
        "survival": kaplan_meier(event, time).y,
        "low": low.y,
        "high": high.y,
    }


def plot_kaplan_meier(risk: Any, y: Any, *, ax: Any = None) -> Any:
    """Plot Kaplan-Meier curves of groups of predicted risk, with the numbers at risk below.

    Ticks mark censored samples, and bands the 95% confidence limits.

    Parameters
    ----------
    risk, y
        As in `kaplan_meier_table`.
    $ax

    Examples
    --------
    >>> from ispca.plots import plot_kaplan_meier
    >>> ax = plot_kaplan_meier([2.0, 1.0, -1.0, -2.0], ([True] * 4, [1.0, 2.0, 3.0, 4.0]))
    >>> ax.get_ylabel()
    'fraction without the event'
    """
    table = kaplan_meier_table(risk, y)
    ax = new_axes(ax, 6.4, 4.6)
    names = list(dict.fromkeys(table["group"].tolist()))
    for name in names:
        rows, style = table[table["group"] == name], STYLES[name]
        time = np.concatenate([[0.0], rows["time"]])
        curves = [np.concatenate([[1.0], rows[field]]) for field in ("survival", "low", "high")]
        look = {"color": style.color, "linestyle": style.line, "linewidth": 1.8}
        ax.step(time, curves[0], where="post", label=f"{name} risk", **look)
        ax.fill_between(time, curves[1], curves[2], step="post", color=style.color, alpha=0.12, linewidth=0)
        censored = rows[rows["n_censored"] > 0]
        ax.plot(censored["time"], censored["survival"], "|", color=style.color, markersize=6)
    ax.set(xlim=(0, table["time"].max()), ylim=(0, 1.02), ylabel="fraction without the event")
    ax.legend(frameon=False, fontsize=9, loc="lower left", handlelength=3.0)
    _numbers_below(ax, table, names)
    return ax


def _numbers_below(ax: Any, table: ResultTable, names: list[str]) -> None:
    """Write the numbers at risk of each group under the ticks of the axis."""
    last = table["time"].max()
    ticks = [tick for tick in ax.get_xticks() if 0 <= tick <= last]
    look = {"fontsize": 8.5, "va": "center", "annotation_clip": False}
    place = ("data", "axes fraction")
    step = 0.065
    for row, name in enumerate(names):
        height = -0.24 - step * row
        color = STYLES[name].color
        ax.annotate(name, (-0.03, height), xycoords="axes fraction", ha="right", color=color, **look)
        of_group = table[table["group"] == name]
        for tick in ticks:
            later = of_group[of_group["time"] >= tick]
            number = int(later["n_at_risk"][0]) if len(later) else 0
            ax.annotate(str(number), (tick, height), xycoords=place, ha="center", color=color, **look)
    ax.annotate("number at risk", (0.0, -0.24 + step), xycoords="axes fraction", ha="left", color=INK, **look)
    ax.set_xlabel("time")


def survival_calibration_table(survival: Any, y: Any, time: float, *, n_groups: int | None = None) -> ResultTable:
    """Return predicted survival at a time beside the Kaplan-Meier estimate, in groups of similar predictions.

    Parameters
    ----------
    survival : array-like of shape (n_samples,)
        Predicted probability that a sample survives the time, from a model that was fitted to other samples.
    y : structured array, frame or tuple
        Event and time of the samples.
    time : float
        The time for which survival was predicted.
    n_groups : int, optional
        Number of groups of about equal size; by default one per 20 samples, between 2 and 5.

    Returns
    -------
    table : recarray
        One row per group: ``group`` (from 1), ``n_samples``, ``predicted`` (mean probability), ``observed``
        (Kaplan-Meier estimate), ``low`` and ``high`` (its 95% confidence limits).

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots import survival_calibration_table
    >>> rng = np.random.default_rng(0)
    >>> rate = rng.uniform(0.5, 2, 200); times = rng.exponential(1 / rate)
    >>> table = survival_calibration_table(np.exp(-rate), (np.ones(200, bool), times), 1.0, n_groups=2)
    >>> bool((abs(table.predicted - table.observed) < 0.1).all())
    True
    """
    y = survival_target(y)
    predicted = _check_numbers(survival, len(y), "survival")
    codes = _groups(predicted, n_groups, 5)
    rows = []
    for number in range(codes.max() + 1):
        here = y[codes == number]
        low, high = kaplan_meier_interval(here["event"], here["time"])
        curve = kaplan_meier(here["event"], here["time"])
        mean = predicted[codes == number].mean()
        rows.append((number + 1, len(here), mean, *(float(part(time)) for part in (curve, low, high))))
    names = ("group", "n_samples", "predicted", "observed", "low", "high")
    return make_table(dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True)))


def plot_survival_calibration(
    survival: Any, y: Any, time: float, *, n_groups: int | None = None, ax: Any = None
) -> Any:
    """Plot observed against predicted survival at a time, in groups; calibrated predictions lie on the diagonal.

    Parameters
    ----------
    survival, y, time, n_groups
        As in `survival_calibration_table`.
    $ax

    Examples
    --------
    >>> from ispca.plots import plot_survival_calibration
    >>> times = [1.0, 2.0, 3.0, 4.0]
    >>> ax = plot_survival_calibration([0.2, 0.3, 0.7, 0.8], ([True] * 4, times), 2.5, n_groups=2)
    >>> ax.get_xlabel()
    'predicted survival at time 2.5'
    """
    table = survival_calibration_table(survival, y, time, n_groups=n_groups)
    ax = new_axes(ax, 4.6, 4.4)
    _draw(ax, table, 0.0, 1.0)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_xlabel(f"predicted survival at time {time:.3g}")
    ax.set_ylabel("observed (Kaplan-Meier, 95% interval)")
    return ax


def count_calibration_table(expected: Any, y: Any, *, n_groups: int | None = None) -> ResultTable:
    """Return mean expected counts beside mean observed ones, in groups of similar expectations.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        Expected counts, from a model that was fitted to other samples.
    y : array-like of shape (n_samples,)
        Observed counts.
    n_groups : int, optional
        Number of groups of about equal size; by default one per 20 samples, between 2 and 10.

    Returns
    -------
    table : recarray
        One row per group: ``group`` (from 1), ``n_samples``, ``predicted`` and ``observed`` (means), ``low`` and
        ``high`` (95% interval of the observed mean, from its standard error).

    Examples
    --------
    >>> import numpy as np
    >>> from ispca.plots import count_calibration_table
    >>> mean = np.linspace(1, 9, 200); counts = np.random.default_rng(0).poisson(mean)
    >>> count_calibration_table(mean, counts, n_groups=2).predicted.round(1).tolist()
    [3.0, 7.0]
    """
    y = np.asarray(y, dtype=np.float64)
    predicted = _check_numbers(expected, len(y), "expected")
    codes = _groups(predicted, n_groups, 10)
    n = np.bincount(codes)
    observed = np.bincount(codes, weights=y) / n
    squares = np.bincount(codes, weights=(y - observed[codes]) ** 2)
    error = NORMAL_95 * np.sqrt(squares / np.maximum(n - 1, 1) / n)
    return make_table(
        {
            "group": np.arange(1, len(n) + 1),
            "n_samples": n,
            "predicted": np.bincount(codes, weights=predicted) / n,
            "observed": observed,
            "low": np.maximum(observed - error, 0.0),
            "high": observed + error,
        }
    )


def plot_count_calibration(expected: Any, y: Any, *, n_groups: int | None = None, ax: Any = None) -> Any:
    """Plot mean observed against mean expected counts, in groups; calibrated predictions lie on the diagonal.

    Parameters
    ----------
    expected, y, n_groups
        As in `count_calibration_table`.
    $ax

    Examples
    --------
    >>> from ispca.plots import plot_count_calibration
    >>> ax = plot_count_calibration([1.0, 1.5, 4.0, 5.0], [1, 1, 3, 6], n_groups=2)
    >>> ax.get_xlabel()
    'expected count'
    """
    table = count_calibration_table(expected, y, n_groups=n_groups)
    ax = new_axes(ax, 4.6, 4.4)
    ends = np.concatenate([table["predicted"], table["low"], table["high"]])
    _draw(ax, table, ends.min(), ends.max())
    ax.set(xlabel="expected count", ylabel="mean observed count (95% interval)")
    return ax


def _check_numbers(values: Any, n_samples: int, name: str) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (n_samples,) or not np.isfinite(values).all():
        raise ValueError(f"{name} must contain one number for each of the {n_samples} samples of y.")
    return values


def _groups(predicted: Floats, n_groups: int | None, most: int) -> Indices:
    """Return the number of the group of each sample, from 0 on; equal predictions share a group."""
    check_positive(n_groups, "n_groups")
    n_groups = n_groups or int(np.clip(len(predicted) // SAMPLES_PER_GROUP, 2, most))
    borders = np.unique(np.quantile(predicted, np.linspace(0, 1, n_groups + 1)[1:-1]))
    codes: Indices = np.unique(np.searchsorted(borders, predicted, side="left"), return_inverse=True)[1]
    return codes


def _draw(ax: Any, table: ResultTable, low: float, high: float) -> None:
    ax.plot([low, high], [low, high], color=FAINT, linestyle="--", linewidth=1, zorder=0)
    errors = [table["observed"] - table["low"], table["high"] - table["observed"]]
    look = {"color": ACCENT, "linewidth": 1.4, "markersize": 6, "capsize": 2.5}
    ax.errorbar(table["predicted"], table["observed"], yerr=errors, fmt="o-", **look)
