"""
Stability: which features recur in other samples?
=================================================

This example measures how much a list of genes depends on the sample. Another sample of 60 patients would give a
different list. ``stability`` refits the reduction on many subsets of the data and counts how often each gene is
selected.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.plots import plot_stability
from ispca.validation import stability

data = make_expression(n_samples=60, n_features=800, signal=0.8, random_state=1)
result = stability(
    ISPCA(max_features=50, n_permutations=200), data.data, data.target, n_components=1, cv=12, n_jobs=1
)

# %%
# The fraction of splits that select each feature, compared with random selection.

plot_stability(result, n_features=20)

# %%
# The component is more stable than its list of genes: correlated genes replace each other, and their combination
# changes little. The chance level comes from the same reduction with a permuted target, because strong
# directions recur even without a target.

row = result.components[0]
print(f"similarity of scores between splits: {row.similarity:.2f} (chance {row.chance_similarity:.2f})")
print(f"overlap of the selected features:    {row.overlap:.2f} (chance {row.chance_overlap:.2f})")
truth = data.relevant[result.table.feature.astype(int)]
print(f"{truth[:20].sum()} of the 20 most frequent features are truly relevant")
