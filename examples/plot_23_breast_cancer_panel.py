"""
Breast cancer: how many measurements are enough?
================================================

This example looks for a panel of few measurements (real data, part of scikit-learn): 30 properties of cell
nuclei in 569 images of breast tissue, benign or malignant. Many of them measure the same thing, such as
radius, perimeter and area.
"""

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.selection import ProjectionSelector

data = load_breast_cancer(as_frame=True)
y = data.target.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(data.data, y, train_size=150, stratify=y, random_state=0)

# %%
# The reference uses all 30 measurements of 150 images. Panels are validated in five folds.

reference = make_pipeline(
    ISPCA(5, whiten=True, random_state=0), HorseshoeClassifier(n_warmup=200, n_draws=200, random_state=0)
)
selector = ProjectionSelector(reference, max_features=6, cv=5, n_jobs=1, random_state=0).fit(X_train, y_train)
print(selector.message_)
selector.plot()

# %%
# The panel, and what it would cost to replace each measurement by the best others:

for feature in selector.panel().feature:
    print(feature)
    for row in selector.alternatives(feature)[:3]:
        print(f"    or {row.feature}: costs {row.cost_in_errors:.2f} standard errors, r = {row.correlation:+.2f}")

# %%
# The 419 images that took no part in any of this show what leaving out the other measurements costs:

panel, everything = selector.submodel(), reference.fit(X_train, y_train)
for name, model in (("all measurements", everything), (f"panel of {len(selector.panel())}", panel)):
    print(f"{name}: {model.score(X_test, y_test):.1%} of {len(y_test)} new images are classified correctly")
print(
    pd.crosstab(y_test.rename("observed"), pd.Series(panel.predict(X_test), y_test.index, name="panel predicts"))
)
