"""The figures and tables by name, in the paper's order."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from .context import Context
from .verdicts import Verdict

NAMES: dict[str, str] = {
    "toy": "two toy problems: directions, what is left after the first component, the new features",
    "scatter": "the two-class sets in the first two features of PCA, SPCA and ISPCA",
    "lung": "the five-class set: pairs of four features of the three methods",
    "loadings": "the four projection vectors of that ISPCA fit",
    "mlpd": "mean log predictive density of all methods on all sets",
    "accuracy": "accuracy of all methods on all sets",
    "times": "seconds of reduction and model, and of the lasso",
}


def checked_names(names: list[str]) -> list[str]:
    """Return the names without repetition, and all of them if there are none.

    Examples
    --------
    >>> checked_names(["lungs"])
    Traceback (most recent call last):
    ValueError: No figure or table named 'lungs'. Choose from toy, scatter, lung, loadings, mlpd, accuracy, times.
    """
    for name in names:
        if name not in NAMES:
            raise ValueError(f"No figure or table named {name!r}. Choose from {', '.join(NAMES)}.")
    return list(dict.fromkeys(names)) or list(NAMES)


def script(name: str) -> Callable[[Context], list[Verdict]]:
    """Return the function that makes a figure or table: ``run`` of the module of that name."""
    run: Callable[[Context], list[Verdict]] = import_module(f"{__package__}.{name}").run
    return run
