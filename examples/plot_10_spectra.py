"""
Spectra: regression with prediction intervals
=============================================

This example predicts a concentration from near-infrared spectra, with prediction intervals. The absorption of
interest is a weak band beside the much stronger band of water. The data are 200 simulated spectra with 400
wavelengths.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeRegressor
from ispca.plots import plot_profile

rng = np.random.default_rng(0)
wavelength = np.linspace(1000, 1800, 400)


def band(center, width):
    """Return an absorption band."""
    return np.exp(-0.5 * ((wavelength - center) / width) ** 2)


concentration = rng.uniform(2, 10, 200)
water = rng.normal(20, 3, 200)
spectra = (
    np.outer(water, band(1450, 60))
    + np.outer(concentration, 0.25 * band(1210, 15) + 0.15 * band(1690, 20))
    + np.outer(rng.normal(size=200), np.linspace(-1, 1, 400))
    + 0.5 * rng.normal(size=(200, 400))
)
X_train, X_test, y_train, y_test = train_test_split(spectra, concentration, random_state=0)

# %%
# The target is continuous, so the model is ``HorseshoeRegressor``; everything else is as for classes.

model = make_pipeline(
    ISPCA(n_components=8, whiten=True, random_state=0),
    HorseshoeRegressor(n_warmup=300, n_draws=300, random_state=0),
)
model.fit(X_train, y_train)

# %%
# The first component finds the stronger of the two bands of interest, not water.

plot_profile(model, 1, positions=wavelength, n_labels=0)
plt.xlabel("wavelength, nm")

# %%
# Predictions for held-out spectra, with 90% intervals.

Z = model[0].transform(X_test)
mean = model[-1].predict(Z)
low, high = model[-1].predict_interval(Z).T
figure, ax = plt.subplots(figsize=(5, 4))
ax.errorbar(y_test, mean, [mean - low, high - mean], fmt="o", ms=4, lw=1)
ax.axline((2, 2), slope=1, color="gray", lw=1)
ax.set(xlabel="concentration", ylabel="prediction, 90% interval")
coverage = np.mean((low <= y_test) & (y_test <= high))
print(f"{coverage:.0%} of the held-out concentrations lie in their 90% interval")

# %%
# With 50 spectra, this percentage has a standard error of about four points. With fewer samples, expect less
# than 90%: the same data determine the components and the model, so the model underestimates the noise.
# ``compare`` reports the coverage on held-out samples.
