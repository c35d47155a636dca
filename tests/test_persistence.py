"""Models in files: the same numbers back, and nothing but models."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier, HorseshoeRegressor
from ispca.models.coefficients import coefficients_by_column
from ispca.persistence import ModelFileError, load_model, read_details, save_model
from ispca.persistence.archive import write_archive

SHORT = {"n_draws": 20, "n_warmup": 40, "n_chains": 2, "retry": False, "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 60))
    X[:, :8] += 2 * rng.normal(size=40)[:, None]
    return X, X[:, :8].sum(axis=1)


def classes(y, many):
    return np.array(["low", "high"])[(y > 0) * 1] if many == 2 else np.digitize(y, [-5, 5])


@pytest.fixture(scope="module")
def model(problem):
    X, y = problem
    pipeline = make_pipeline(ISPCA(4, whiten=True, random_state=0), HorseshoeClassifier(**SHORT))
    with pytest.warns(UserWarning, match="NOT converged"):
        return pipeline.fit(X, classes(y, 2))


@pytest.fixture
def file(model, tmp_path):
    path = tmp_path / "model.ispca"
    save_model(model, path, {"target": "state"})
    return path


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("many", [0, 2, 3])
@pytest.mark.parametrize("reduction", [ISPCA, SPCA])
def test_predictions_are_the_same_bit_by_bit(problem, model, tmp_path, many, reduction):
    X, y = problem
    pipeline = model
    if (many, reduction) != (2, ISPCA):
        last = HorseshoeClassifier(**SHORT) if many else HorseshoeRegressor(**SHORT)
        pipeline = make_pipeline(reduction(4, whiten=True, random_state=0), last)
        pipeline.fit(X, classes(y, many) if many else y)
    save_model(pipeline, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    Z = pipeline[0].transform(X)
    assert np.array_equal(loaded[0].transform(X), Z)
    assert np.array_equal(loaded.predict(X), pipeline.predict(X))
    if many:
        assert np.array_equal(loaded.predict_proba(X), pipeline.predict_proba(X))
    else:
        assert np.array_equal(loaded[1].predict_interval(Z), pipeline[1].predict_interval(Z))
    assert np.array_equal(coefficients_by_column(loaded), coefficients_by_column(pipeline))
    assert loaded[1].posterior_.family == {0: "gaussian", 2: "binomial", 3: "multinomial"}[many]
    assert str(loaded[1].diagnostics_) == str(pipeline[1].diagnostics_)
    assert np.array_equal(loaded[0].inverse_transform(Z), pipeline[0].inverse_transform(Z))
    assert loaded.get_params().keys() == pipeline.get_params().keys()
    assert [vars(step).keys() for _, step in loaded.steps] == [vars(step).keys() for _, step in pipeline.steps]


@pytest.mark.parametrize(("cross_fit", "stored"), [(4, 4), (KFold(4), None)])
def test_a_cross_fitted_reduction_without_its_training_scores(problem, tmp_path, cross_fit, stored):
    X, y = problem
    ispca = ISPCA(3, random_state=0, cross_fit=cross_fit).fit(X, y)
    save_model(ispca, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.cross_fit == stored
    assert not hasattr(loaded, "training_scores_")
    assert np.array_equal(loaded.transform(X), ispca.transform(X))


@pytest.mark.parametrize("kind", [ISPCA, SPCA])
def test_shrunken_scores_and_given_scales(problem, tmp_path, kind):
    X, y = problem
    scale = np.linspace(1, 2, X.shape[1])
    reduction = kind(4, n_supervised=1, shrink_scores=True, scale=scale, random_state=0).fit(X, y)
    save_model(reduction, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.shrink_scores is True
    assert np.array_equal(loaded.scale, scale)
    assert np.array_equal(loaded.score_shrinkage_, reduction.score_shrinkage_)
    assert not hasattr(loaded, "training_scores_")
    assert np.array_equal(loaded.transform(X), reduction.transform(X))
    assert np.array_equal(loaded.fit_transform(X, y), reduction.training_scores_)


def test_only_arrays_that_shrink_are_compressed(tmp_path):
    rng = np.random.default_rng(0)
    random, counts = rng.normal(size=100_000), rng.integers(0, 9, 100_000)
    # Mostly zeros, with random numbers at the end.
    mixed = np.concatenate([np.zeros(90_000), random[:10_000]])
    write_archive(tmp_path / "model", b"{}", [random, counts, mixed])
    with zipfile.ZipFile(tmp_path / "model") as archive:
        kinds = [member.compress_type for member in archive.infolist()[1:]]
    assert kinds == [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED]


def test_a_reduction_alone_with_names_and_steps(problem, tmp_path):
    import pandas as pd

    X, y = problem
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    ispca = ISPCA(3, exclude=["gene 50"], random_state=np.random.default_rng(0)).fit(frame, y)
    save_model(ispca, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == list(frame)
    assert np.array_equal(loaded.transform(frame), ispca.transform(frame))
    for name in ("p_value", "p_value_interval", "borderline", "limit_reached"):
        assert [getattr(step, name) for step in loaded.steps_] == [getattr(step, name) for step in ispca.steps_]
    assert np.array_equal(loaded.steps_[0].features, ispca.steps_[0].features)
    assert loaded.random_state is None
    assert loaded.exclude == ["gene 50"]


def test_equal_models_make_equal_files_that_plain_tools_open(model, file, tmp_path):
    save_model(model, tmp_path / "again", {"target": "state"})
    assert file.read_bytes() == (tmp_path / "again").read_bytes()
    assert read_details(file) == {"target": "state"}
    with np.load(file, allow_pickle=False) as arrays:
        assert json.loads(arrays["model.json"])["format"] == "ispca model"
        assert arrays["array0"].dtype.kind in "biufU"


def test_every_flipped_byte_is_noticed(file, tmp_path):
    content = bytearray(file.read_bytes())
    rng = np.random.default_rng(0)
    places = {
        0,
        1,
        5,
        len(content) // 2,
        len(content) - 1,
        len(content) - 64,
        len(content) - 70,
        len(content) - 90,
    }
    places |= set(rng.integers(0, len(content), 150).tolist())
    broken = tmp_path / "broken"
    for place in places:
        content[place] ^= 1 << int(rng.integers(8))
        broken.write_bytes(content)
        with pytest.raises(ModelFileError) as error:
            load_model(broken)
        assert "\n" not in str(error.value)
        content[:] = file.read_bytes()


def test_truncated_and_foreign_files(file, tmp_path):
    content = file.read_bytes()
    for name, wrong in {
        "cut": content[: len(content) // 2],
        "short": content[:-1],
        "longer": content + b"x",
        "empty": b"",
        "text": b"feature,mean\n",
        "pickle": b"\x80\x04\x95",
    }.items():
        (tmp_path / name).write_bytes(wrong)
        with pytest.raises(ModelFileError, match=r"not a model of ispca|truncated|altered"):
            load_model(tmp_path / name)
    np.savez(tmp_path / "foreign.npz", X=np.ones(3))
    with pytest.raises(ModelFileError, match="not a model of ispca"):
        load_model(tmp_path / "foreign.npz")
    with pytest.raises(ModelFileError, match="There is no model file"):
        load_model(tmp_path / "none")
    with pytest.raises(ModelFileError, match="There is no model file"):
        load_model(tmp_path)


def forged(file, change, tmp_path):
    """The file with another description and a checksum that fits it."""
    with zipfile.ZipFile(file) as archive:
        description = json.loads(archive.read("model.json"))
        arrays = [np.load(io.BytesIO(archive.read(f"array{k}.npy"))) for k in range(description["arrays"])]
    change(description, arrays)
    write_archive(tmp_path / "forged", json.dumps(description).encode(), arrays)
    return tmp_path / "forged"


def first_step(description):
    return description["model"]["pipeline"][0][1]


def fitted(description):
    return first_step(description)["fitted"]


def step(description):
    return fitted(description)["steps_"]["list"][0]["fields"]


def draws(description):
    return description["model"]["pipeline"][1][1]["fitted"]["posterior_"]["fields"]


def put(arrays, node, values):
    """Replace the array that a node refers to."""
    arrays[node["array"]] = np.asarray(values)


FORGERIES = {
    "newer": (lambda d, a: d.update(version=99), "newer version"),
    "older": (lambda d, a: d.update(version=2), "older version .* Fit the model again"),
    "family of another model": (lambda d, a: draws(d).update(family="gaussian"), "not those of a binomial model"),
    "family is a number": (lambda d, a: draws(d).update(family=3), "not those of a binomial model"),
    "version 0": (lambda d, a: d.update(version=0), "positive integer"),
    "negative version": (lambda d, a: d.update(version=-1), "positive integer"),
    "version true": (lambda d, a: d.update(version=True), "positive integer"),
    "version 1.0": (lambda d, a: d.update(version=1.0), "positive integer"),
    "other format": (lambda d, a: d.update(format="other"), "not a model of ispca"),
    "no model": (lambda d, a: d.pop("model"), "damaged"),
    "foreign class": (lambda d, a: first_step(d).update(estimator="os.system"), "not allowed"),
    "class of another type": (lambda d, a: first_step(d).update(estimator=[]), "not allowed"),
    "foreign kind": (lambda d, a: d.update(model={"pickle": "x"}), "unknown kind"),
    "foreign record": (
        lambda d, a: fitted(d).update(a_={"record": "Popen", "fields": {}}),
        "not allowed",
    ),
    "record without fields": (
        lambda d, a: fitted(d).update(a_={"record": "Step", "fields": {}}),
        "fields of a Step",
    ),
    "method": (lambda d, a: fitted(d).update(transform="x"), "does not belong"),
    "hidden": (lambda d, a: fitted(d).update(__class__="x"), "does not belong"),
    "no array": (lambda d, a: fitted(d).update(mean_={"array": 999}), "does not exist"),
    "array true": (lambda d, a: fitted(d).update(mean_={"array": True}), "does not exist"),
    "attribute missing": (lambda d, a: fitted(d).pop("n_features_in_"), "n_features_in_ is not an integer"),
    "other shape": (lambda d, a: fitted(d).update(n_components_=99), "impossible values"),
    "number as text": (lambda d, a: fitted(d).update(n_components_="4"), "does not work"),
    "shape is not an array": (lambda d, a: fitted(d).update(mean_=[0.0]), "unknown kind"),
    "mean is text": (lambda d, a: fitted(d).update(mean_="x"), "does not work"),
    "text for numbers": (lambda d, a: put(a, fitted(d)["mean_"], ["x"] * 60), "does not work"),
    "mean of another shape": (lambda d, a: put(a, fitted(d)["mean_"], [1.0] * 59), "does not work"),
    "infinite mean": (
        lambda d, a: put(a, fitted(d)["mean_"], [np.inf] * 60),
        "mean_ contains numbers that are not finite",
    ),
    "scale of zero": (lambda d, a: put(a, fitted(d)["scale_"], [0.0] * 60), "impossible values"),
    "step is not a step": (lambda d, a: fitted(d).update(steps_={"list": [1]}), "not a list of Step"),
    "equal classes": (
        lambda d, a: put(a, d["model"]["pipeline"][1][1]["fitted"]["classes_"], ["a", "a"]),
        "classes_ is not a list of",
    ),
    "draws not a number": (
        lambda d, a: a[draws(d)["coef"]["array"]].fill(np.nan),
        "coef contains numbers that are not finite",
    ),
    "no draws": (lambda d, a: put(a, draws(d)["coef"], np.empty((2, 0, 4))), "does not have one value per draw"),
    "draws of another shape": (
        lambda d, a: put(a, draws(d)["tau"], np.empty((2, 0))),
        "tau does not have one value per draw",
    ),
    "thresholds of two classes": (lambda d, a: draws(d).update(thresholds=1), "thresholds is not None"),
    "an array used twice": (lambda d, a: draws(d).update(sigma=draws(d)["tau"]), "twice"),
    "intercepts of another shape": (lambda d, a: put(a, draws(d)["intercept"], np.zeros((2, 3))), "intercept"),
    "other parameter": (lambda d, a: first_step(d)["parameters"].update(nonsense=1), "the parameters of ISPCA"),
    "value of a parameter": (lambda d, a: first_step(d)["parameters"].update(whiten="perhaps"), "whiten"),
    "a number": (lambda d, a: d.update(model=1), "does not contain a model"),
    "nothing": (lambda d, a: d.update(model=[]), "unknown kind"),
    "deep": (lambda d, a: d.update(model=deep(400)), "levels deep"),
    "long number": (lambda d, a: fitted(d).update(n_components_=10**2000), "digits"),
    "long text": (lambda d, a: d.update(written_by="x" * 2**21), "characters"),
    "half a character": (lambda d, a: d["model"]["pipeline"][0].__setitem__(0, chr(0xD800)), "not Unicode"),
    "two steps of one name": (
        lambda d, a: d["model"]["pipeline"][0].__setitem__(0, "horseshoeclassifier"),
        "name",
    ),
    "steps that do not fit": (lambda d, a: d["model"]["pipeline"].reverse(), "fit together"),
    "step is a number": (lambda d, a: d["model"]["pipeline"][0].__setitem__(1, 1), "not a step"),
    "step of three": (lambda d, a: d["model"]["pipeline"][0].append(1), "damaged"),
    "too many arrays": (lambda d, a: d.update(arrays=1000), "arrays that its description counts"),
    "arrays true": (lambda d, a: d.update(arrays=True), "arrays that its description counts"),
    "arrays negative": (lambda d, a: d.update(arrays=-1), "arrays that its description counts"),
}


def deep(levels):
    node = None
    for _ in range(levels):
        node = {"list": [node]}
    return {"pipeline": [["x", node]]}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_file_is_refused_even_with_the_right_checksum(file, tmp_path, forgery):
    change, message = FORGERIES[forgery]
    with pytest.raises(ModelFileError, match=message):
        load_model(forged(file, change, tmp_path))


def test_details_that_are_something_else_and_a_limit_that_is_none(file, tmp_path):
    with pytest.raises(ModelFileError, match="details"):
        read_details(forged(file, lambda d, a: d.update(details=[1]), tmp_path))
    with pytest.raises(ModelFileError, match="positive integer"):
        read_details(forged(file, lambda d, a: d.update(version=0), tmp_path))
    for wrong in (0, 1e9, "4 GB"):
        with pytest.raises(ValueError, match="max_bytes must be"):
            load_model(file, max_bytes=wrong)


def test_what_cannot_be_stored(problem, tmp_path):
    X, y = problem
    foreign = make_pipeline(ISPCA(2), LogisticRegression()).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"LogisticRegression.*cannot be stored"):
        save_model(foreign, tmp_path / "model")
    reduction = ISPCA(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"Pipeline.*cannot be stored.*no steps"):
        save_model(make_pipeline(reduction, make_pipeline("passthrough")), tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted"):
        save_model(ISPCA(2), tmp_path / "model")
    reduction.mean_[0] = np.nan
    with pytest.raises(ValueError, match="cannot be stored: its mean_ contains numbers that are not finite"):
        save_model(reduction, tmp_path / "model")
    reduction.mean_[0] = 0
    for wrong in ({"deep": deep(100)}, {"long": 10**100}, {"text": "x" * 2**21}):
        with pytest.raises(ValueError, match="This model cannot be stored"):
            save_model(reduction, tmp_path / "model", wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(model, file, monkeypatch):
    before = file.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(model, file)
    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]
