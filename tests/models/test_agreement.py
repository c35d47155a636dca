"""Agreement with Stan: means and quantiles of long runs, in units of their Monte-Carlo error."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

REFERENCE = Path(__file__).parent / "reference"
sys.path.append(str(REFERENCE))
import quantities  # noqa: E402

import problems  # noqa: E402
from ispca.foundation.extras import load_engine  # noqa: E402
from ispca.models.diagnostics import _ess, split_chains  # noqa: E402

QUANTILES = {"q05": 0.05, "q50": 0.50, "q95": 0.95}
SAMPLERS = {
    "sim-logistic": ("nuts", "blocked"),
    "sim-softmax": ("nuts", "blocked"),
    "sim-gaussian": ("blocked",),
    "leukemia": ("nuts", "blocked"),
    "prostate": ("nuts",),
    "glioma-4c": ("nuts",),
    "pcmac": ("blocked",),
    "sim-poisson": ("nuts", "blocked"),
    "blog-poisson": ("nuts",),
    "sim-cox": ("nuts",),
    "beer-cox": ("nuts",),
    "sim-ordinal": ("nuts",),
    "riboflavin-ordinal": ("nuts",),
    "sim-negative-binomial": ("nuts",),
    "blog-negative-binomial": ("nuts",),
}
# Their funnels are deep: at 0.95, some runs have more than 0.5% divergent draws.
COUNTS = ("poisson", "negative_binomial")
QUICK = {("sim-logistic", "nuts"), *((f"sim-{name}", "blocked") for name in ("softmax", "gaussian", "poisson"))}
CASES = [
    pytest.param(name, sampler, marks=() if (name, sampler) in QUICK else pytest.mark.slow)
    for name, samplers in SAMPLERS.items()
    for sampler in samplers
]


def error_of_mean(draws):
    return draws.std(ddof=1) / np.sqrt(_ess(split_chains(draws[:, :, None]))[0])


def error_of_quantile(draws, probability):
    """Half the width of the interval of order statistics that holds the quantile with 68 per cent."""
    value = np.quantile(draws, probability)
    size = _ess(split_chains((draws <= value).astype(float)[:, :, None]))[0]
    share = stats.beta.ppf([0.1586553, 0.8413447], size * probability + 1, size * (1 - probability) + 1)
    return np.diff(np.quantile(draws, share))[0] / 2


def z_scores(draws, reference, i):
    """Return the differences of mean and quantiles in units of the error of both programs together."""
    ours = {"mean": (draws.mean(), error_of_mean(draws))}
    ours |= {name: (np.quantile(draws, p), error_of_quantile(draws, p)) for name, p in QUANTILES.items()}
    return [
        (value - reference[name][i]) / np.hypot(error, reference[f"mcse_{name}"][i])
        for name, (value, error) in ours.items()
    ]


@pytest.mark.parametrize(("name", "sampler"), CASES)
def test_posterior_agrees_with_stan(name, sampler):
    try:
        problem = problems.problem(name)
    except FileNotFoundError as error:
        pytest.skip(f"real data: set ISPCA_DATA to the folder with the .npz files ({error})")
    reference = np.load(REFERENCE / f"{name}.npz", allow_pickle=False)
    np.testing.assert_allclose(problems.fingerprint(problem.Z), reference["fingerprint"], atol=1e-5)
    z = np.array([run(problem, sampler, reference, seed) for seed in range(4)])
    rms = np.sqrt(np.mean(z**2))
    print(f"{name} {sampler}: rms {rms:.3f}, largest {np.abs(z).max():.2f}")
    # The quantities of one run are strongly correlated, so several runs are pooled.
    assert 0.8 <= rms <= 1.25
    assert np.abs(z.mean(axis=0)).max() < 4


def run(problem, sampler, reference, seed):
    """Sample a problem with the engine; return the z-scores of all quantities of the reference."""
    result = load_engine().sample(
        problem.model,
        np.ascontiguousarray(problem.Z),
        quantities.signed_times(problem.y) if problem.model == "cox" else problem.y.astype(float),
        n_classes=problem.n_classes,
        weights=problem.weights,
        offset=problem.offset,
        unpenalized=problem.fixed_scale,
        tau0=problems.tau0(problem),
        sampler=sampler,
        n_warmup=1000,
        n_draws=1000,
        target_accept=0.99 if problem.model in COUNTS else 0.95,
        seed=seed,
        n_threads=2,
    )
    found = quantities.quantities(result, problem)
    return [z_scores(found[str(label)], reference, i) for i, label in enumerate(reference["names"])]
