"""
Are the predicted probabilities calibrated?
===========================================

This example checks the calibration of predicted probabilities. Events predicted with a probability of 0.9 should
occur nine times in ten. The check needs held-out samples, for which the *entire* procedure is refitted:
cross-validating the pipeline repeats the screening, the components and the model in every fold.
"""

from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.plots import plot_calibration, plot_probabilities

data = make_expression(n_samples=200, n_features=500, signal=0.7, random_state=8)
model = make_pipeline(
    ISPCA(n_components=10, whiten=True, n_permutations=200, random_state=0),
    HorseshoeClassifier(n_warmup=300, n_draws=300, random_state=0),
)
held_out = cross_val_predict(model, data.data, data.target, cv=5, method="predict_proba")

# %%
# Each point is a patient, with the true class and the held-out predicted probability.

plot_probabilities(held_out, None, data.target)

# %%
# On the diagonal, predictions are calibrated. The bars are exact 95% intervals. With 200 samples they are wide,
# and deviations within them are not significant.

plot_calibration(held_out, None, data.target, n_bins=6)
