"""One small study for each kind of target, analyzed and saved once: see the fixture ``shared_fit``."""

import csv
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ispca
from ispca.datasets import make_counts, make_survival

PATIENTS = 60
QUICK = {"bags": 4, "components": 3, "draws": 40, "permutations": 200, "cv": 2}
NO_FOLDS = {"bags": 4, "components": 4, "draws": 60, "cv": 0}
SURVIVAL = {"time": "months", "event": "died", "covariates": ["age", "sex", "batch"], "drop": "weight"}
COUNTS = {"target": "relapses", "kind": "count", "offset": "log_years", "covariates": ["age", "sex"]}
GRADES = {"target": "grade", "kind": "ordinal", "drop": ["relapses", "log_years"]}


def rows(n=40, seed=1):
    """Samples in rows: names, sex, diagnosis, score, and thirty genes of which eight follow a factor."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=n)
    X = rng.normal(size=(n, 30)) + 5
    X[:, :8] += 2 * factor[:, None]
    table = [["sample", "sex", "diagnosis", "score", *(f"gene{j}" for j in range(30))]]
    for i in range(n):
        diagnosis = "ill" if factor[i] + 0.3 * rng.normal() > 0 else "well"
        table.append([f"p{i}", "mf"[i % 2], diagnosis, f"{factor[i]:.4f}", *(f"{value:.5f}" for value in X[i])])
    return table


def plain_columns():
    header, *samples = rows()
    return dict(zip(header, zip(*samples, strict=True), strict=True))


def genes(data):
    return {f"g{j}": column.round(4) for j, column in enumerate(data.data.T)}


def survival_columns():
    data = make_survival(PATIENTS, 40, signal=2.0, random_state=0)
    y = {"months": data.target["time"].round(3), "died": data.target["event"].astype(int)}
    more = {"patient": [f"p{i // 2}" for i in range(PATIENTS)], "weight": 1 + np.arange(PATIENTS) % 2}
    return {"sample": [f"s{i}" for i in range(PATIENTS)], **y, **data.covariates, **more, **genes(data)}


def count_columns():
    data = make_counts(PATIENTS, 40, random_state=0)
    grade = np.digitize(data.target, np.quantile(data.target, [0.33, 0.67]))
    y = {"relapses": data.target, "log_years": data.offset.round(4), "grade": [f"G{g + 1}" for g in grade]}
    return {"sample": [f"s{i}" for i in range(PATIENTS)], **y, **data.covariates, **genes(data)}


# The columns of the file of each kind, and the settings that say what they mean.
KINDS = {
    "classes": (plain_columns, {"target": "diagnosis", "drop": "score", **NO_FOLDS}),
    "quantity": (plain_columns, {"target": "score", "drop": "diagnosis", **NO_FOLDS}),
    "survival": (survival_columns, {**SURVIVAL, **QUICK}),
    "counts": (count_columns, {**COUNTS, **QUICK}),
    "ordered classes": (count_columns, {**GRADES, **QUICK, "cv": 0}),
}


def write_columns(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@dataclass(frozen=True)
class SharedFit:
    """An analysis, the columns and the file of its data, and the folder with its results; change none of them."""

    analysis: Any
    columns: dict[str, Any]
    data: Path
    results: Path


def fit(kind, folder):
    """Analyze the study of this kind of target in a new folder."""
    make_columns, settings = KINDS[kind]
    columns = make_columns()
    path = write_columns(folder / "data.csv", columns)
    with warnings.catch_warnings():
        # Chains this short have not converged.
        warnings.simplefilter("ignore")
        analysis = ispca.analyze(path, **settings)
    return SharedFit(analysis, columns, path, analysis.save(folder / "results"))
