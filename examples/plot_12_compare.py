"""
Comparing methods on held-out samples
=====================================

This example compares six methods on the same data. In every split, ``compare`` refits the entire procedure:
standardization, screening, components and model. It reports the mean log predictive density of the held-out
samples, with intervals that account for overlapping splits.
"""

from ispca import HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.plots import plot_comparison
from ispca.validation import compare, paper_methods

data = make_expression(n_samples=80, n_features=600, n_relevant=2, signal=0.9, random_state=3)

# Few splits and short chains keep this page fast; use cv=50 and the default chains for your own data.
short = HorseshoeClassifier(n_warmup=200, n_draws=400, retry=False)
methods = paper_methods(n_components=15, model=short)
chosen = {name: methods[name] for name in ("PCA", "SPCA", "ISPCA", "ISPCA-small", "lasso", "ridge")}

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # such short chains trigger convergence warnings
    result = compare(chosen, data.data, data.target, cv=8, n_jobs=1)

# %%
# ``print(result)`` shows this table in a terminal, and a notebook shows it as below.

# sphinx_gallery_capture_repr_block = ("_repr_html_",)
result

# %%
# The dashed line is the baseline. With eight splits of 80 samples, the intervals are too wide to rank similar
# methods.

plot_comparison(result)

# %%
# Other measures are available from the same fits.

plot_comparison(result, "accuracy")
