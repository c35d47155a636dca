"""The demo of ``make demo``: fit simulated gene expression data and write a report."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import Bunch

from .bagging import BaggedPosterior
from .datasets import make_expression
from .foundation.atomic import whole_file
from .foundation.messages import count, p_value_text
from .foundation.result_tables import open_csv, write_labelled
from .models import HorseshoeClassifier
from .models.coefficients import coefficients_by_column
from .plots import coefficient_table
from .report import summarize, to_html
from .report.interval_words import interval_name
from .report.report_file import load_templates
from .report.report_inputs import Context
from .transformers.ispca_transformer import ISPCA
from .validation import compare_with_baselines


def main(directory: Path = Path("demo"), cv: int = 5, n_bags: int = 50) -> None:
    """Fit simulated data, print a summary, and write scores, loadings and a report."""
    # A missing package is reported before the fit.
    load_templates()
    data = make_expression(n_samples=100, n_features=5000, n_classes=3, signal=2.0, random_state=0)
    start = time.perf_counter()
    ispca = ISPCA(n_components=10, whiten=True, random_state=0)
    Z = ispca.fit_transform(data.data, data.target)
    seconds = time.perf_counter() - start
    n, n_features = data.data.shape
    print(f"{n} samples, {n_features} genes, classes {', '.join(ispca.classes_)}")
    print(f"{data.relevant.sum()} genes belong to modules whose activity differs between the classes\n")
    print(f"ISPCA took {seconds:.2f} s and found {count(ispca.n_supervised_, 'supervised component')}:")
    for number, step in enumerate(ispca.steps_, start=1):
        found = "no further association with the classes"
        if step.accepted:
            relevant = np.mean(data.relevant[step.features])
            found = f"{step.n_features} genes ({relevant:.0%} truly relevant), separating {step.target_class}"
        done = f"{step.n_permutations} permutations"
        p_value = p_value_text(step.p_value, step.n_permutations, step.borderline)
        print(f"  {number}. largest score {step.score:.2f}, {p_value} ({done}): {found}")
    start = time.perf_counter()
    model = make_pipeline(ispca, HorseshoeClassifier(random_state=0))
    model.fit(data.data, data.target)
    print(f"\nSampling the posterior of the horseshoe model took {time.perf_counter() - start:.1f} s.")
    print(model[-1].diagnostics_)
    start = time.perf_counter()
    bagged = BaggedPosterior(clone(model), n_bags=n_bags, random_state=0).fit(data.data, data.target)
    print(f"\nRepeating all of it in {n_bags} bootstrap samples (bags) took {time.perf_counter() - start:.1f} s.")
    _show_genes(bagged, data)
    _write(directory, Z, ispca, data)
    _report(directory, model, bagged, data, cv)


def _show_genes(bagged: BaggedPosterior, data: Bunch, number: int = 5) -> None:
    print(f"\nThe {number} strongest genes, with the change in log odds per standard deviation:")
    frequency = dict(zip(data.feature_names, bagged.frequency_, strict=True))
    truth = dict(zip(data.feature_names, data.relevant, strict=True))
    for row in coefficient_table(bagged, n_features=number, feature_names=data.feature_names):
        interval = f"{row['mean']:+.3f}, {interval_name(1)} {row['low']:+.3f} to {row['high']:+.3f}"
        chosen = f"chosen in {frequency[str(row['feature'])]:.0%} of the bags"
        true = "truly relevant" if truth[str(row["feature"])] else "not relevant"
        sign = f"P(sign) = {row['p_sign']:.0%}"
        print(f"  {row['feature']:<10} {row['target_class']}: {interval}, {sign}, {chosen}; {true}")


def _write(directory: Path, Z: np.ndarray, ispca: ISPCA, data: Bunch) -> None:
    directory.mkdir(exist_ok=True)
    names = ispca.get_feature_names_out()
    scores, loadings = directory / "scores.csv", directory / "loadings.csv"
    samples = ((f"sample {i + 1}",) for i in range(len(Z)))
    genes = ((name,) for name in data["feature_names"])
    for path, kind, labels, values in (
        (scores, "sample", samples, Z),
        (loadings, "gene", genes, ispca.components_.T),
    ):
        with whole_file(path) as temporary, open_csv(temporary) as file:
            write_labelled(file, [kind, *names], labels, values)
    print(f"\nThe scores are in {scores}, and the loadings of all genes in {loadings}.")


def _report(directory: Path, model: Pipeline, bagged: BaggedPosterior, data: Bunch, cv: int) -> None:
    """Cross-validate and write the report."""
    print(f"Cross-validating in {cv} splits, with the lasso and the base rate for comparison ...", flush=True)
    samples = [f"sample {i + 1}" for i in range(len(data.data))]
    names = {"feature_names": data.feature_names, "sample_names": samples}
    validation = compare_with_baselines(model, data.data, data.target, cv=cv)
    context = Context("class", coefficients=coefficients_by_column(bagged), n_bags=bagged.n_bags)
    summary = summarize(model, data.data, data.target, validation=validation, context=context, **names)
    print("\n".join(summary["overview"]["verdict"]))
    path = directory / "report.html"
    with whole_file(path) as temporary:
        temporary.write_text(to_html(summary), encoding="utf-8", newline="\n")
    print(f"\nThe report is in {path.resolve()}. Open it in a browser.")


if __name__ == "__main__":
    main()
