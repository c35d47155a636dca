"""``ispca predict``: predict new samples with a fitted model."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.file_names import COMBINED_FILE
from ..analysis.model_loading import describe_data, load_bagged, load_details, load_predictor
from ..analysis.new_samples import read_new
from ..analysis.predictions import predict_table, target_columns
from ..analysis.settings import Settings
from ..fitted_parts import take_apart
from ..foundation.messages import PREDICTORS, Listener
from ..foundation.result_tables import open_csv, write_table
from ..report.interval_words import columns_text
from .console import finite

BY_BOTH = "Predicted by the combined prediction."
BY_COMPONENTS = "⟦Pass model=components⟧ to predict by the components alone."


def predict_and_write(
    out: Path | None, settings: Settings, path: Path, listener: Listener, predictor: str | None
) -> tuple[dict[str, Any], str]:
    """Predict with the model at a path; return predictions and their evaluation as values, and the CSV text."""
    model, details = load_predictor(path, settings.memory), load_details(path, settings.memory)
    names = tuple(take_apart(model).feature_names_in())
    if predictor is None and path.name == COMBINED_FILE:
        listener.note(BY_BOTH, advice=BY_COMPONENTS)
    table = read_new(settings, names, describe_data(details, path), target_columns(details))
    bagged = load_bagged(path.parent, settings.memory) if path.name in PREDICTORS.values() else None
    columns, evaluation = predict_table(model, details, path, table, settings, listener, bagged)
    if bagged is not None:
        listener.note(columns_text(take_apart(bagged).model.target))
    lines = io.StringIO()
    write_table(lines, columns, zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    text = lines.getvalue()
    if out is not None:
        with open_csv(out) as file:
            file.write(text)
    rows = [finite(dict(zip(columns, row, strict=True))) for row in zip(*map(list, columns.values()), strict=True)]
    return {"predictions": rows, "evaluation": evaluation}, text
