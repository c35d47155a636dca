"""
Handwritten digits: a component that you can look at
====================================================

This example separates the digits 3 and 8 (real data, part of scikit-learn), with only 40 images to learn
from. Their 64 pixels are strongly correlated, as genes and spectra are. Unlike those, the weights of pixels
can be drawn as an image.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier, PenalizedClassifier, original_coefficients

digits = load_digits()
chosen = np.isin(digits.target, [3, 8])
X, y = digits.data[chosen], digits.target[chosen]
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=40, stratify=y, random_state=0)

# %%
# ISPCA with a horseshoe model, and the lasso, on the remaining images:

model = make_pipeline(
    ISPCA(n_components=10, whiten=True, random_state=0),
    HorseshoeClassifier(n_warmup=300, n_draws=300, random_state=0),
)
lasso = PenalizedClassifier(random_state=0)
for name, method in (("ISPCA", model), ("lasso", lasso)):
    method.fit(X_train, y_train)
    probability = method.predict_proba(X_test)[np.arange(len(y_test)), (y_test == 8).astype(int)]
    print(
        f"{name}: accuracy {np.mean(method.predict(X_test) == y_test):.1%} on {len(y_test)} new images, "
        f"mean log density {np.log(probability).mean():.3f}"
    )

# %%
# The lasso predicts better here: single pixels carry much of the signal. What differs more is the
# picture. These are the difference between the mean images and the coefficients per standard deviation (red:
# more ink means 8). The lasso keeps single pixels, and ISPCA gives weight to whole strokes.

per_unit = original_coefficients(model)["mean"][1:]  # the first row is the intercept
images = {
    "mean of 8 minus mean of 3": X[y == 8].mean(axis=0) - X[y == 3].mean(axis=0),
    "ISPCA": per_unit * X_train.std(axis=0),
    "lasso": lasso.coef_[0] * X_train.std(axis=0),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
for ax, (name, values) in zip(axes, images.items(), strict=True):
    largest = np.abs(values).max()
    ax.imshow(values.reshape(8, 8), cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.set(title=name, xticks=[], yticks=[])
