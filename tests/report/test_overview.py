"""The summary at the top: the verdict, the leading features by group, and the caveats that were triggered."""

import re
from typing import NamedTuple

import numpy as np
import pytest

from ispca import ISPCA
from ispca.report import summarize, to_html, to_markdown
from ispca.report.feature_ranking import correlated_groups
from ispca.report.report_inputs import Context, check_inputs

VERDICT = {
    "sentence": "The model classifies 91% of held-out samples correctly, against 50% for the most frequent class.",
    "measure": "accuracy",
    "value": 0.91,
    "low": 0.83,
    "high": 1.0,
    "baseline_value": 0.5,
    "n_held_out": 48,
    "better_than_baseline": True,
}


class Finding(NamedTuple):
    kind: str
    sentence: str
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()


def summary_of(two, **context):
    return summarize(*two, context=Context(target_name="diagnosis", **context))


def test_it_comes_first_with_title_verdict_and_interval(two):
    summary = summary_of(two, verdict=VERDICT)
    assert list(summary)[2] == "overview"
    assert summary["title"] == "Predicting diagnosis from 60 features in 48 samples"
    found = summary["overview"]
    assert found["verdict"] == [VERDICT["sentence"]]
    facts = dict(found["facts"])
    assert facts["Samples"] == "48"
    assert facts["Features"] == "60"
    assert facts["Accuracy"] == "0.91 (0.83 to 1)"
    assert facts["Accuracy of the base rate"] == "0.5"
    page = to_html(summary)
    assert re.search(r'<p class="answer good">The model classifies 91%', page)
    assert page.index("The model classifies") < page.index('id="score_plot"') < page.index('id="data"')
    assert "The model classifies 91%" in to_markdown(summary)


@pytest.mark.parametrize("findings", [None, [], [Finding("leak", "Feature <b> determines the target.")]])
def test_caveats_are_those_that_were_triggered(two, findings):
    summary = summary_of(two, findings=findings, verdict=VERDICT)
    caveats, page = summary["overview"]["caveats"], to_html(summary)
    assert [line for line in caveats if "chains" not in line] == [item.sentence for item in findings or []]
    unconverged = not two[0][1].diagnostics_.converged
    assert any("chains have not converged" in line for line in caveats) == unconverged
    assert ("<li>Feature &lt;b&gt; determines the target.</li>" in page) == bool(findings)
    assert "not measured" in " ".join(summary_of(two)["overview"]["caveats"])
    overconfident = VERDICT | {"caveats": ["The probabilities are overconfident."]}
    assert "The probabilities are overconfident." in summary_of(two, verdict=overconfident)["overview"]["caveats"]


def test_correlated_features_count_as_one(two):
    _, X, y = two
    X = X.copy()
    best = int(np.argmax(np.abs([np.corrcoef(x, y == y[0])[0, 1] for x in X.T])))
    X[:, :2] = X[:, [best]] + 1e-3 * np.random.default_rng(0).normal(size=(len(X), 2))
    reduction = ISPCA(1, n_permutations=100, random_state=0).fit(X, y)
    lines = summarize(reduction, X, y)["overview"]["leading"]
    assert any("correlated feature" in line and "higher in" in line for line in lines)
    inputs = check_inputs(reduction, X, y, None, None, None, None, Context())
    ranked = inputs.ranked
    group = {int(j): int(k) for j, k in zip(ranked.columns, ranked.groups, strict=True)}
    assert group[0] == group[1] == group[best]
    assert ranked.groups[0] == 0


def test_groups_join_either_sign_and_leave_others_alone():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 100))
    values = np.column_stack([a, b, -a + 0.1 * rng.normal(size=100), np.ones(100)])
    assert correlated_groups(values).tolist() == [0, 1, 0, 2]
    assert correlated_groups(values[:, :1]).tolist() == [0]


def test_labels_stand_before_the_names(two):
    (reduction, _), X, y = two
    symbols = [f"SYM{j}" if j % 2 else "" for j in range(X.shape[1])]
    context = Context(annotation={"Gene Symbol": symbols}, label="Gene Symbol")
    plain = [int(row[1]) for row in summarize(reduction, X, y)["features"]["tables"][0]["rows"]]
    names = [row[1] for row in summarize(reduction, X, y, context=context)["features"]["tables"][0]["rows"]]
    assert names == [f"SYM{j} ({j})" if j % 2 else str(j) for j in plain]


def test_a_test_without_result_is_reconciled_with_the_held_out_result():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
    reduction = ISPCA(2, n_permutations=100, random_state=0).fit(X, y)
    assert reduction.n_supervised_ == 0
    text = {
        better: " ".join(
            summarize(reduction, X, y, context=Context(verdict=VERDICT | {"better_than_baseline": better}))[
                "components"
            ]["text"]
        )
        for better in (True, False)
    }
    assert all("No single feature passed the test (p = " in words for words in text.values())
    assert "Yet the components alone predict held-out samples better than the baseline" in text[True]
    assert "Yet" not in text[False]
