"""The paper's two toy problems: directions found, what is left after the first component, the new features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ispca import ISPCA
from ispca.datasets import make_toy
from ispca.foundation.arrays import Floats
from ispca.plots.canvas import FAINT, INK, load_pyplot

from .class_points import draw_classes
from .context import Context
from .output import write_csv, write_figure
from .verdicts import Verdict, decide

# The paper's figure cannot be had as numbers, so a claim has to hold for nearly all data simulated alike.
N_SEEDS = 20
SHARE = 0.9
LARGEST_ANGLE = 10.0
EXPECTED = {1: [(0.0, 1.0)], 2: [(0.0, 1.0), (1.6, -1.0)]}
CLAIMS = {
    1: "case 1: one supervised component, along x2",
    2: "case 2: two supervised components, the first along x2, the second near (1.6, -1)",
}


@dataclass(frozen=True)
class Toy:
    """A simulated data set and the ISPCA fit of it."""

    X: Floats
    y: np.ndarray
    Z: Floats
    fit: ISPCA

    @property
    def left(self) -> Floats:
        """The standardised features after subtracting what the first component explains."""
        z = self.Z[:, :1]
        return self.X - z @ (z.T @ self.X) / (z.T @ z)


def make(case: int, seed: int) -> Toy:
    """Simulate one problem and fit two components."""
    data = make_toy(case, random_state=seed)
    fit = ISPCA(n_components=2, random_state=seed)
    Z = fit.fit_transform(data.data, data.target)
    return Toy((data.data - fit.mean_) / fit.scale_, data.target, Z, fit)


def angle(a: Any, b: Any) -> float:
    """Return the angle between two directions in degrees, whatever their signs."""
    cosine = abs(np.dot(a, b)) / np.linalg.norm(a) / np.linalg.norm(b)
    return float(np.rad2deg(np.arccos(min(cosine, 1.0))))


def row(case: int, seed: int, fit: ISPCA) -> dict[str, Any]:
    """Return what was found: number of supervised components, directions, angles to the expected ones."""
    found: dict[str, Any] = {"case": case, "seed": seed, "n_supervised": fit.n_supervised_}
    for number, expected in enumerate(EXPECTED[case]):
        found[f"w{number + 1}_x1"], found[f"w{number + 1}_x2"] = map(float, fit.components_[number])
        found[f"angle_{number + 1}"] = angle(fit.components_[number], expected)
    right = fit.n_supervised_ == len(EXPECTED[case])
    close = all(found[f"angle_{k + 1}"] <= LARGEST_ANGLE for k in range(len(EXPECTED[case])))
    return found | {"as_claimed": right and close}


def judge(case: int, rows: list[dict[str, Any]]) -> Verdict:
    """Judge the claim on one problem from all its simulated data sets."""
    share = float(np.mean([found["as_claimed"] for found in rows]))
    last = len(EXPECTED[case])
    tilt = [found[f"angle_{last}"] for found in rows]
    ratio = np.median([found[f"w{last}_x1"] / -found[f"w{last}_x2"] for found in rows])
    direction = "(0, 1)" if case == 1 else f"({ratio:.2f}, -1)"
    detail = (
        f"in {sum(found['as_claimed'] for found in rows)} of {len(rows)} simulated sets; the last one points to "
        f"{direction}, {np.median(tilt):.1f} degrees from the paper's at the median, {np.max(tilt):.1f} at most"
    )
    rule = (
        f"right number of components, each within {LARGEST_ANGLE:g} degrees, in {SHARE:.0%} of the simulated sets"
    )
    return decide(CLAIMS[case], share >= SHARE, detail, rule)


def run(context: Context) -> list[Verdict]:
    """Simulate, fit, draw the first of each problem, and judge."""
    toys = {case: [make(case, seed) for seed in range(N_SEEDS)] for case in EXPECTED}
    rows = {case: [row(case, seed, toy.fit) for seed, toy in enumerate(found)] for case, found in toys.items()}
    write_csv(context.out / "toy.csv", [found for case in rows for found in rows[case]])
    write_figure(draw({case: found[0] for case, found in toys.items()}), context.out / "toy")
    return [judge(case, rows[case]) for case in EXPECTED]


def draw(toys: dict[int, Toy]) -> Any:
    """Draw a column per problem: the data with directions, what is left of it, the new features."""
    figure, axes = load_pyplot().subplots(3, len(toys), figsize=(7.5, 10), layout="constrained", squeeze=False)
    for column, (case, toy) in zip(axes.T, toys.items(), strict=True):
        classes = np.unique(toy.y)
        plain = ISPCA(n_components=1, n_supervised=0).fit(toy.X, toy.y)
        draw_classes(column[0], toy.X, toy.y, classes, 12)
        for number in range(toy.fit.n_supervised_):
            _arrow(column[0], toy.fit.components_[number], f"$w_{number + 1}$", INK, "-")
        _arrow(column[0], plain.components_[0], "PC", FAINT, "--")
        column[0].set_title(f"case {case}: data and directions", fontsize=10)
        # What is left of x2 is exactly zero; the jitter only makes the points visible.
        jitter = np.random.default_rng(N_SEEDS).normal(0, [0.0, 0.1], toy.X.shape)
        draw_classes(column[1], toy.left + jitter, toy.y, classes, 12)
        column[1].set_title("first component subtracted (jittered)", fontsize=10)
        draw_classes(column[2], toy.Z, toy.y, classes, 12)
        kinds = ["supervised" if k < toy.fit.n_supervised_ else "unsupervised" for k in range(2)]
        column[2].set_title("new features", fontsize=10)
        labels = [("$x_1$", "$x_2$"), ("$x_1'$", "$x_2'$"), (f"$z_1$, {kinds[0]}", f"$z_2$, {kinds[1]}")]
        for ax, (x, y) in zip(column, labels, strict=True):
            ax.set(xlabel=x, ylabel=y, xlim=(-4, 4), ylim=(-4, 4), aspect="equal")
            ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=8, loc="upper left", handletextpad=0.1)
    return figure


def _arrow(ax: Any, direction: Floats, label: str, colour: str, style: str) -> None:
    end = 2.6 * direction / np.linalg.norm(direction)
    look = {"arrowstyle": "->", "color": colour, "linewidth": 2.0, "linestyle": style, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=end, xytext=(0, 0), arrowprops=look)
    ax.text(*(1.17 * end), label, color=colour, fontsize=11, ha="center", va="center")
