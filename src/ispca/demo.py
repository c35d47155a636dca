"""The demo behind ``make demo``: simulated gene expression, reduced and summarised in plain text."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

from .datasets import make_expression
from .transformers import ISPCA


def main(directory: Path = Path("demo")) -> None:
    """Fit the simulated data, print a summary and write the new features and the gene weights."""
    data = make_expression(n_samples=100, n_features=5000, n_classes=3, signal=2.0, random_state=0)
    start = time.perf_counter()
    ispca = ISPCA(n_components=10, whiten=True, random_state=0)
    Z = ispca.fit_transform(data.data, data.target)
    seconds = time.perf_counter() - start
    n, n_features = data.data.shape
    print(f"{n} samples, {n_features} genes, classes {', '.join(ispca.classes_)}")
    print(f"{data.relevant.sum()} genes belong to modules whose activity differs between the classes\n")
    print(f"ISPCA took {seconds:.2f} s and found {ispca.n_supervised_} supervised component(s):")
    for number, step in enumerate(ispca.steps_, start=1):
        share = np.mean(data.relevant[step.features]) if step.accepted else 0.0
        found = (
            f"{step.n_features:4d} genes, {share:4.0%} of them truly relevant, separates {step.target_class}"
            if step.accepted
            else "no signal left: unsupervised components from here on"
        )
        done = f"{step.n_permutations} permutations"
        print(f"  {number}. largest score {step.score:.2f}, p = {step.p_value:.3f} ({done}): {found}")
    model = make_pipeline(ispca, LogisticRegression())
    accuracy = cross_val_score(model, data.data, data.target, cv=5).mean()
    largest = np.bincount(np.unique(data.target, return_inverse=True)[1]).max() / n
    print(f"\nCross-validated accuracy with a logistic model: {accuracy:.0%} (the largest class: {largest:.0%})")
    _write(directory, Z, ispca, data)


def _write(directory: Path, Z: np.ndarray, ispca: ISPCA, data: Bunch) -> None:
    directory.mkdir(exist_ok=True)
    names = ispca.get_feature_names_out()
    scores, weights = directory / "scores.csv", directory / "weights.csv"
    np.savetxt(scores, Z, delimiter=",", header=",".join(names), comments="", fmt="%.6g")
    rows = [",".join(["gene", *names])]
    rows += [
        ",".join([gene, *(f"{value:.6g}" for value in column)])
        for gene, column in zip(data["feature_names"], ispca.components_.T, strict=True)
    ]
    weights.write_text("\n".join(rows) + "\n")
    print(f"\nThe new features are in {scores}, the weight of every gene in {weights}.")


if __name__ == "__main__":
    main()
