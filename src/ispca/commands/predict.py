"""``ispca predict``: predict new samples with a fitted model."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.file_names import COMBINED_FILE, model_file
from ..analysis.model_loading import describe_data, load_details, load_predictor
from ..analysis.new_samples import read_new
from ..analysis.predictions import predict_table, target_columns
from ..fitted_parts import take_apart
from ..foundation.messages import count
from ..foundation.result_tables import open_csv, write_table
from ..foundation.terminal import show
from .arguments import chosen_settings
from .console import Console, finite
from .fit import evaluation_text

BY_BOTH = "Predicted by the combined prediction. Pass ⟦model=components⟧ to predict by the components alone."


def predict_and_write(
    path: Path | None, args: argparse.Namespace, console: Console
) -> tuple[dict[str, Any], str, dict[str, Any] | None]:
    """Return the columns of the output, their text, which is also written to a path, and an evaluation."""
    columns, evaluation = predict_samples(args, console)
    lines = io.StringIO()
    write_table(lines, columns, zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
    text = lines.getvalue()
    if path is not None:
        with open_csv(path) as file:
            file.write(text)
    return columns, text, evaluation


def print_result(
    columns: dict[str, Any],
    text: str,
    evaluation: dict[str, Any] | None,
    args: argparse.Namespace,
    console: Console,
) -> None:
    """Print the predictions, unless they are in a file, and the evaluation."""
    rows = [finite(dict(zip(columns, row, strict=True))) for row in zip(*map(list, columns.values()), strict=True)]
    values = {"predictions": rows, "evaluation": evaluation}
    measured = "" if evaluation is None else evaluation_text(evaluation)
    if args.out is not None:
        samples = count(len(columns["id"]), "sample")
        console.result(f"Wrote predictions for {samples} to {args.out}.\n\n{measured}".strip(), values)
    elif args.json:
        console.result(text, values)
    else:
        # The predictions are printed even with --quiet, and alone on standard output.
        show(text.removesuffix("\n"), raw=True)
        console.notes(measured.splitlines())


def predict_samples(args: argparse.Namespace, console: Console) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the columns of the output, sample names and predictions, and an evaluation if the target is known."""
    with console.silence():
        path, settings = model_file(args.model, args.predictor), chosen_settings(args)
        model, details = load_predictor(path, args.memory), load_details(path, args.memory)
        names = tuple(take_apart(model).feature_names_in())
        if args.predictor is None and path.name == COMBINED_FILE:
            console.note(BY_BOTH)
        table = read_new(settings, names, describe_data(details, path), target_columns(details))
        return predict_table(model, details, path, table, settings, console)
