"""Read a file and use the result; every error except the two documented ones is a failure."""

from __future__ import annotations

import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .cases import Case

N_NEW = 3


def is_documented(error: BaseException) -> bool:
    """Return whether an error is documented for bad files and was not caused by a lack of memory."""
    from ispca.persistence import ModelFileError
    from ispca.readers import TableError

    return isinstance(error, TableError | ModelFileError) and not lacks_memory(error)


def examine(path: Path, case: Case) -> None:
    """Read a file, and use the result as a user would."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if case.kind == "model":
            _examine_model(path)
        elif case.kind == "10x":
            _examine_folder(path, case.options)
        else:
            _examine_table(path, case.options)


def _examine_table(path: Path, options: dict[str, Any]) -> None:
    import scipy.sparse as sp

    from ispca.readers import read_table

    path, options = _with_second_file(path, options)
    table = read_table(path, **options)
    assert table.X.shape == (len(table.ids), len(table.features))
    assert all(len(values) == table.n_features for values in table.annotation.values())
    assert all(len(values) == len(table.ids) for values in table.sheet.values())
    if sp.issparse(table.X):
        # Sums over both axes visit every index.
        assert (table.X @ np.ones(table.X.shape[1])).shape == (table.X.shape[0],)
        assert (table.X.T @ np.ones(table.X.shape[0])).shape == (table.X.shape[1],)
    if table.target is not None:
        assert len(table.target) == len(table.ids)


def _with_second_file(path: Path, options: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Write the second file of a case, if it has one; return the file to read and the options of the reader."""
    options = dict(options)
    for suffix, text in options.pop("beside", {}).items():
        path.with_suffix(suffix).write_text(text, encoding="utf-8")
    second = path.with_name("second.csv")
    for role in ("samples", "annotation"):
        if role in options:
            second.write_text(options[role], encoding="utf-8")
            return path, options | {role: second}
        if f"{role}_for" in options:
            others = dict(options)
            second.write_text(others.pop(f"{role}_for"), encoding="utf-8")
            if role == "annotation":
                others["supervised"] = False
            return second, others | {role: path}
    return path, options


def _examine_folder(path: Path, options: dict[str, Any]) -> None:
    """Read the parts of a file as the files of a folder."""
    parts = path.read_bytes().split(b"\0", 2)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for name, content in zip(("matrix.mtx", "barcodes.tsv", "features.tsv"), parts, strict=False):
            Path(folder, name).write_bytes(content)
        _examine_table(Path(folder), options)


def _examine_model(path: Path) -> None:
    from ispca.fitted_parts import take_apart
    from ispca.persistence import load_model, read_details

    assert isinstance(read_details(path), dict)
    model = load_model(path)
    repr(model)
    steps = take_apart(model).steps
    Z = np.random.default_rng(0).normal(size=(N_NEW, steps[0].n_features_in_))
    for step in steps:
        # Finite but extreme values may overflow; each step gets input that it accepts.
        Z = np.clip(np.nan_to_num(_use(step, Z)), -1e3, 1e3)


def _use(step: Any, Z: np.ndarray) -> np.ndarray:
    """Call the methods of a step, and return its output."""
    from ispca import original_coefficients
    from ispca.models.regressors import PosteriorCounts
    from ispca.stacking.base import Stacked

    if isinstance(step, Stacked):
        _use_stack(step, Z)
        return Z
    if hasattr(step, "transform") and not hasattr(step, "components_"):
        return np.asarray(step.transform(Z))
    if hasattr(step, "components_"):
        new = step.transform(Z)
        # Adjusted columns may follow the components.
        n_outputs = len(step.get_feature_names_out())
        assert step.inverse_transform(np.zeros((N_NEW, n_outputs))).shape == Z.shape
        assert new.shape == (N_NEW, n_outputs)
        assert n_outputs >= step.n_components_
        return new
    predicted = step.predict(Z)
    assert len(predicted) == N_NEW
    if hasattr(step, "classes_"):
        assert step.predict_proba(Z).shape == (N_NEW, len(step.classes_))
    elif hasattr(step, "predict_interval"):
        assert step.predict_interval(Z).shape == (N_NEW, 2)
    if not hasattr(step, "classes_"):
        predicted = np.nan_to_num(predicted)
    if hasattr(step, "survival_curves"):
        assert step.survival_curves(Z, [1.0]).lower.shape == (N_NEW, 1)
        assert len(step.median_survival(Z)) == N_NEW
        predicted = (predicted > 0, np.abs(predicted) + 1)
    elif isinstance(step, PosteriorCounts):
        predicted = np.round(np.minimum(predicted, 1e9))
    if hasattr(step, "log_predictive_density"):
        assert len(step.log_predictive_density(Z, predicted)) == N_NEW
    if hasattr(step, "coef_"):
        assert len(original_coefficients(step)) > 0
    assert str(getattr(step, "diagnostics_", "none"))
    return Z


def _use_stack(stack: Any, Z: np.ndarray) -> None:
    """Predict with a stack; finite but absurd coefficients of a candidate may give a documented error."""
    try:
        predicted = stack.predict(Z)
        assert len(predicted) == N_NEW
        assert len(stack.log_predictive_density(Z, predicted)) == N_NEW
    except ValueError as error:
        if "cannot predict these samples" not in str(error):
            raise


def summary(error: BaseException) -> tuple[str, str]:
    """Return the kind and location of a failure, and the end of its traceback."""
    first = _errors(error)[-1]
    frames = traceback.extract_tb(first.__traceback__)
    own = [frame for frame in frames if "ispca" in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    kind = type(error).__name__ if first is error else f"{type(error).__name__} after {type(first).__name__}"
    # The first error, even if "from None" hides it.
    texts = ["".join(traceback.format_exception(item, chain=False)) for item in (first, error)]
    return f"{kind} at {place}", "\nthen\n".join(text[-2500:] for text in dict.fromkeys(texts))


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error, or one that it replaced, was a lack of memory."""
    return any(isinstance(item, MemoryError) for item in _errors(error))


def _errors(error: BaseException) -> list[BaseException]:
    """Return the error, the one that it replaced, and so on."""
    chain = [error]
    while (previous := chain[-1].__cause__ or chain[-1].__context__) is not None and previous not in chain:
        chain.append(previous)
    return chain
