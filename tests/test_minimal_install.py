"""``import ispca`` and a fit need numpy, scipy, scikit-learn and what these require, and nothing else."""

import re
import subprocess
import sys
import textwrap
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

CORE = {"numpy", "scipy", "scikit-learn"}

PROGRAM = textwrap.dedent("""
    import sys

    ALLOWED = set(sys.argv[1:])


    class Refuse:
        def find_spec(self, name, path=None, target=None):
            top = name.partition(".")[0]
            if top in ALLOWED or top in sys.stdlib_module_names or top.startswith("_"):
                return None
            raise ModuleNotFoundError(f"No module named {name!r} (refused by the test)", name=name)


    sys.meta_path.insert(0, Refuse())
    before = {name.partition(".")[0] for name in sys.modules}

    try:
        import pandas
    except ModuleNotFoundError:
        pass
    else:
        raise SystemExit("the hook does not work")

    import numpy as np
    import scipy.sparse as sp
    from ispca import ISPCA, SPCA, feature_scores, score_test
    from ispca.datasets import make_expression

    data = make_expression(n_samples=30, n_features=80, random_state=0)
    X, y = data.data, data.target
    assert ISPCA(n_components=4, random_state=0).fit_transform(X, y).shape == (30, 4)
    residual = ISPCA(n_components=4, test="residual", random_state=0)
    assert residual.fit_transform(sp.csr_array(X), y).shape == (30, 4)
    spca = SPCA(n_components=4, n_features=10, statistic="kendall").fit(X, y)
    assert spca.inverse_transform(np.ones((1, 4))).size == 80
    assert feature_scores(X, y).shape == score_test(X, y, n_permutations=10).p_values.shape == (80,)

    # The command and its list of data sets work too; a download says what it needs.
    import contextlib
    import io
    import os
    from ispca.cli import main

    with contextlib.redirect_stdout(io.StringIO()) as listing:
        assert main(["datasets"]) == 0
    assert "glioma" in listing.getvalue()
    os.environ.pop("ISPCA_DATA", None)
    os.environ.pop("ISPCA_CACHE", None)
    with contextlib.redirect_stderr(io.StringIO()) as complaint:
        assert main(["datasets", "gliom"]) == 2
    assert "Did you mean glioma" in complaint.getvalue()

    # An HTML report needs Jinja2, which "fit" says before it reads anything; a Markdown report needs nothing.
    arguments = ["fit", os.devnull, "--target", "y", "--out", "nowhere"]
    with contextlib.redirect_stderr(io.StringIO()) as complaint:
        assert main(arguments) == 1
    assert complaint.getvalue().count("\\n") == 1
    assert "pip install jinja2" in complaint.getvalue()
    with contextlib.redirect_stderr(io.StringIO()) as complaint:
        assert main([*arguments, "--format", "markdown"]) == 3
    assert os.devnull in complaint.getvalue()
    from ispca.report import summarize, to_markdown

    assert to_markdown(summarize(spca, X, y)).startswith("# Components related to target")

    loaded = {name.partition(".")[0] for name in sys.modules} - before
    extra = {name for name in loaded if not name.startswith("_")} - ALLOWED - set(sys.stdlib_module_names)
    # A Cython library registers helpers of its own.
    extra = {name for name in extra if not name.startswith(("cython_runtime", "__"))}
    assert not extra, extra
    print("enough")
""")


def requirements(distribution):
    """Return the names of what a distribution cannot do without."""
    try:
        lines = requires(distribution) or []
    except PackageNotFoundError:
        return set()
    return {re.match(r"[\w.-]+", line)[0].lower() for line in lines if "extra ==" not in line}


def everything_required(distributions):
    """Return these distributions and what they require, directly or not."""
    found, waiting = set(), set(distributions)
    while waiting:
        found |= waiting
        waiting = set().union(*map(requirements, waiting)) - found
    return found


def test_nothing_beyond_numpy_scipy_and_scikit_learn_is_needed():
    core = everything_required(CORE)
    assert not core & {"pandas", "polars", "pyarrow", "matplotlib"}
    allowed = {
        module
        for module, distributions in packages_distributions().items()
        if core.intersection(map(str.lower, distributions))
    }
    command = [sys.executable, "-c", PROGRAM, "ispca", *allowed]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "enough\n"


def test_the_requirements_say_so():
    assert requirements("ispca") == CORE | {"joblib", "threadpoolctl"}
