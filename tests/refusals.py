"""What every refusal of bad input has in common."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ispca import ISPCA, SPCA

BOTH = pytest.mark.parametrize("kind", [ISPCA, SPCA])


def assert_refused(estimator, X, y, *words, error=ValueError):
    """Fitting fails with every word in one message and leaves the estimator unfitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error) as caught:
            estimator.fit(X, y)
    for word in words:
        assert re.search(word, str(caught.value)), f"{word!r} is not in: {caught.value}"
    assert "np." not in str(caught.value), "values are shown as the user wrote them"
    assert not hasattr(estimator, "components_")
    with pytest.raises(NotFittedError):
        estimator.transform(np.zeros((3, 6)))
