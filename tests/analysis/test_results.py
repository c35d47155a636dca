"""A finished analysis: predictions, tables, report, files and what a notebook shows."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import ispca
from ispca.analysis import training_record
from ispca.analysis.file_names import FILES
from ispca.foundation.messages import SettingError
from ispca.persistence import ModelFileError
from ispca.validation import verdict

NEW = ("scores", "coefficients", "features", "held_out")


def different(genes):
    """Return samples that are no copies of these, not even rounded ones."""
    return genes + np.random.default_rng(1).normal(0, 0.5, size=genes.shape)


def test_predictions_do_not_depend_on_the_order_of_columns(study, analysis):
    new = different(study.genes.iloc[:6])
    shuffled = new.iloc[:, np.random.default_rng(0).permutation(60)]
    expected = analysis.predict(new)
    ends = (f"p({name})_{end}" for name in ("ill", "well") for end in ("q5", "q95"))
    assert expected.dtype.names == ("id", "prediction", "p(ill)", "p(well)", *ends, "prediction_set")
    for other in (shuffled, new.to_numpy()):
        np.testing.assert_allclose(analysis.predict(other)["p(ill)"], expected["p(ill)"], rtol=1e-12)


def test_training_samples_are_predicted_while_held_out(study, analysis):
    found = analysis.predict(study.genes.iloc[:4])
    assert set(found["training_sample"]) == {"held-out prediction"}
    np.testing.assert_array_equal(found["p(ill)"].astype(float), analysis.held_out["p(ill)"][:4])
    with pytest.raises(ValueError, match="No sample can be evaluated"):
        analysis.evaluate(study.genes.iloc[:4], study.describing["state"][:4])


def test_evaluations(study, analysis):
    new = different(study.genes.iloc[:10])
    found = analysis.evaluate(new, study.describing["state"][:10])
    assert found["samples"] == 10
    assert found["accuracy"] == analysis.evaluate(new.assign(state=study.describing["state"]))["accuracy"]


def test_selection_and_comparison(analysis):
    selector = analysis.select(max_size=2, folds=0, draws=40)
    assert len(selector.path_) == 3
    assert set(analysis.compare(["pca", "Lasso"], n_splits=2, n_jobs=1).methods) == {"PCA", "lasso"}
    with pytest.raises(SettingError, match="There is no method 'pcx'"):
        analysis.compare(["pcx"])


def test_files_and_back(study, analysis, tmp_path):
    folder = analysis.save(tmp_path / "results", format="markdown")
    assert {path.name for path in folder.iterdir()} <= set(FILES)
    with pytest.raises(SettingError, match="Choose another folder, or overwrite it with force=True"):
        analysis.save(folder)
    analysis.save(folder, force=True, format="markdown")
    loaded = ispca.load(folder)
    assert repr(loaded) == repr(analysis)
    assert loaded.settings == analysis.settings
    assert loaded.verdict["sentence"] == analysis.verdict["sentence"]
    assert [finding.sentence for finding in loaded.findings] == [found.sentence for found in analysis.findings]
    for name in NEW:
        one, other = getattr(loaded, name), getattr(analysis, name)
        assert one.dtype.names == other.dtype.names
        assert "fold" not in one.dtype.names or one["fold"].dtype == other["fold"].dtype
        for column in one.dtype.names:
            if one[column].dtype.kind == "f":
                np.testing.assert_allclose(one[column], other[column].astype(float), rtol=1e-5, atol=1e-12)
            else:
                assert one[column].tolist() == other[column].tolist()
    new = study.genes.iloc[:5] + 0.01
    np.testing.assert_array_equal(loaded.predict(new)["p(ill)"], analysis.predict(new)["p(ill)"])
    assert "training_sample" in loaded.predict(study.genes).dtype.names
    for work in (loaded.select, loaded.compare, loaded.report, lambda: loaded.save(tmp_path / "other")):
        with pytest.raises(ValueError, match="loaded from files, which do not contain its data"):
            work()


def test_a_folder_without_results(tmp_path):
    with pytest.raises(ModelFileError, match=r"contains no model\.ispca"):
        ispca.load(tmp_path)


def test_nothing_is_computed_twice(analysis, tmp_path, monkeypatch):
    """Samples are hashed once for both model files, and a method is judged once for all that is said of it."""
    calls = Counter()

    def counted(name, real):
        return lambda *given, **options: calls.update([name]) or real(*given, **options)

    monkeypatch.setattr(training_record, "hashed_samples", counted("hash", training_record.hashed_samples))
    replace(analysis).save(tmp_path / "out")
    validation = replace(analysis.validation)
    target = type(validation.target)
    monkeypatch.setattr(target, "judge", counted("judge", target.judge))
    verdict(validation)
    assert calls["hash"] == 1
    assert 0 < calls["judge"] <= len(validation.methods)


def test_the_report(analysis, tmp_path):
    text = analysis.report(tmp_path / "report.md").read_text(encoding="utf-8")
    assert "AUC" in text
    assert "analysis = ispca.analyze(X, y, method='ISPCA', components=3" in text
    assert "ispca fit" not in text
    (tmp_path / "notes.md").write_text("mine", encoding="utf-8")
    with pytest.raises(SettingError, match=r"notes\.md already exists.*force=True"):
        analysis.report(tmp_path / "notes.md")
    assert (tmp_path / "notes.md").read_text(encoding="utf-8") == "mine"
    assert analysis.report(tmp_path / "notes.md", force=True).read_text(encoding="utf-8") == text


def test_what_a_notebook_shows(study, analysis):
    page = analysis._repr_html_()
    assert analysis.verdict["sentence"].partition(" (")[0] in page
    assert "data:image/png;base64," in page
    assert "Leading features<" in page
    # What the report and the terminal say, too.
    gain = {"covariate_gain": {"sentence": "The features add < nothing.", "low": -0.1}}
    unsure = replace(analysis, verdict=analysis.verdict | {"components": None} | gain)._repr_html_()
    assert "Leading features, which may be due to chance<" in unsure
    assert "<p>The features add &lt; nothing.</p>" in unsure
    assert "http" not in page
    names = {"g0": "<b>g0</b>"}
    evil = ispca.analyze(
        study.genes[["g0", "g1", "g2"]].rename(columns=names), study.describing["state"], cv=0, bags=0, draws=40
    )
    assert "<b>" not in evil._repr_html_()
    assert repr(analysis).startswith("<Analysis of 'state': 40 samples, 60 features, ")


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda X: X.to_numpy()[:, :59], {}, "X has 59 columns, but the model has 60 features"),
        (lambda X: np.c_[X, X[["g0"]]], {}, "X has 61 columns, but the model has 60 features"),
        (lambda X: X, {"offset": np.zeros(40)}, "offset was given, but the model has none"),
        (lambda X: X, {"covariates": np.zeros(40)}, "The model has 0 covariates, but 1 were given"),
        (lambda X: X, {"missing": "columns"}, "Pass missing='mean' or 'rows'"),
        (lambda X: X, {"transpose": True}, "transpose is for files, but X is in memory"),
    ],
)
def test_new_samples_that_do_not_fit_the_model(study, analysis, make, options, message):
    with pytest.raises(ValueError, match=message):
        analysis.predict(make(study.genes + 0.1), **options)


def test_new_samples_without_a_feature_are_predicted_with_a_warning(study, analysis):
    weakest = analysis.features["feature"][-1]
    with pytest.warns(ispca.DataWarning, match=f"lacks 1 of the 60 features of the model.*{weakest}"):
        analysis.predict(study.genes.drop(columns=weakest) + 0.1)


def test_errors_say_what_helps(study, analysis, tmp_path):
    with pytest.raises(TypeError, match=r"predict has no setting 'sample'. Did you mean samples"):
        analysis.predict(study.genes, sample="sheet.csv")
    with pytest.raises(ValueError, match=r"classes that the model does not know \(sick; it knows ill, well\)"):
        analysis.evaluate(study.genes + 0.1, ["sick"] * 40)
    with pytest.raises(SettingError, match="format must be one of html, markdown, json, got 'pdf'"):
        analysis.save(tmp_path / "results", format="pdf")
    with pytest.raises(ValueError, match="or pass format"):
        analysis.report(tmp_path / "report.txt")
    assert analysis.report(tmp_path / "report.txt", format="markdown").is_file()
    with pytest.raises(SettingError, match="Choose another folder, new or empty"):
        analysis.save(tmp_path)
    for path in (tmp_path / "report.txt", tmp_path / "nowhere"):
        with pytest.raises(ModelFileError, match="There is no folder"):
            ispca.load(path)


def test_features_and_methods_are_given_by_name(analysis):
    selector = analysis.select(always=["g5"], never="g7", max_size=2, folds=0, draws=40)
    assert all(5 in panel and 7 not in panel for panel in selector.panels_[1:])
    assert "max_features" not in selector.message_
    with pytest.raises(ValueError, match=r"There is no feature 'G5'. Did you mean g5"):
        analysis.select(always="G5")
    assert list(analysis.compare("lasso", n_splits=2, n_jobs=1).methods) == ["lasso"]
