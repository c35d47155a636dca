"""Messages stay readable, whatever the names in them."""

import numpy as np
import pytest

from ispca import ISPCA, PenalizedClassifier, analyze
from ispca.foundation.messages import LONGEST_MESSAGE


def test_long_labels_and_settings_do_not_fill_the_screen(rng):
    X, y = rng.normal(size=(20, 4)), np.repeat(["a" * 3000, "b"], 10).astype(object)
    y[0] = "c" * 3000
    with pytest.warns(UserWarning, match="one member only") as warned:
        ISPCA(1, alpha=None).fit(X, y)
    with pytest.raises(ValueError, match="single training sample") as label:
        PenalizedClassifier().fit(X, y)
    with pytest.raises(ValueError, match="method must be one of") as setting:
        analyze(X, y, method="m" * 3000)
    for said in (warned[0].message, label.value, setting.value):
        assert len(str(said)) <= LONGEST_MESSAGE
