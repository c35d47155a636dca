"""
Diabetes: what blood tests add to age and sex
=============================================

This example predicts the progression of diabetes in 442 patients one year after the measurements (real data,
part of scikit-learn; Efron et al., 2004). Age and sex are known without a laboratory, so the components are
adjusted for them.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from ispca import ISPCA, HorseshoeRegressor, original_coefficients
from ispca.plots import plot_coefficients, plot_scores

diabetes = load_diabetes(as_frame=True, scaled=False)
X, y = diabetes.data.assign(sex=diabetes.data["sex"].map({1.0: "one", 2.0: "other"})), diabetes.target

# %%
# ``adjust`` names the covariates. Features and target are adjusted for them before any component is found.
# The source does not say which sex is which.

model = make_pipeline(
    ISPCA(n_components=5, family="gaussian", adjust=["age", "sex"], whiten=True, cross_fit=10, random_state=0),
    HorseshoeRegressor(n_warmup=300, n_draws=300, random_state=0),
)
model.fit(X, y)
print("supervised components:", model[0].n_supervised_)
plot_scores(model, X, y)

# %%
# Held-out R² in ten folds, in which components and model are found anew, compared with age and sex alone and
# with least squares. With ten features and 442 patients, least squares is hard to beat, and ISPCA does not beat
# it. What it adds is which measurements belong together.

folds = KFold(10, shuffle=True, random_state=0)
numbers = diabetes.data
candidates = {
    "age and sex alone": (LinearRegression(), numbers[["age", "sex"]]),
    "least squares": (LinearRegression(), numbers),
    "ISPCA adjusted for age and sex": (model, X),
}
for name, (method, table) in candidates.items():
    print(f"{name}: R² {cross_val_score(method, table, y, cv=folds).mean():.2f}")

# %%
# Cholesterol (s1) and LDL (s2) are almost the same measurement (r = 0.90). Least squares gives them large
# coefficients of opposite signs, which nobody should interpret. ISPCA gives them small ones.

least_squares = LinearRegression().fit((numbers - numbers.mean()) / numbers.std(), y)
table = original_coefficients(model)
for name in ("bmi", "s5", "s1", "s2"):
    plain = least_squares.coef_[numbers.columns.get_loc(name)]
    ours = table.per_sd[table.feature == name][0]
    print(f"{name}: least squares {plain:+.0f}, ISPCA {ours:+.0f} per standard deviation")
plot_coefficients(model, n_features=10)
