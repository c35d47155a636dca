"""Leave-one-out accuracies against the obvious loop."""

import numpy as np
import pytest

from paper.separation import gain, separation


def brute_force(Z, y, k):
    """Leave each sample out, and classify it by the others."""
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    centroid, neighbours = [], []
    for i in range(len(Z)):
        others = np.arange(len(Z)) != i
        classes = np.unique(y)
        distances = [np.linalg.norm(Z[i] - Z[others & (y == c)].mean(axis=0)) for c in classes]
        centroid.append(classes[np.argmin(distances)] == y[i])
        far = np.linalg.norm(Z[others] - Z[i], axis=1)
        near = y[others][far <= np.sort(far)[k - 1] + 1e-9]
        votes = np.array([np.sum(near == c) for c in classes])
        winners = classes[votes == votes.max()]
        neighbours.append(np.sum(winners == y[i]) / len(winners))
    return np.mean(centroid), np.mean(neighbours)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("k", [1, 4, 5])
def test_against_brute_force(rng, n_classes, k):
    y = rng.permutation(np.arange(60) % n_classes)
    Z = rng.normal(size=(60, 3)) + y[:, None] * [0.6, 0.0, 0.3]
    found = separation(Z, y, k)
    assert found.accuracy == pytest.approx(brute_force(Z, y, k))


def test_ties_against_brute_force_whatever_the_order(rng):
    y = np.repeat([0, 1], 30)
    Z = rng.integers(0, 3, size=(60, 2)).astype(float)
    found = separation(Z, y).accuracy
    assert found == pytest.approx(brute_force(Z, y, 5))
    order = rng.permutation(60)
    assert separation(Z[order], y[order]).accuracy == pytest.approx(found)


def test_labels_may_be_words_and_scale_does_not_matter(rng):
    y = np.array(["well", "ill"] * 20)
    Z = rng.normal(size=(40, 2)) + (y == "ill")[:, None]
    assert separation(Z, y).accuracy == separation(Z * [1000, 0.01] + 5, y == "ill").accuracy


def test_a_feature_that_is_constant_does_not_count(rng):
    y = np.arange(20) % 2
    Z = rng.normal(size=(20, 1)) + y[:, None]
    padded = np.column_stack([Z, np.zeros(20)])
    assert separation(padded, y).accuracy == separation(Z, y).accuracy


def test_gain(rng):
    y = np.arange(100) % 2
    good, bad = rng.normal(size=(100, 1)) + 5 * y[:, None], rng.normal(size=(100, 1))
    mean, low, high = gain(separation(good, y), separation(bad, y))
    assert 0.3 < low < mean < high
    assert gain(separation(good, y), separation(good, y)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("y", [[0] * 6, [0, 0, 0, 0, 0, 1], [0, 1]])
def test_too_little_to_tell_apart(y):
    with pytest.raises(ValueError, match=r"two classes|do not fit"):
        separation(np.arange(12.0).reshape(6, 2), y)
