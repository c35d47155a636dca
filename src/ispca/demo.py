"""The demo behind ``make demo``: simulated gene expression, reduced, modelled and summarised in plain text."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Bunch

from .datasets import make_expression
from .models import HorseshoeClassifier, original_coefficients
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
    start = time.perf_counter()
    model = make_pipeline(ispca, HorseshoeClassifier(random_state=0))
    model.fit(data.data, data.target)
    print(
        f"\nThe horseshoe model on the new features took {time.perf_counter() - start:.1f} s with its posterior."
    )
    print(model[-1].diagnostics_)
    accuracy = cross_val_score(model, data.data, data.target, cv=5).mean()
    largest = np.bincount(np.unique(data.target, return_inverse=True)[1]).max() / n
    print(f"Cross-validated accuracy: {accuracy:.0%} (the largest class: {largest:.0%})")
    _show_genes(model, data)
    _write(directory, Z, ispca, data)


def _show_genes(model: Pipeline, data: Bunch, count: int = 5) -> None:
    table = original_coefficients(model)
    genes = table[table["feature"] != "(intercept)"]
    # Largest effect per standard deviation of the gene.
    effect = np.abs(genes["mean"]) * np.tile(model[0].scale_, len(model[-1].classes_))
    genes = genes[np.argsort(-effect)][:count]
    print(f"\nThe {count} strongest genes, in the original units:")
    for feature, label, mean, _, low, high, sure in genes.tolist():
        truth = "truly relevant" if data.relevant[int(feature)] else "irrelevant in truth"
        name = data.feature_names[int(feature)]
        interval = f"{mean:+.3f}, 90 % interval {low:+.3f} to {high:+.3f}"
        print(f"  {name:<10} {label}: {interval}, sign {sure:.0%} sure; {truth}")


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
