"""Work shared between reductions of the same data: done once, and with the same result."""

import numpy as np
import pytest
import scipy.sparse as sp

from ispca import ISPCA, SPCA, _transformer_base
from ispca._sharing import shared, sharing
from ispca.reduction import permutation
from ispca.reduction.design.dense import DenseDesign
from ispca.reduction.design.sparse import SparseDesign

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
]


def learned(reduction):
    return {name: value for name, value in vars(reduction).items() if isinstance(value, np.ndarray)}


def fit_all(X, y):
    return [learned(type(item)(**item.get_params()).fit(X, y)) for item in REDUCTIONS]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_results_do_not_depend_on_sharing(expression, container):
    X, y, _ = expression
    X = container(np.where(np.abs(X) > 3, X, 0.0))
    alone = fit_all(X, y)
    with sharing():
        together = fit_all(X, y)
        again = fit_all(X, y)
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
    counted(monkeypatch, permutation, "draw_permutations", calls)
    counted(monkeypatch, kind, "_sample_gram", calls)
    unsupervised = [ISPCA(count, n_supervised=0) for count in (5, 3)]
    with sharing():
        for reduction in unsupervised:
            reduction.fit(X, y)
        assert calls.count("_sample_gram") == 1
        SPCA(5, random_state=3).fit(X, y)
        drawn = calls.count("draw_permutations")
        assert drawn > 0
        ISPCA(5, random_state=3).fit(X, y)
        assert calls.count("draw_permutations") == drawn
        assert calls.count("make_design") == 1
    calls.clear()
    for reduction in (*unsupervised, SPCA(5, random_state=3), ISPCA(5, random_state=3)):
        reduction.fit(X, y)
    assert calls.count("make_design") == 4
    assert calls.count("_sample_gram") >= 2
    assert calls.count("draw_permutations") > drawn


def test_copies_are_other_data(expression):
    X = expression[0]
    with sharing():
        first = ISPCA(2, n_supervised=0).fit(X).components_
        changed = X.copy()
        changed[:, 0] *= -1
        second = ISPCA(2, n_supervised=0).fit(changed).components_
    np.testing.assert_array_equal(second, ISPCA(2, n_supervised=0).fit(changed).components_)
    assert not np.array_equal(first, second)


def test_a_dead_object_gives_its_place_to_no_other():
    with sharing():
        values = [shared(lambda i=i: i, (np.full(3, i),), "key") for i in range(100)]
    assert values == list(range(100))


def test_nothing_is_kept_after_the_block():
    made = []

    def make():
        made.append(1)
        return len(made)

    item = object()
    with sharing():
        assert shared(make, (item,)) == shared(make, (item,)) == 1
        with sharing():
            assert shared(make, (item,)) == 2
        assert shared(make, (item,)) == 1
    assert shared(make, (item,)) == 3


def test_an_error_is_not_remembered():
    item = object()
    with sharing():
        with pytest.raises(ZeroDivisionError):
            shared(lambda: 1 / 0, (item,))
        assert shared(lambda: 5, (item,)) == 5
