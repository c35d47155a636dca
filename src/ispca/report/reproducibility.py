"""Report section with references, versions and the code that reproduces the analysis."""

from __future__ import annotations

import platform
from importlib.metadata import version
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..validation.baseline_comparison import BASE_RATE, LASSO, MODEL
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


def reproducibility_section(inputs: Inputs) -> dict[str, Any]:
    """Return the references, the versions and the code."""
    text = ["Please cite the method and state the version of the software."]
    if any(getattr(step, "random_state", 0) is None for step in inputs.steps):
        text.append("No random seed was set, so the numbers will differ slightly when the analysis is repeated.")
    codes = [{"label": "Python", "code": _code(inputs)}]
    if inputs.context.command:
        codes.insert(0, {"label": "Command line", "code": printable(inputs.context.command)})
    return section(
        "Citation and reproducibility",
        text,
        references=[PAPER, PRIOR] if inputs.has_posterior else [PAPER],
        address=ADDRESS,
        code=codes,
        versions={"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    )


def _code(inputs: Inputs) -> str:
    lines = [f"# ispca {version('ispca')}, Python {platform.python_version()}"]
    call = "" if inputs.comparison is None else _comparison_code(inputs.comparison)
    if inputs.reduction is None:
        lines += ["from ispca.validation import compare", "", f"result = {call}", "print(result)"]
        return "\n".join(lines)
    imports = [(_module(step), type(step).__name__) for step in inputs.steps]
    ours = sorted({name for module, name in imports if module == "ispca"})
    lines += [f"from ispca import {', '.join(ours)}", "from ispca.report import write_report"]
    fit, report = ["model.fit(X, y)"], 'write_report(model, X, y, "report.html")'
    if call:
        lines.append(f"from ispca.validation import {call.partition('(')[0]}")
        fit.append(f"validation = {call}")
        report = report.replace(")", ", validation=validation)")
    calls = [estimator_code(step) for step in inputs.steps]
    if len(calls) == 1:
        return "\n".join([*lines, "", f"model = {calls[0]}", *fit, report])
    others = {f"from {module} import {name}" for module, name in imports if module != "ispca"}
    lines += sorted({*others, "from sklearn.pipeline import make_pipeline"})
    lines += ["", "model = make_pipeline(", *(f"    {call}," for call in calls), ")"]
    return "\n".join([*lines, *fit, report])


def _comparison_code(comparison: Comparison) -> str:
    n_splits = len(comparison.splits)
    if comparison.methods == [MODEL, LASSO, BASE_RATE]:
        return f"compare_with_baselines(model, X, y, cv={n_splits})"
    methods = ", ".join(f"{name!r}: ..." for name in comparison.methods)
    return f"compare({{{methods}}}, X, y, cv={n_splits})"


def _module(step: Any) -> str:
    """Return the module from which the class of a step is imported."""
    public = list(takewhile(lambda name: not name.startswith("_"), type(step).__module__.split(".")))
    return public[0] if public[0] == "ispca" else ".".join(public)


def estimator_code(estimator: BaseEstimator) -> str:
    """Return the constructor call of an estimator, without parameters at their defaults.

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
