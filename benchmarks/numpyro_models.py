"""The regularised-horseshoe models in NumPyro, not centred, for comparison with the other samplers."""

from __future__ import annotations

import os
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

from problems import Problem, tau0

numpyro.enable_x64()


def model(Z, y, n_classes: int, scale: float) -> None:
    """The paper's prior: slab with 4 degrees of freedom and scale 5, intercept N(0, 10^2); scale is tau0."""
    H = n_classes if n_classes > 2 else 1
    intercept = numpyro.sample("intercept", dist.Normal(0, 10).expand([H]).to_event(1))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([H, Z.shape[1]]).to_event(2))
    lambdas = numpyro.sample("lambda", dist.HalfCauchy(1).expand([H, Z.shape[1]]).to_event(2))
    tau = scale * numpyro.sample("tau_unit", dist.HalfCauchy(1))
    c2 = 25 * numpyro.sample("c2_unit", dist.InverseGamma(2, 2))
    if n_classes == 0:
        log_sigma = numpyro.sample("log_sigma", dist.ImproperUniform(dist.constraints.real, (), ()))
        tau = tau * jnp.exp(log_sigma)
    coef = z * tau * lambdas / jnp.sqrt(1 + (tau * lambdas) ** 2 / c2)
    for name, value in {"coef": coef, "log_tau": jnp.log(tau), "log_c2": jnp.log(c2)}.items():
        numpyro.deterministic(name, value)
    eta = Z @ coef.T + intercept
    if n_classes == 0:
        likelihood = dist.Normal(eta[:, 0], jnp.exp(log_sigma))
    elif n_classes == 2:
        likelihood = dist.Bernoulli(logits=eta[:, 0])
    else:
        likelihood = dist.Categorical(logits=eta)
    numpyro.sample("y", likelihood, obs=y)


def run(
    problem: Problem,
    *,
    seed: int,
    n_chains: int = 4,
    n_warmup: int = 1000,
    n_draws: int = 1000,
    target_accept: float = 0.8,
) -> tuple[dict, dict]:
    """Return the draws (see ``quantities``) and a report: CPU seconds, those of compiling apart, and divergences.

    NumPyro's own loop would compile once per chain; the kernel in a compiled scan does so once, and can be timed.
    """
    arguments = arguments_of(problem)
    kernel = NUTS(model, target_accept_prob=target_accept)

    def step(state, _):
        state = kernel.sample(state, arguments, {})
        return state, (state.z, state.diverging)

    begun = time.perf_counter()
    states = [
        kernel.init(key, n_warmup, None, arguments, {})
        for key in jax.random.split(jax.random.PRNGKey(seed), n_chains)
    ]
    chain = (
        jax.jit(lambda state: jax.lax.scan(step, state, length=n_warmup + n_draws)[1]).lower(states[0]).compile()
    )
    report = {"compile_seconds": time.perf_counter() - begun}
    started = time.process_time()
    chains = [jax.block_until_ready(chain(state)) for state in states]
    report["cpu_seconds"] = time.process_time() - started
    positions, divergent = jax.tree.map(lambda *values: jnp.stack(values)[:, n_warmup:], *chains)
    constrain = jax.jit(jax.vmap(jax.vmap(kernel.postprocess_fn(arguments, {}))))
    return common_form(constrain(positions)), report | {"divergences": int(divergent.sum())}


def run_as_documented(problem: Problem, *, seed: int, **lengths: int) -> tuple[dict, dict]:
    """Return the same for the usual call, ``MCMC(NUTS(model), ...).run(...)`` and its compilation in the time.

    Without a device per chain NumPyro compiles again for each chain, in a second call as in the first.
    """
    options = {"chain_method": "sequential", "progress_bar": False, "num_chains": lengths["n_chains"]}
    sampler = MCMC(NUTS(model), num_warmup=lengths["n_warmup"], num_samples=lengths["n_draws"], **options)
    started = time.process_time()
    sampler.run(jax.random.PRNGKey(seed), *arguments_of(problem))
    samples = jax.block_until_ready(sampler.get_samples(group_by_chain=True))
    report = {"cpu_seconds": time.process_time() - started, "compile_seconds": 0.0}
    divergent = sampler.get_extra_fields(group_by_chain=True)["diverging"]
    return common_form(samples), report | {"divergences": int(divergent.sum())}


def arguments_of(problem: Problem) -> tuple:
    """Return what the model takes."""
    return jnp.asarray(problem.Z), jnp.asarray(problem.y), problem.n_classes, tau0(problem)


def common_form(samples: dict) -> dict[str, np.ndarray]:
    """Return the draws as ``quantities`` wants them."""
    draws = {name: np.asarray(samples[name]) for name in ("intercept", "coef", "log_tau", "log_c2")}
    return draws | {"sigma": np.exp(samples["log_sigma"])} if "log_sigma" in samples else draws
