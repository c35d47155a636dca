"""The literal transcription itself: it must give the authors' values before anything is compared with it."""

import numpy as np
import pytest

from naive import literal_ispca, projection_by_matrices, projection_by_vectors


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    "name", ["binary-wide", "four-class", "regression-tall", "degenerate-columns", "toy-two-features"]
)
def test_the_transcription_gives_the_authors_values(reference, name):
    values = reference(name)
    K = values["ispca_w"].shape[1]
    result = literal_ispca(values["X"], values["y"], K, n_supervised=min(4, K))
    for found, expected in ((result.W, "ispca_w"), (result.V, "ispca_v"), (result.Z, "ispca_z")):
        expected = values[expected]
        signs = np.sign((found * expected).sum(axis=0))
        assert np.abs(found * signs - expected).max() <= 1e-8 * np.abs(expected).max()


def test_products_of_matrices_and_the_supplements_short_cut_agree(rng):
    V, B = rng.normal(size=(30, 6)), rng.normal(size=(4, 30)) / 30
    np.testing.assert_allclose(projection_by_matrices(V, B), projection_by_vectors(V, B), atol=1e-12)
