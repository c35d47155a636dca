"""The suggested size follows from fixed rules on arrays, and a sentence says why."""

import numpy as np
import pytest

from ispca.selection.suggestion import (
    Differences,
    draws_message,
    overlap_factor,
    paired_differences,
    suggest_size,
    suggest_unvalidated_size,
    suggest_without_reference,
)


def given(mean, error):
    return Differences(np.asarray(mean, dtype=float), np.broadcast_to(np.asarray(error, dtype=float), len(mean)))


def test_differences_are_paired(rng):
    reference = rng.normal(size=50)
    log_density = np.stack([reference - 0.25, reference + rng.normal(size=50)])
    differences = paired_differences(log_density, reference)
    np.testing.assert_allclose(differences.mean, (log_density - reference).mean(axis=1))
    np.testing.assert_allclose(differences.error[1], (log_density[1] - reference).std(ddof=1) / np.sqrt(50))
    # A constant difference has no error, however much the densities vary.
    np.testing.assert_allclose(differences.error[0], 0, atol=1e-15)


def test_weights_count_samples(rng):
    reference, log_density = rng.normal(size=30), rng.normal(size=(2, 30))
    weights = rng.integers(0, 3, size=30)
    repeated = np.repeat(np.arange(30), weights)
    counted = paired_differences(log_density, reference, weights.astype(float))
    np.testing.assert_allclose(counted, paired_differences(log_density[:, repeated], reference[repeated]))


def test_chance_gives_no_features():
    suggestion = suggest_without_reference(given([-0.19, -0.05, 0.3], 0.1), given([0, 0.14, 0.19], 0.1), 0)
    assert suggestion.size == 0
    assert "does not predict held-out samples significantly better than the base rate" in suggestion.message
    assert "difference 0.190 nats per sample, standard error 0.100" in suggestion.message
    few = suggest_without_reference(given([-0.19, 0.3], 0.1), given([0, 0.49], 0.1), 0, judged=False)
    assert few.size == 0
    assert few.message.startswith("There are too few events")


def test_a_panel_can_beat_chance_where_the_reference_does_not():
    differences, gains = given([-0.19, -0.05, 0.3], 0.1), given([0, 0.19, 0.49, 0.6], 0.1)
    suggestion = suggest_without_reference(differences, gains, 0)
    assert suggestion.size == 2
    assert ", but 2 features do (difference 0.490 nats per sample, standard error 0.100). " in suggestion.message
    assert "A better reference, such as a stack," in suggestion.message
    # A stack is the best reference there is.
    of_stack = suggest_without_reference(differences, gains, 0, stacked=True)
    assert of_stack.message.endswith("standard error 0.100).")
    assert suggest_without_reference(differences, gains, 3).size == 3


def test_errors_grow_because_folds_share_training_samples():
    assert overlap_factor(10, 1 / 9) == pytest.approx(np.sqrt(1 + 10 / 9))
    assert overlap_factor(1, 0.0) == 1


def test_the_smallest_size_within_one_standard_error():
    mean = [-0.6, -0.4, -0.11, -0.1, 0.0]
    suggestion = suggest_size(given(mean, 0.1), 0, True)
    assert suggestion.size == 3
    assert suggestion.message.startswith("3 features predict held-out samples as well as the reference")
    assert suggest_size(given(mean, [0.1, 0.1, 0.12, 0.1, 0.1]), 0, True).size == 2
    assert suggest_size(given([-0.6, 0.0], 0.1), 0, True).message.startswith("1 feature predicts")


def test_a_reference_that_predicts_gets_features():
    # Confident mistakes of the reference make no features its match, and the first feature adds nothing.
    assert suggest_size(given([-0.05, -0.06, 0.1, 0.2], 0.1), 0, True).size == 2
    assert suggest_size(given([0.3, 0.2, 0.1], 0.1), 0, True).size == 1
    assert suggest_size(given([0.0], 0.1), 0, True).size == 0


def test_wanted_features_are_never_dropped():
    assert suggest_size(given([-0.6, 0.0, 0.0, 0.0], 0.1), 2, True).size == 2


def test_no_submodel_matches():
    mean = [-0.9, -0.5, -0.3, -0.4]
    suggestion = suggest_size(given(mean, 0.1), 0, True)
    assert suggestion.size == 2
    assert "No submodel of up to 3 features" in suggestion.message
    assert "Raise ⟦max_features⟧" in suggestion.message
    message = suggest_size(given(mean, 0.1), 0, False).message
    assert "Raise" not in message
    assert "a way that a submodel cannot reproduce" in message


@pytest.mark.parametrize(
    ("divergence", "n_always", "size"),
    [
        ([1.0, 0.4, 0.05, 0.01], 0, 2),
        ([1.0, 0.4, 0.05, 0.01], 3, 3),
        ([1.0, 0.9, 0.8], 0, 2),
        ([0.0, 0.0], 0, 0),
        ([0.3], 0, 0),
    ],
)
def test_without_validation(divergence, n_always, size):
    suggestion = suggest_unvalidated_size(np.array(divergence), n_always)
    assert suggestion.size == size
    assert suggestion.message.startswith("Not validated: ")


def test_too_few_draws():
    halves = np.array([[0.0, 0.2], [0.1, 0.2]])
    assert draws_message(halves, 0.11, 400) == ""
    assert "Raise ⟦n_draws⟧ above 400" in draws_message(halves, 0.09, 400)
    assert draws_message(halves, 0.09, 400, np.array([0.0, 1.0])) == ""
