"""
What would come back in other samples?
======================================

A list of genes from sixty patients is one of many that sixty patients could have given. ``stability`` refits
the reduction on many parts of the data, and counts.
"""

from ispca import ISPCA
from ispca.datasets import make_expression
from ispca.validation import stability

data = make_expression(n_samples=60, n_features=800, signal=0.8, random_state=1)
result = stability(ISPCA(window=50, n_permutations=200), data.data, data.target, n_components=1, cv=12, n_jobs=1)

# %%
# Features by the share of the splits that use them, beside what random choice would give.

result.plot(n_features=20)

# %%
# The component itself is steadier than its list of genes: correlated genes stand in for each other, and the
# sum of them is much the same. Chance is the same reduction of a shuffled target, since strong directions
# come back without any target.

row = result.components[0]
print(f"scores alike between splits: {row.similarity:.2f} (chance {row.chance_similarity:.2f})")
print(f"overlap of the features:     {row.overlap:.2f} (chance {row.chance_overlap:.2f})")
truth = data.relevant[result.table.feature.astype(int)]
print(f"of the 20 most frequent features {truth[:20].sum()} are truly relevant")
