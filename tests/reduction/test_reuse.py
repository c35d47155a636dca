"""Results reused between reductions of the same data: computed once, and the same as without reuse."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from ispca import ISPCA, SPCA, KernelClassifier
from ispca.kernels import base as _kernel_base
from ispca.reduction import algorithm, permutation
from ispca.reduction.design.dense import DenseDesign
from ispca.reduction.design.sparse import SparseDesign
from ispca.reduction.reuse import Reuse, find_reuse, share_results
from ispca.transformers import base as _transformer_base
from ispca.transformers import ispca_transformer

REDUCTIONS = [
    ISPCA(5, n_supervised=0, random_state=3),
    SPCA(5, random_state=3),
    SPCA(5, n_supervised=2, random_state=3, n_features=30),
    ISPCA(5, random_state=3),
    ISPCA(5, test="residual", random_state=3),
    ISPCA(5, alpha=None, whiten=True, random_state=3),
    ISPCA(5, exclude=[0, 1], random_state=3),
    ISPCA(5, center=False, random_state=3),
    ISPCA(5, random_state=4),
    ISPCA(5, test="residual", cross_fit=4, random_state=3),
    ISPCA(test="residual", cross_fit=4, random_state=3),
    ISPCA(1, test="residual", cross_fit=4, random_state=3),
    ISPCA(5, cross_fit=4, whiten=True, random_state=3),
    ISPCA(5, cross_fit=3, random_state=3),
    ISPCA(5, cross_fit=3, shrink_scores=True, random_state=3),
    SPCA(5, cross_fit=4, random_state=3),
    SPCA(5, n_features=30, cross_fit=4, random_state=3),
]


def learned(reduction):
    return {name: value for name, value in vars(reduction).items() if isinstance(value, np.ndarray)}


def fit_all(X, y):
    return [learned(clone(item).fit(X, y)) for item in REDUCTIONS]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_results_do_not_depend_on_reuse(expression, container):
    X, y, _ = expression
    X = container(np.where(np.abs(X) > 3, X, 0.0))
    alone = fit_all(X, y)
    with share_results(X):
        together, again = fit_all(X, y), fit_all(X, y)
    for first, second, third in zip(alone, together, again, strict=True):
        assert first.keys() == second.keys()
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name], err_msg=name)
            np.testing.assert_array_equal(value, third[name], err_msg=name)


def counted(monkeypatch, owner, name, calls):
    original = getattr(owner, name)

    def count(*args, **kwargs):
        calls.append(name)
        return original(*args, **kwargs)

    count.__name__ = name
    monkeypatch.setattr(owner, name, count)


@pytest.mark.parametrize("kind", [DenseDesign, SparseDesign])
def test_the_reductions_of_a_split_share_their_work(monkeypatch, expression, kind):
    X, y, _ = expression
    X = sp.csr_array(X) if kind is SparseDesign else X
    calls = []
    counted(monkeypatch, _transformer_base, "make_design", calls)
    counted(monkeypatch, permutation, "drawn_parts", calls)
    counted(monkeypatch, kind, "compute_sample_gram", calls)
    unsupervised = [ISPCA(count, n_supervised=0) for count in (5, 3)]
    with share_results(X):
        for reduction in unsupervised:
            reduction.fit(X, y)
        assert calls.count("compute_sample_gram") == 1
        SPCA(5, random_state=3).fit_transform(X, y)
        drawn = calls.count("drawn_parts")
        assert drawn > 0
        ISPCA(5, random_state=3).fit(X, y)
    assert calls.count("drawn_parts") == drawn
    assert calls.count("make_design") == 1
    calls.clear()
    for reduction in (*unsupervised, SPCA(5, random_state=3), ISPCA(5, random_state=3)):
        reduction.fit(X, y)
    assert calls.count("make_design") == 4
    assert calls.count("compute_sample_gram") >= 2
    assert calls.count("drawn_parts") > drawn


def test_kernels_share_the_design_of_reductions(monkeypatch, expression):
    X, y, _ = expression
    calls = []
    counted(monkeypatch, _transformer_base, "make_design", calls)
    counted(monkeypatch, _kernel_base, "make_design", calls)
    with share_results(X):
        ISPCA(5, n_supervised=0).fit(X, y)
        KernelClassifier().fit(X, y)
        assert len(calls) == 1
        ISPCA(5, n_supervised=0, scale=np.full(X.shape[1], 2.0)).fit(X, y)
        assert len(calls) == 2


def test_reductions_with_the_same_supervised_steps_share_them(monkeypatch, expression):
    X, y, _ = expression
    calls = []
    counted(monkeypatch, algorithm, "supervised_step", calls)
    counted(monkeypatch, ispca_transformer, "iterated_components", calls)
    options = {"cross_fit": 4, "random_state": 3}
    with share_results(X):
        small = ISPCA(**options).fit(X, y)
        assert small.n_supervised_ > 0
        assert calls.count("supervised_step") == len(small.steps_)
        assert calls.count("iterated_components") == 4
        ISPCA(small.n_supervised_ + 2, **options).fit(X, y)
        assert calls.count("supervised_step") == len(small.steps_)
        assert calls.count("iterated_components") == 4
        ISPCA(max_features=20, **options).fit(X, y)
    assert calls.count("supervised_step") > len(small.steps_)
    assert calls.count("iterated_components") == 8


def test_later_fits_continue_the_steps_of_earlier_ones(monkeypatch, expression):
    X, y, _ = expression
    calls = []
    counted(monkeypatch, algorithm, "supervised_step", calls)
    alone = ISPCA(4, alpha=None, random_state=3).fit(X, y)
    calls.clear()
    with share_results(X):
        for count in (2, 4):
            found = ISPCA(count, alpha=None, random_state=3).fit(X, y)
            assert len(calls) == count
    np.testing.assert_array_equal(found.components_, alone.components_)


def test_a_fit_that_wants_fewer_components_takes_no_further_steps(expression):
    X, y, _ = expression
    with share_results(X):
        larger = ISPCA(random_state=3).fit(X, y)
        assert not larger.steps_[-1].accepted
        for count in range(1, larger.n_supervised_ + 1):
            found, alone = (ISPCA(count, random_state=3).fit(data, y) for data in (X, X.copy()))
            assert [step.p_value for step in found.steps_] == [step.p_value for step in alone.steps_]
            np.testing.assert_array_equal(found.components_, alone.components_)


def test_copies_are_other_data(expression):
    X = expression[0]
    changed = X.copy()
    changed[:, 0] *= -1
    with share_results(X):
        first, second = (ISPCA(2, n_supervised=0).fit(data).components_ for data in (X, changed))
    np.testing.assert_array_equal(second, ISPCA(2, n_supervised=0).fit(changed).components_)
    assert not np.array_equal(first, second)


def test_a_dead_object_gives_its_place_to_no_other():
    reuse = Reuse()
    assert [reuse.get(np.full(3, i), "key", lambda i=i: i) for i in range(100)] == list(range(100))


def test_an_error_is_not_remembered():
    reuse, item = Reuse(), object()
    with pytest.raises(ZeroDivisionError):
        reuse.get(item, "key", lambda: 1 / 0)
    assert reuse.get(item, "key", lambda: 5) == 5


def test_sharing_ends_with_its_block_and_belongs_to_one_object():
    X, other = np.eye(2), np.eye(2)
    with share_results(X):
        outer = find_reuse(X)
        assert outer is not None
        assert find_reuse(other) is None
        with share_results(other):
            assert find_reuse(X) is None
            assert find_reuse(other) is not None
        with suppress(ZeroDivisionError), share_results(other):
            raise ZeroDivisionError
        assert find_reuse(X) is outer
    assert find_reuse(X) is None
