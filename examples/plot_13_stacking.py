"""
Do not choose: stack
====================

Which reduction is best depends on the data, and picking the winner of a cross-validation picks noise.
Stacking mixes the predicted probabilities, with weights from out-of-fold predictions.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier, PenalisedClassifier, StackedClassifier
from ispca.datasets import make_expression

data = make_expression(n_samples=160, n_features=600, signal=0.8, random_state=11)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0, stratify=data.target)

# Short chains for this page; StackedClassifier() alone brings seven candidates with full ones.
short = HorseshoeClassifier(n_chains=2, n_warmup=200, n_draws=200, retry=False)
candidates = {
    "PCA": make_pipeline(ISPCA(12, n_supervised=0, whiten=True), short),
    "SPCA": make_pipeline(SPCA(12, whiten=True), short),
    "ISPCA": make_pipeline(ISPCA(12, whiten=True), short),
    "lasso": PenalisedClassifier(choice="best"),
    "ridge": PenalisedClassifier(penalty="ridge", choice="best"),
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # such short chains warn
    stack = StackedClassifier(candidates, cv=4, n_jobs=1, random_state=0).fit(X_train, y_train)

# %%
# The weights, and what each candidate and the mixture lose on new samples (the negative log density: smaller
# is better).

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
names = list(stack.estimators_)
axes[0].barh(names, stack.weights_, color="#0072B2")
axes[0].set(xlabel="weight")
losses = [log_loss(y_test, model.predict_proba(X_test)) for model in stack.estimators_.values()]
losses.append(log_loss(y_test, stack.predict_proba(X_test)))
axes[1].barh([*names, "stack"], losses, color=["#999999"] * len(names) + ["#D55E00"])
axes[1].set(xlabel="log loss of 40 new samples")
for ax in axes:
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)

# %%
# On one data set the mixture need not be the best, only hardly ever among the worst. :doc:`../validation` has
# the numbers over many data sets.

for row in stack.cv_table_:
    density = f"{row.mlpd:+.2f} +- {row.mlpd_error:.2f}"
    print(f"{row.candidate:6s} weight {row.weight:.2f}, out-of-fold log density {density}")
