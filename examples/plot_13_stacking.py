"""
Stacking: combining methods instead of choosing one
===================================================

This example combines five methods into one prediction. Which method is best depends on the data, and the winner
of a cross-validation is partly determined by noise. Stacking averages the predicted probabilities, with weights
estimated from out-of-fold predictions.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, SPCA, HorseshoeClassifier, PenalizedClassifier, StackedClassifier
from ispca.datasets import make_expression

data = make_expression(n_samples=160, n_features=600, signal=0.8, random_state=11)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0, stratify=data.target)

# Short chains keep this page fast; StackedClassifier() by default uses seven candidates and longer chains.
short = HorseshoeClassifier(n_chains=2, n_warmup=200, n_draws=200, retry=False)
candidates = {
    "PCA": make_pipeline(ISPCA(12, n_supervised=0, whiten=True), short),
    "SPCA": make_pipeline(SPCA(12, whiten=True), short),
    "ISPCA": make_pipeline(ISPCA(12, whiten=True), short),
    "lasso": PenalizedClassifier(choice="best"),
    "ridge": PenalizedClassifier(penalty="ridge", choice="best"),
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # such short chains trigger convergence warnings
    stack = StackedClassifier(candidates, cv=4, n_jobs=1, random_state=0).fit(X_train, y_train)

# %%
# The weights, and the log loss of each candidate and of the stack on new samples (smaller is better).

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
names = list(stack.estimators_)
axes[0].barh(names, stack.weights_, color="#0072B2")
axes[0].set(xlabel="weight")
losses = [log_loss(y_test, model.predict_proba(X_test)) for model in stack.estimators_.values()]
losses.append(log_loss(y_test, stack.predict_proba(X_test)))
axes[1].barh([*names, "stack"], losses, color=["#999999"] * len(names) + ["#D55E00"])
axes[1].set(xlabel="log loss on 40 new samples")
for ax in axes:
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The stack need not be the best on every data set, but it is rarely among the worst. See :doc:`../predictions` for
# results on 13 data sets.

for row in stack.cv_table_:
    density = f"{row.mlpd:+.2f} +- {row.mlpd_error:.2f}"
    print(f"{row.candidate:6s} weight {row.weight:.2f}, out-of-fold log density {density}")
