"""
Four classes
============

This example analyzes four classes. With more than two classes, every step finds the class that is best
separated from all others and takes its component. Each supervised component thus belongs to a class, which the
plots name.
"""

from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeClassifier
from ispca.datasets import make_expression
from ispca.plots import plot_coefficients, plot_pairs

data = make_expression(n_samples=120, n_features=1000, n_classes=4, n_relevant=4, signal=1.8, random_state=6)
ispca = ISPCA(n_components=6, whiten=True, random_state=0).fit(data.data, data.target)
for number, step in enumerate(ispca.steps_, start=1):
    found = f"separates {step.target_class}, {step.n_features} genes" if step.accepted else "not significant"
    print(f"{number}. {found}")

# %%
# All pairs of the first four components, with the distribution of each by class on the diagonal.

plot_pairs(ispca, data.data, data.target, components=4)

# %%
# Softmax regression on the components. Only differences between classes are identified, so coefficients are
# contrasts with the average class.

model = make_pipeline(ispca, HorseshoeClassifier(n_warmup=300, n_draws=400, random_state=0))
model.fit(data.data, data.target)
plot_coefficients(model, n_features=12, target_class="class 1", feature_names=data.feature_names)
