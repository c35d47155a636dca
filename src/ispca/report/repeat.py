"""How to cite, and the exact code that repeats the fit."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .parts import Parts
from .text import printable, section

PAPER = (
    "J. Piironen and A. Vehtari (2018). Iterative supervised principal components. Proceedings of the 21st "
    "International Conference on Artificial Intelligence and Statistics (AISTATS), PMLR 84:106-114."
)
ADDRESS = "https://proceedings.mlr.press/v84/piironen18a.html"
PRIOR = (
    "J. Piironen and A. Vehtari (2017). Sparsity information and regularization in the horseshoe and other "
    "shrinkage priors. Electronic Journal of Statistics 11(2):5018-5051."
)
# A parameter that takes more room, such as a list of all excluded features, is left out of the code.
LONGEST_VALUE = 1000
PACKAGES = ("ispca", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of what made the report."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def repeat_section(parts: Parts, cv: Any) -> dict[str, Any]:
    """Return the references and the code."""
    references = [PAPER] + ([PRIOR] if parts.has_posterior else [])
    text = ["Please cite the method, and say which version of the program you used."]
    if parts.reduction is not None and _open_seed(parts):
        text.append("No random seed was set, so that numbers will differ a little when this is run again.")
    codes = []
    if parts.context.command:
        codes.append({"label": "On the command line", "code": printable(parts.context.command)})
    codes.append({"label": "In Python", "code": _code(parts, cv)})
    return section(
        "How to cite and repeat this",
        text,
        references=references,
        address=ADDRESS,
        code=codes,
        versions=versions(),
    )


def _open_seed(parts: Parts) -> bool:
    return any(getattr(step, "random_state", 0) is None for step in parts.steps)


def _code(parts: Parts, cv: Any) -> str:
    needed = f"# ispca {version('ispca')}, Python {platform.python_version()}"
    if parts.reduction is None:
        names = [] if parts.comparison is None else parts.comparison.methods
        methods = ", ".join(f"{name!r}: ..." for name in names)
        splits = len(parts.comparison.splits) if parts.comparison else 0
        lines = ["from ispca.validation import compare", ""]
        lines += [f"result = compare({{{methods}}}, X, y, cv={splits})", "print(result)"]
        return "\n".join([needed, *lines])
    steps = parts.steps
    ours = [step for step in steps if _module(step) == "ispca"]
    kinds = ", ".join(sorted({type(step).__name__ for step in ours}))
    lines = [needed, f"from ispca import {kinds}", "from ispca.report import write_report"]
    others = {f"from {_module(step)} import {type(step).__name__}" for step in steps if step not in ours}
    calls = [estimator_code(step) for step in steps]
    if len(steps) > 1:
        lines += sorted({*others, "from sklearn.pipeline import make_pipeline"})
        lines += ["", "model = make_pipeline("]
        lines += [f"    {call}," for call in calls] + [")"]
    else:
        lines += ["", f"model = {calls[0]}"]
    lines.append("model.fit(X, y)")
    lines.append(f'write_report(model, X, y, "report.html", cv={_splits(cv)})')
    return "\n".join(lines)


def _module(step: Any) -> str:
    """Return the module from which the class of a step is imported."""
    public: list[str] = []
    for name in type(step).__module__.split("."):
        if name.startswith("_"):
            break
        public.append(name)
    return public[0] if public[0] == "ispca" else ".".join(public)


def _splits(cv: Any) -> str:
    return repr(cv) if cv is None or isinstance(cv, int) else "...  # the splits you used"


def estimator_code(estimator: BaseEstimator) -> str:
    """Return the call that makes an estimator, without what is at its default.

    Parameters
    ----------
    estimator : BaseEstimator
        Any scikit-learn estimator.

    Returns
    -------
    code : str
        One line of Python.

    Examples
    --------
    >>> from ispca import ISPCA
    >>> from ispca.report.repeat import estimator_code
    >>> estimator_code(ISPCA(5, random_state=0))
    'ISPCA(n_components=5, random_state=0)'
    """
    kind = type(estimator)
    default = kind().get_params(deep=False)
    given = estimator.get_params(deep=False)
    texts = [f"{name}={_literal(value)}" for name, value in given.items() if not _same(value, default[name])]
    return f"{kind.__name__}({', '.join(texts)})"


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and np.array_equal(value, default))


def _literal(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    plain = value is None or isinstance(value, bool | int | float | str | list | tuple)
    text = repr(value) if plain else "..."
    return text if len(text) <= LONGEST_VALUE else "..."
