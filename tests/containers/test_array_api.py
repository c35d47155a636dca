"""Arrays of other libraries: results stay where X is, and everything else goes on as with NumPy."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier
from ispca.containers.array_api import on_host, wrap
from ispca.persistence import load_model, save_model
from ispca.reduction.design import device

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 25)
    X = rng.normal(size=(50, 600))
    X[:, :30] += 2 * y[:, None]
    return X, y


def test_results_stay_in_the_library_and_its_precision(data):
    X, y = data
    for dtype in (torch.float32, torch.float64):
        model = ISPCA(4, random_state=0).fit(torch.tensor(X, dtype=dtype), torch.tensor(y))
        assert model.components_.dtype == model.directions_.dtype == dtype
        assert isinstance(model.mean_, torch.Tensor)
        Z = model.transform(torch.tensor(X, dtype=dtype))
        assert isinstance(Z, torch.Tensor)
        assert Z.dtype == dtype


def test_a_model_of_tensors_transforms_arrays_and_carries_coefficients_back(data):
    X, y = data
    expected = ISPCA(4, random_state=0).fit(X, y)
    model = ISPCA(4, random_state=0).fit(torch.tensor(X), y)
    np.testing.assert_allclose(model.transform(X), expected.transform(X), atol=1e-9)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), expected.inverse_transform(expected.transform(X))
    )
    coef = model.original_coefficients([1.0, 0.0, 0.0, 0.0])[0]
    np.testing.assert_allclose(coef, expected.original_coefficients([1.0, 0.0, 0.0, 0.0])[0], atol=1e-12)


def test_a_pipeline_with_a_model(data):
    X, y = data
    pipeline = make_pipeline(
        ISPCA(3, random_state=0), HorseshoeClassifier(random_state=0, n_chains=2, n_draws=200)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = pipeline.fit(X, y).predict_proba(X)
        found = pipeline.fit(torch.tensor(X), torch.tensor(y)).predict_proba(torch.tensor(X))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_model_of_tensors_is_stored_as_arrays(data, tmp_path):
    X, y = data
    model = ISPCA(3, random_state=0).fit(torch.tensor(X), y)
    save_model(model, tmp_path / "model.ispca")
    np.testing.assert_allclose(load_model(tmp_path / "model.ispca").transform(X), model.transform(X))


DISPATCH = """
import sklearn, torch
from ispca import ISPCA
sklearn.set_config(array_api_dispatch=True)
generator = torch.Generator().manual_seed(0)
X, y = torch.randn((30, 80), generator=generator), torch.arange(30) % 2
Z = ISPCA(3, n_supervised=0).fit(X, y).transform(X)
assert isinstance(Z, torch.Tensor) and Z.shape == (30, 3)
"""


def test_array_api_dispatch_of_scikit_learn():
    # SciPy reads the variable when it is imported.
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-W", "ignore", "-c", DISPATCH], env=environment, check=True)


def test_gradients_and_reduced_precision_of_the_user_are_left_alone(data):
    X, y = data
    torch.set_float32_matmul_precision("medium")
    try:
        X = torch.tensor(X, requires_grad=True)
        ISPCA(3, random_state=0).fit(X, y)
        assert X.requires_grad
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")


class OutOfMemoryError(RuntimeError):
    """What PyTorch and CuPy call it."""


def test_a_device_out_of_memory_gets_smaller_blocks_and_says_so_once(data, monkeypatch):
    X, y = data
    widths = []
    standardize = device.blockwise.standardized

    def limited(columns, *arguments, **settings):
        width = settings["width"] or len(columns[3])
        if width > 100:
            raise OutOfMemoryError("no memory left")
        widths.append(width)
        return standardize(columns, *arguments, **settings)

    expected = ISPCA(4, random_state=0).fit(torch.tensor(X), y)
    monkeypatch.setattr(device, "BLOCK_BYTES", 8 * 2**15)
    monkeypatch.setattr(device.Blocks.__init__, "__defaults__", (2**15,))
    monkeypatch.setattr(device.blockwise, "standardized", limited)
    with pytest.warns(UserWarning, match="smaller blocks") as found:
        model = ISPCA(4, random_state=0).fit(torch.tensor(X), y)
    assert len(found) == 1
    assert max(widths) <= 100
    torch.testing.assert_close(model.components_, expected.components_)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (torch.zeros(5), "X has 1 dimensions"),
        (torch.eye(5).to_sparse(), "X is a sparse tensor"),
        (torch.zeros((5, 5), dtype=torch.complex64), "X holds complex64 values"),
        (torch.zeros((5, 5), dtype=torch.bfloat16), "X holds bfloat16 values: convert it to float32"),
    ],
)
def test_what_is_not_a_matrix_of_numbers_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        ISPCA().fit(X, np.arange(5) % 2)


@pytest.mark.parametrize(
    "estimator", [ISPCA(random_state=0), ISPCA(2, n_supervised=1, alpha=None), SPCA(1, n_supervised=0)], ids=str
)
@pytest.mark.filterwarnings("ignore:No single feature")
def test_a_single_unsupervised_component(estimator):
    X, y = np.random.default_rng(0).normal(size=(30, 60)), np.arange(30) % 2
    expected = clone(estimator).fit(X, y).components_
    np.testing.assert_allclose(estimator.fit(torch.tensor(X), y).components_, expected, atol=1e-10)


def test_missing_values_of_new_samples_are_named(data):
    X, y = data
    model = ISPCA(3, random_state=0).fit(torch.tensor(X), y)
    new = torch.tensor(X)
    new[0, 17] = torch.nan
    with pytest.raises(ValueError, match=r"1 column, 17 \(1\)"):
        model.transform(new)


def test_other_objects_are_not_touched():
    values = [1, 2]
    assert on_host(values) is values
    assert wrap(torch.eye(3)).shape == (3, 3)
