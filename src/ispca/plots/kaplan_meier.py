"""Kaplan-Meier curves of groups of predicted risk, with the numbers at risk."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array_types import Floats
from .._result_table import ResultTable
from ..families.kaplan_meier import kaplan_meier, kaplan_meier_interval, numbers_at_risk
from ..families.survival_target import survival_target
from .canvas import ACCENT, INK, SECOND, Style, new_axes
from .input_checks import stack_tables

GROUPS = {2: ("low", "high"), 3: ("low", "middle", "high")}
STYLES = {"low": Style(ACCENT, "o", "-"), "middle": Style("#E69F00", "s", "--"), "high": Style(SECOND, "^", "-.")}
# Thirds need this many events; with fewer, the samples are halved.
EVENTS_FOR_THIRDS = 30


def risk_groups(risk: Any, event: Any) -> np.ndarray:
    """Return "low", "middle" or "high" for each sample: thirds by risk, or halves if there are few events.

    Examples
    --------
    >>> from ispca.plots.kaplan_meier import risk_groups
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
    risk = _checked_risk(risk, len(y))
    groups = risk_groups(risk, y["event"])
    return stack_tables([{"group": name} | _curve(y[groups == name]) for name in STYLES if (groups == name).any()])


def _checked_risk(risk: Any, n_samples: int) -> Floats:
    risk = np.asarray(risk, dtype=np.float64)
    if risk.shape != (n_samples,) or not np.isfinite(risk).all():
        raise ValueError(f"risk must contain one number for each of the {n_samples} samples of y.")
    return risk


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
    ax : matplotlib Axes, optional
        Axes to draw on; new ones by default.

    Returns
    -------
    ax : matplotlib Axes

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
