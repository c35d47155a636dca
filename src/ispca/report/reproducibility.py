"""Report section with references, versions and the code that reproduces the analysis."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..validation.baselines import BASE_RATE, LASSO, MODEL
from ..validation.comparison import Comparison
from .formatting import printable, section
from .input_checks import Inputs

PAPER = (
    "J. Piironen and A. Vehtari (2018). Iterative supervised principal components. Proceedings of the 21st "
    "International Conference on Artificial Intelligence and Statistics (AISTATS), PMLR 84:106-114."
)
ADDRESS = "https://proceedings.mlr.press/v84/piironen18a.html"
PRIOR = (
    "J. Piironen and A. Vehtari (2017). Sparsity information and regularization in the horseshoe and other "
    "shrinkage priors. Electronic Journal of Statistics 11(2):5018-5051."
)
# Longer parameter values, such as a list of excluded features, are omitted from the code.
LONGEST_VALUE = 1000
PACKAGES = ("ispca", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages used."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def reproducibility_section(inputs: Inputs) -> dict[str, Any]:
    """Return the references, the versions and the code."""
    references = [PAPER] + ([PRIOR] if inputs.has_posterior else [])
    text = ["Please cite the method and state the version of the software."]
    if inputs.reduction is not None and _open_seed(inputs):
        text.append("No random seed was set, so the numbers will differ slightly when the analysis is repeated.")
    codes = []
    if inputs.context.command:
        codes.append({"label": "Command line", "code": printable(inputs.context.command)})
    codes.append({"label": "Python", "code": _code(inputs)})
    return section(
        "Citation and reproducibility",
        text,
        references=references,
        address=ADDRESS,
        code=codes,
        versions=versions(),
    )


def _open_seed(inputs: Inputs) -> bool:
    return any(getattr(step, "random_state", 0) is None for step in inputs.steps)


def _code(inputs: Inputs) -> str:
    needed = f"# ispca {version('ispca')}, Python {platform.python_version()}"
    if inputs.reduction is None:
        call = "" if inputs.comparison is None else _comparison_code(inputs.comparison)
        lines = ["from ispca.validation import compare", "", f"result = {call}", "print(result)"]
        return "\n".join([needed, *lines])
    steps = inputs.steps
    ours = [step for step in steps if _module(step) == "ispca"]
    kinds = ", ".join(sorted({type(step).__name__ for step in ours}))
    lines = [needed, f"from ispca import {kinds}", "from ispca.report import write_report"]
    others = {f"from {_module(step)} import {type(step).__name__}" for step in steps if step not in ours}
    validate, report = [], 'write_report(model, X, y, "report.html")'
    if inputs.comparison is not None:
        call = _comparison_code(inputs.comparison)
        lines.append(f"from ispca.validation import {call.partition('(')[0]}")
        validate, report = [f"validation = {call}"], report.replace(")", ", validation=validation)")
    calls = [estimator_code(step) for step in steps]
    if len(steps) > 1:
        lines += sorted({*others, "from sklearn.pipeline import make_pipeline"})
        lines += ["", "model = make_pipeline("]
        lines += [f"    {call}," for call in calls] + [")"]
    else:
        lines += ["", f"model = {calls[0]}"]
    return "\n".join([*lines, "model.fit(X, y)", *validate, report])


def _comparison_code(comparison: Comparison) -> str:
    n_splits = len(comparison.splits)
    if comparison.methods == [MODEL, LASSO, BASE_RATE]:
        return f"compare_with_baselines(model, X, y, cv={n_splits})"
    methods = ", ".join(f"{name!r}: ..." for name in comparison.methods)
    return f"compare({{{methods}}}, X, y, cv={n_splits})"


def _module(step: Any) -> str:
    """Return the module from which the class of a step is imported."""
    public: list[str] = []
    for name in type(step).__module__.split("."):
        if name.startswith("_"):
            break
        public.append(name)
    return public[0] if public[0] == "ispca" else ".".join(public)


def estimator_code(estimator: BaseEstimator) -> str:
    """Return the constructor call of an estimator, without parameters at their defaults.

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
    >>> from ispca.report.reproducibility import estimator_code
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
