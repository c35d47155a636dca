"""
Spectra and a quantity: regression with intervals
=================================================

A concentration is to be read off near-infrared spectra. The absorption of interest is a weak band under the
much stronger one of water. Simulated: 200 spectra of 400 wavelengths.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeRegressor
from ispca.plots import plot_profile

rng = np.random.default_rng(0)
wavelength = np.linspace(1000, 1800, 400)


def band(centre, width):
    """Return an absorption band."""
    return np.exp(-0.5 * ((wavelength - centre) / width) ** 2)


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
# The target is a quantity, so ``HorseshoeRegressor`` follows; everything else is the same.

model = make_pipeline(
    ISPCA(n_components=8, whiten=True, random_state=0),
    HorseshoeRegressor(n_warmup=300, n_draws=300, random_state=0),
)
model.fit(X_train, y_train)

# %%
# The first component has found the stronger of the two bands, not the water.

plot_profile(model, 1, positions=wavelength, n_labels=0)
plt.xlabel("wavelength, nm")

# %%
# Predictions of spectra the model has not seen, with their 90 % intervals.

Z = model[0].transform(X_test)
mean = model[-1].predict(Z)
low, high = model[-1].predict_interval(Z).T
figure, ax = plt.subplots(figsize=(5, 4))
ax.errorbar(y_test, mean, [mean - low, high - mean], fmt="o", ms=4, lw=1)
ax.axline((2, 2), slope=1, color="grey", lw=1)
ax.set(xlabel="concentration", ylabel="prediction, 90 % interval")
print(f"{np.mean((low <= y_test) & (y_test <= high)):.0%} of the new spectra inside their 90 % interval")

# %%
# With fifty spectra that share is itself uncertain by some four points. With fewer samples expect less than
# 90 %: the components were chosen with the same targets that the model then explains, so it takes the noise
# for smaller than it is. ``compare`` reports the coverage on held-out samples.
