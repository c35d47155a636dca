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

# %%
# ISPCA with a horseshoe model, and the lasso with two penalties, in ten random splits. One split would not do:
# the order of the methods changes from split to split.

model = make_pipeline(
    ISPCA(n_components=10, whiten=True, random_state=0),
    HorseshoeClassifier(n_warmup=300, n_draws=300, random_state=0),
)
lasso = PenalizedClassifier(random_state=0)
best = PenalizedClassifier(choice="best", random_state=0)
methods = {"ISPCA": model, "lasso": lasso, "lasso, best penalty": best}
accuracy, density = {name: [] for name in methods}, {name: [] for name in methods}
for split in range(10):
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=40, stratify=y, random_state=split)
    for name, method in methods.items():
        probability = method.fit(X_train, y_train).predict_proba(X_test)
        accuracy[name].append(np.mean(method.predict(X_test) == y_test))
        density[name].append(np.log(probability[np.arange(len(y_test)), (y_test == 8).astype(int)]).mean())
for name in methods:
    print(
        f"{name}: accuracy {np.mean(accuracy[name]):.1%} on {len(y_test)} new images, "
        f"mean log density {np.mean(density[name]):.3f}"
    )

# %%
# All three classify about 93% or 94% of new images correctly. The default penalty of the lasso is the strongest
# one within a standard error of the best, which keeps few pixels and costs log density; the best penalty predicts
# about as well as ISPCA. What differs is the picture.
#
# These are the difference between the mean images and the coefficients per standard deviation in the last split
# (red: more ink means 8). The lasso keeps single pixels, and ISPCA gives weight to whole strokes.

pixels = original_coefficients(model)[1:]  # without the intercept, sorted by effect
per_unit = pixels["mean"][np.argsort(pixels.feature.astype(int))]
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
