"""A new user has values on a raw scale, predicts new samples, and evaluates predictions."""

import json

import numpy as np
import pytest

from user_files import SAMPLES, D, N, Study, table, text

NEW_SCALES = {
    "log1p": np.log1p,
    "log2": lambda X: np.log2(X + 1),
    "cpm-log": lambda X: np.log2(1 + 1e6 * X / X.sum(axis=1, keepdims=True)),
    "none": lambda X: X,
}


def intensities(study):
    return np.round(np.exp(study.X + study.rng.normal(0, 1.5, size=D)), 1)


def test_raw_counts(study, user):
    study.X = study.counts()
    study.write_table("counts.csv")
    answer = user("ispca fit counts.csv --target tissue")
    hint = answer.warnings[0]
    assert hint.startswith("warning: The features look like raw counts (integers up to ")
    assert "library sizes from " in hint
    assert hint.endswith(
        "Pass --transform cpm-log, or log1p to keep the library sizes, or none to fit them as they are."
    )


def test_raw_intensities(study, user):
    study.X = intensities(study)
    study.write_table("raw.csv")
    answer = user("ispca fit raw.csv --target tissue")
    hint = answer.warnings[0]
    assert hint.startswith("warning: The features look like raw intensities (positive values with median ")
    assert hint.endswith("Pass --transform log2, or none to fit them as they are.")


@pytest.mark.grid(3)
@pytest.mark.parametrize("name", NEW_SCALES)
def test_a_transformation_is_stored_and_applied(name, study, user):
    """The model of raw values is that of values which the user has transformed, and takes raw values."""
    raw, study.genes = study.counts(), [f"g{j}" for j in range(D)]
    study.X = raw
    study.write_table("raw.csv")
    answer = user(f"ispca fit raw.csv --target tissue --transform {name} --out results")
    assert SAMPLES in answer.out
    assert "raw counts" not in answer.err
    study.X = NEW_SCALES[name](raw.astype(float))
    study.write_table("new_scale.csv", decimals=12)
    user("ispca fit new_scale.csv --target tissue --transform none --out again")
    header, rows = table("results/scores.csv")
    _, expected = table("again/scores.csv")
    found, wanted = (np.array([row[2:] for row in part], dtype=float) for part in (rows, expected))
    np.testing.assert_allclose(found, wanted, atol=1e-6, err_msg=str(header))
    first = user("ispca predict results raw.csv --json")
    assert first.warnings == []
    second = json.loads(user("ispca predict again new_scale.csv --json").out)
    for one, other in zip(json.loads(first.out)["predictions"], second["predictions"], strict=True):
        assert one["p(tumour)"] == pytest.approx(other["p(tumour)"], abs=1e-4)


def test_presence_and_absence(study, user):
    study.X = (study.X > 9) * study.rng.integers(1, 50, size=(N, D))
    study.write_table("raw.csv")
    user("ispca fit raw.csv --target tissue --transform binary --out results")
    study.X = 7 * study.X
    study.write_table("larger.csv")
    raw, larger = (user(f"ispca predict results {name}.csv") for name in ("raw", "larger"))
    assert raw.out == larger.out
    assert "reduced to present or absent" in text("results/report.html")


def test_a_transformation_that_is_impossible(study, user):
    study.X -= 10
    study.write_table("negative.csv")
    answer = user("ispca fit negative.csv --target tissue --transform log2", code=3)
    assert answer.out == ""
    assert answer.notes[-1].startswith("The features contain negative values")
    assert answer.notes[-1].endswith("Leave out --transform log2.")
    answer = user("ispca fit negative.csv --target tissue --transform log", code=2)
    assert "choose from" in answer.err


def test_another_scale(study, user):
    study.X = intensities(study)
    study.write_table("raw.csv")
    user("ispca fit raw.csv --target tissue --transform log2 --out results")
    assert user("ispca predict results raw.csv").warnings == []
    study.X = np.log2(study.X + 1)
    study.write_table("logs.csv", target=False)
    answer = user("ispca predict results logs.csv")
    assert answer.warnings[0].startswith("warning: logs.csv is on another scale than the training data")
    assert len(answer.lines) == N + 1


def test_predictions_of_a_folder(study, user):
    """The folder and the model file in it give the same table, on the screen or in a file."""
    study.write_table("plain.csv")
    user("ispca fit plain.csv --target tissue --out results")
    Study(seed=1).write_table("new.csv", target=False)
    answer = user("ispca predict results/ new.csv")
    assert answer.lines[0] == "id,prediction,p(normal),p(tumour)"
    assert len(answer.lines) == N + 1
    assert answer.out == user("ispca predict results/model.ispca new.csv").out
    answer = user("ispca predict results new.csv --out predictions.csv")
    assert answer.lines == [f"Wrote predictions for {N} samples to predictions.csv."]
    assert table("predictions.csv")[0] == ["id", "prediction", "p(normal)", "p(tumour)"]
    answer = user("ispca predict elsewhere new.csv", code=3)
    assert (answer.out, len(answer.notes)) == ("", 1)
    assert "elsewhere" in answer.notes[0]


def test_predictions_without_some_features(study, user):
    study.write_table("plain.csv")
    user("ispca fit plain.csv --target tissue --out results")
    Study(seed=1).write_table("fewer.csv", target=False, genes=slice(0, D - 2))
    answer = user("ispca predict results fewer.csv")
    assert answer.lines[0] == "id,prediction,p(normal),p(tumour)"
    assert len(answer.lines) == N + 1
    assert f"fewer.csv lacks 2 of the {D} features of the model, which carry" in answer.notes[-2]
    assert "% of its weight" in answer.notes[-2]
    assert answer.notes[-2].endswith("They are replaced by the mean of the training data.")
    # The names are those of other samples.
    assert answer.notes[-1].startswith("24 samples of fewer.csv have names of training samples but other values")


def test_predictions_without_too_many_features(study, user):
    study.write_table("plain.csv")
    user("ispca fit plain.csv --target tissue --out results")
    study.write_table("without.csv", target=False, genes=slice(6, D))
    answer = user("ispca predict results without.csv", code=3)
    assert answer.out == ""
    assert f"without.csv lacks 6 of the {D} features of the model, which carry" in answer.notes[-1]
    assert "Features with up to 10% of the weight can be replaced" in answer.notes[-1]


def test_an_evaluation_of_predictions(study, user):
    study.write_table("plain.csv")
    Study(seed=1).write_table("new.csv")
    user("ispca fit plain.csv --target tissue --out results")
    answer = user("ispca predict results new.csv")
    assert answer.lines[0] == "id,prediction,p(normal),p(tumour)"
    assert "Evaluation on 24 samples of new.csv with a known 'tissue':" in answer.notes
    shown = [note.split(":")[0].strip() for note in answer.notes if note.startswith("  ")]
    assert shown[:4] == ["accuracy", "balanced accuracy", "AUC", "mean log density"]
    assert {"calibration error", "confusion matrix (rows"} <= {*shown}
    evaluation = json.loads(user("ispca predict results new.csv --json").out)["evaluation"]
    assert evaluation["accuracy"] > 0.8
    assert evaluation["auc"] > 0.9
    assert np.sum(evaluation["confusion"]["counts"]) == N
    assert {"log_density", "calibration_error"} <= set(evaluation)


def test_a_fit_and_its_test_in_one_go(study, user):
    study.write_table("plain.csv")
    Study(seed=1).write_table("new.csv")
    answer = user("ispca fit plain.csv --target tissue --test new.csv --out results")
    assert answer.lines[0].startswith("Verdict: ")
    assert "Evaluation on 24 samples of new.csv with a known 'tissue':" in answer.lines
    assert "  confusion matrix (rows: observed, columns: predicted):" in answer.lines
    assert "External test" in text("results/report.html")
    assert answer.warnings == []
    study.write_table("unknown.csv", target=False)
    answer = user("ispca fit plain.csv --target tissue --test unknown.csv --out other", code=3)
    assert answer.out == ""
    assert "unknown.csv" in answer.notes[-1]
    assert "tissue" in answer.notes[-1]


def test_a_test_file_with_training_samples(study, user):
    """Training samples are named, in any order of the features, not evaluated, and a caveat of the report."""
    study.write_table("plain.csv")
    new = Study(seed=1)
    new.X[:2], new.tissue[:2] = study.X[:2], study.tissue[:2]
    new.X, new.genes = new.X[:, ::-1], new.genes[::-1]
    new.write_table("new.csv")
    answer = user("ispca fit plain.csv --target tissue --test new.csv")
    sentence = (
        "2 of the 24 samples of new.csv are training samples of the model (s00, s01). The model predicts the "
        "samples that it was fitted to too well, so they are not evaluated."
    )
    assert answer.warnings == [f"warning: {sentence}"]
    assert "Evaluation on 22 samples of new.csv with a known 'tissue':" in answer.lines
    assert sentence in text("plain-results/report.html")
