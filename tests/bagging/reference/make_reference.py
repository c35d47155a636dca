"""Write intervals of MAPIE's jackknife+ after bootstrap: ``python make_reference.py`` (needs mapie 1.6).

The files contain which bag leaves out which sample, what each bag predicts for the training samples and then for
new ones, and the ends of the intervals at several levels. With few bags, some samples are in all of them.
"""

from pathlib import Path

import mapie
import numpy as np
from mapie.regression import JackknifeAfterBootstrapRegressor
from sklearn.linear_model import Ridge

LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99]


def make(name, n_samples, n_bags):
    """Fit MAPIE to simulated data, and keep what its bags predict."""
    rng = np.random.RandomState(n_samples)
    X = rng.normal(size=(n_samples + 6, 10))
    y = X[:, 0] + rng.standard_t(3, len(X))
    model = JackknifeAfterBootstrapRegressor(Ridge(), LEVELS, resampling=n_bags, random_state=0)
    model.fit_conformalize(X[:n_samples], y[:n_samples])
    fitted = model._mapie_regressor.estimator_
    _, ends = model.predict_interval(X[n_samples:], allow_infinite_bounds=True)
    np.savez_compressed(
        Path(__file__).parent / f"{name}.npz",
        left_out=np.nan_to_num(fitted.k_).T.astype(bool),
        predictions=np.array([one.predict(X) for one in fitted.estimators_]),
        y=y[:n_samples],
        levels=LEVELS,
        ends=ends,
        version=mapie.__version__,
    )


if __name__ == "__main__":
    make("mapie-30-bags", 37, 30)
    make("mapie-5-bags", 24, 5)
