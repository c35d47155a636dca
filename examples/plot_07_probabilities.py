"""
Honest probabilities
====================

A probability of 0.9 should come true nine times in ten. Whether it does can only be seen on samples that the
*whole* procedure has not seen: screening and components are refitted in every fold, because the pipeline is.
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
# Each point is a patient, by class and by the probability that was given before the class was known.

plot_probabilities(held_out, None, data.target)

# %%
# On the diagonal the model knows how much it knows. The bars are exact 95 % intervals: with two hundred
# samples they are wide, and a crossing of the diagonal within them says nothing.

plot_calibration(held_out, None, data.target, n_bins=6)
