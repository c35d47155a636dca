"""
Which method? Compare whole procedures
======================================

``compare`` refits everything in every split: standardising, screening, components, model. What it reports is
the mean log predictive density of samples that nothing has seen, with intervals that allow for overlapping
splits.
"""

from ispca import HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.validation import compare, paper_methods

data = make_expression(n_samples=80, n_features=600, n_relevant=2, signal=0.9, random_state=3)

# Few splits and short chains keep this page quick; take cv=50 and the default chains for your own data.
short = HorseshoeClassifier(n_warmup=200, n_draws=400, retry=False)
methods = paper_methods(n_components=15, model=short)
chosen = {name: methods[name] for name in ("PCA", "SPCA", "ISPCA", "ISPCA-small", "lasso", "ridge")}

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # such short chains warn
    result = compare(chosen, data.data, data.target, cv=8, n_jobs=1)
print(result)

# %%
# The dashed line is the baseline. Eight splits of eighty samples cannot tell close methods apart, and the
# intervals say so.

result.plot()

# %%
# Other measures come from the same fits.

result.plot("accuracy")
