"""``ispca select``: find the few features that predict as well as a model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.data_file import reading
from ..analysis.feature_labels import describe_features, feature_labels
from ..analysis.file_names import PANEL_MODEL
from ..analysis.large_data import block_memory
from ..analysis.model_loading import describe_data, load_details, load_predictor, positive_class
from ..analysis.new_samples import match
from ..analysis.panel_selection import select_on_table
from ..analysis.settings import Settings
from ..fitted_parts import take_apart
from ..foundation.atomic import discard, stem_of
from ..foundation.messages import Listener, SettingError, Text, count, listing, suggestion
from ..foundation.progress import waiting
from ..foundation.terminal import ignore_interrupts
from ..persistence import ModelFileError
from ..readers import Table, TableError, read_table
from ..selection import ProjectionSelector
from ..selection.submodels_and_panels import find_submodel
from ..targets import TARGETS
from .arguments import names_in
from .console import in_options
from .panel_output import LIBRARY, NO_REPORT, REPORT, write_files, written_files

# What a model file says about the columns of DATA.
COLUMNS = ("target", "event", "groups", "weights")


def select_and_write(
    folder: Path, settings: Settings, path: Path, out: Path, listener: Listener, **options: Any
) -> tuple[ProjectionSelector, int, np.recarray, Table]:
    """Select with the model file at a path, and write the files into a folder that becomes ``out``.

    Return the selector, the size of the panel, its features, and DATA.
    """
    model = load_predictor(path, settings.memory)
    if REPORT not in written_files(model):
        listener.note(NO_REPORT)
    table = read_samples(settings, path, model, listener)
    if table.transform == "cpm-log":
        listener.note(f"{PANEL_MODEL} will take log2(counts per million + 1): {LIBRARY}")
    selector, size = select_features(settings, model, table, out, **options)
    with waiting("Writing"):
        features = write_files(folder, selector, size, table, settings, path)
    return selector, size, features, table


def read_samples(settings: Settings, path: Path, model: Any, listener: Listener) -> Table:
    """Read DATA as the model was fitted to it, with the features of the model in its order."""
    known = tuple(take_apart(model).feature_names_in())
    details = load_details(path, settings.memory)
    description, found = describe_data(details, path), describe_target(settings, details, path)
    timed = found["kind"] is not None and TARGETS[found["kind"]].timed
    columns = replace(description.columns, groups=found["groups"], weights=found["weights"])
    if timed:
        named = details.get("event_value")
        named = named if isinstance(named, str) else None
        columns = replace(columns, time=found["target"], event=found["event"], event_value=named)
    assert settings.data is not None
    with reading(settings.data) as update:
        table = read_table(
            settings.data,
            target=None if timed else found["target"],
            kind=None if timed else found["kind"],
            samples=settings.samples,
            on=settings.on,
            id=settings.id,
            sheet=settings.sheet,
            annotation=settings.annotation,
            label=settings.label,
            merge=details.get("merge") is True,
            exclude_class=_left_out_classes(details),
            exclude_samples=settings.exclude_samples,
            transpose=settings.transpose,
            known=known,
            columns=columns,
            categories=description.categories,
            decimal_comma=description.decimal_comma,
            max_bytes=settings.memory,
            block_memory=block_memory(settings),
            progress=update,
        )
    listener.notes([*table.notes, *table.substitutes])
    samples = match(table, model, description, settings, listener)
    X, kept = samples.X, samples.kept
    if samples.n_missing:
        raise TableError("The data contain missing values, and a panel needs all of them.", "⟦Pass missing=mean⟧.")
    of_samples = {name: getattr(table, name) for name in ("target", "groups", "weights", "offset")}
    of_kept: dict[str, Any] = {name: None if item is None else item[kept] for name, item in of_samples.items()}
    of_kept |= {"transform": description.transform, "ids": table.ids[kept], "positive": positive_class(details)}
    of_kept |= annotation_for(known, table, settings.label, details, listener)
    return replace(table, X=X, features=np.array(known, dtype=object), **of_kept)


def _left_out_classes(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the classes that the fit left out."""
    found = details.get("exclude_class")
    return tuple(map(str, found)) if isinstance(found, list) else ()


def annotation_for(
    known: tuple[str, ...], table: Table, label: str | None, details: Mapping[str, Any], listener: Listener
) -> dict[str, Any]:
    """Return the annotation of the model's features in their order, and the label: by default, that of the fit."""
    of_fit = details.get("label")
    if label is None and of_fit in table.annotation:
        label = of_fit
    elif label is None and isinstance(of_fit, str):
        listener.note(f"The fit labeled features by {of_fit!r}. Pass --annotation FILE to label them here.")
    label = table.label if label is None else label
    described = describe_features(table)
    n_features = len(known) - table.n_covariate_columns
    rows = [described.get(name, described[""]) for name in known[:n_features]]
    columns = zip(table.annotation, zip(*rows, strict=True), strict=True) if table.annotation else ()
    return {"label": label, "annotation": {name: np.array(texts, dtype=object) for name, texts in columns}}


def describe_target(settings: Settings, details: Mapping[str, Any], path: Path) -> dict[str, str | None]:
    """Return the kind of target and the columns of the fit by their role."""
    found = {name: details.get(name) for name in ("kind", *COLUMNS)}
    usable = all(isinstance(name, str | None) for name in found.values())
    if not usable or found["kind"] not in (*TARGETS, None):
        raise ModelFileError(f"{path} is damaged: its description is unusable.", "Fit the model again.")
    if found["kind"] is not None:
        # Before the data are read, which may take long.
        find_submodel(TARGETS[found["kind"]])
    if settings.target is not None:
        found["target"] = settings.target
    elif found["target"] is None:
        raise ModelFileError(f"{path} does not contain the name of its target.", "⟦Pass target=COLUMN⟧.")
    if found["event"] is None and found["kind"] is not None and TARGETS[found["kind"]].timed:
        advice = "Write it again with ispca fit."
        raise ModelFileError(f"{path} does not contain the name of its event column.", advice)
    return found


def select_features(
    settings: Settings, model: Any, table: Table, out: Path, size: int | None, costs: Path | None, **options: Any
) -> tuple[ProjectionSelector, int]:
    """Return the fitted selector and the size of the panel."""
    options |= {role: places(options[role], table, f"--{role}") for role in ("always", "never")}
    options |= {
        "size": size,
        "costs": None if costs is None else read_costs(costs, table, settings.memory),
        "resume": fold_store(out),
    }
    sweep_folds(out)
    try:
        selector = select_on_table(model, table, settings, **options)
    except KeyboardInterrupt:
        with ignore_interrupts():
            if kept := sweep_folds(out):
                folds = count(kept, "finished fold")
                raise KeyboardInterrupt(
                    f"{folds} kept in {fold_store(out)}: the same command continues with the others."
                ) from None
        raise
    selector.message_ = Text(in_options(selector.message_))
    if size is None:
        return selector, int(selector.n_features_)
    return selector, min(size + table.n_covariate_columns, len(selector.path_) - 1)


def places(words: Sequence[str], table: Table, option: str) -> list[int]:
    """Return the columns of some features, which are given by name or by label, or say why there is none."""
    known = {name: place for place, name in enumerate(table.features[: table.n_features])}
    labeled: dict[str, list[str]] = {}
    for name, label in feature_labels(table).items():
        labeled.setdefault(label, []).append(name)
    found = []
    for name in names_in(words, known.keys() | labeled.keys()):
        matches = [name] if name in known else labeled.get(name, [])
        if not matches:
            similar = suggestion(name, [*labeled, *known])
            raise SettingError(f"The model has no feature {name!r} ({option}). {similar}")
        if len(matches) > 1:
            several = f"{name!r} is the label of {len(matches):,} features ({option}): {listing(matches)}."
            raise SettingError(f"{several} Name those that you mean.")
        found.append(known[matches[0]])
    return list(dict.fromkeys(found))


def read_costs(path: Path, table: Table, max_bytes: int | None) -> np.ndarray:
    """Return the cost of each feature from a table with names in the first column and costs in the second."""
    found = read_table(path, supervised=False, max_bytes=max_bytes)
    if found.X.shape[1] != 1:
        columns = count(found.X.shape[1], "numeric column")
        raise TableError(f"{path.name} has {columns}. It needs two columns: names of features and their costs.")
    given = np.asarray(found.X if isinstance(found.X, np.ndarray) else found.X.toarray())[:, 0]
    named = dict(zip(map(str, found.ids), given.tolist(), strict=True))
    known = table.features[: table.n_features].tolist()
    for name, cost in named.items():
        if not cost > 0:
            raise TableError(f"The cost of {name!r} in {path.name} is {cost:g}. Costs are positive numbers.")
    if not set(named) & set(known):
        raise TableError(f"{path.name} names no feature of the model. {suggestion(next(iter(named)), known)}")
    return np.array([named.get(name, 1.0) for name in table.features.tolist()])


def fold_store(out: Path) -> Path | None:
    """Return the folder of finished folds, beside the results; None if it cannot be written."""
    parent = out.resolve().parent
    return parent / f".{out.resolve().name}.folds" if os.access(parent, os.W_OK) else None


def sweep_folds(out: Path) -> int:
    """Return how many folds are kept; remove what killed processes left unfinished, and a folder without folds."""
    store, kept = fold_store(out), 0
    if store is not None and store.is_dir():
        for entry in store.iterdir():
            kept += entry.suffix == ".json"
            if entry.suffix == ".part":
                entry.unlink(missing_ok=True)
        with suppress(OSError):
            store.rmdir()
    return kept


def forget_folds(out: Path) -> None:
    """Remove the finished folds once the results are safe."""
    store = fold_store(out)
    if store is not None:
        discard(store, stem_of(out.resolve()))
