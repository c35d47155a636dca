"""
How many supervised components?
===============================

There is always a gene that correlates with the diagnosis: the best of 2,000 does so by chance. The question
before every step is whether the largest correlation is larger than it would be if the labels were shuffled.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import component_table, plot_components, plot_permutations

data = make_expression(n_samples=90, n_features=2000, n_classes=3, signal=1.5, random_state=3)
ispca = ISPCA(n_components=12, n_permutations=500, random_state=0).fit(data.data, data.target)

# %%
# One row per step: the grey distribution is what shuffled labels give, the line is the data. The steps end
# where the line lies inside the grey.

plot_permutations(ispca, data.data, data.target)

# %%
# After that, ordinary components of what is left fill up to ``n_components``. They are ordered by the
# variance they explain and were not chosen for the classes.

plot_components(ispca)

# %%
# The same in numbers.

for row in component_table(ispca)[:3]:
    print(f"{row.component}. {row.kind}, {row.n_features} features, p = {row.p_value:.3f}")

# %%
# On data without any signal the first test fails, except in a share ``alpha`` of cases. ISPCA then says so in
# a warning and returns one ordinary component, so that a pipeline goes on.

import warnings

shuffled = data.target[::-1].copy()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nothing = ISPCA(random_state=0).fit(data.data[:, ~data.relevant], shuffled)
print(nothing.n_supervised_, [str(warning.message) for warning in caught])
