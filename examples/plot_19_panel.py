"""
The genes for a panel
=====================

This example finds the few genes that predict as well as a model with all of them. A laboratory that can measure a
handful of genes needs to know how many are enough, which ones, and which others could take their place.
"""

import pandas as pd
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.selection import ProjectionSelector

data = make_expression(n_samples=100, n_features=300, signal=1.5, random_state=0)
X, y = pd.DataFrame(data.data, columns=[f"gene {j}" for j in range(300)]), data.target

# %%
# The reference uses all genes. Its predictions are projected onto few of them, and everything is repeated in five
# folds.

reference = make_pipeline(
    ISPCA(5, whiten=True, random_state=0), HorseshoeClassifier(n_draws=200, n_warmup=200, random_state=0)
)
selector = ProjectionSelector(reference, max_features=8, cv=5, n_jobs=1, random_state=0).fit(X, y)
print(selector.message_)

# %%
# Held-out log density of each panel minus that of the reference, with bars of one standard error.

selector.plot()

# %%
# "Gene a and not gene b" is rarely what the data say. Each selected gene stands for a group of genes that could
# replace it at almost no cost.

for name in selector.panel().feature:
    others = selector.groups_.stands_for[selector.groups_.feature == name]
    print(f"{name} stands for {', '.join(others) or 'itself only'}")

# %%
# What other exchanges would cost, in standard errors of the held-out log density:

first = selector.panel().feature[0]
for row in selector.alternatives(first)[:6]:
    print(f"{row.feature} instead of {first}: {row.cost_in_errors:.2f} standard errors, r = {row.correlation:.2f}")

# %%
# A submodel is an ordinary model, with predictions and coefficients.

panel = selector.submodel()
print("classes of the first samples:", *panel.predict(X[:4]))
for row in selector.panel():
    print(f"{row.feature}: {row['mean']:+.2f}")
