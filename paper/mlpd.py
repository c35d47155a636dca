"""Mean log predictive density of all methods on all sets, and what the paper says of it."""

from __future__ import annotations

from .comparison_claims import verdicts
from .comparison_figure import draw_panels
from .comparison_tables import average_rows, residual_rows, set_rows
from .context import Context
from .experiment import run_experiment
from .output import write_csv, write_figure
from .scores import scores_of
from .verdicts import Verdict

METRIC = "mlpd"


def run(context: Context, metric: str = METRIC) -> list[Verdict]:
    """Run the experiment, or take what is finished of it; write the figure and tables of one measure."""
    results = run_experiment(context)
    scores = scores_of(results, metric)
    stem = context.out / metric
    write_csv(stem.with_suffix(".csv"), set_rows(results, scores, context.sets))
    if not scores:
        return verdicts(scores, context.sets, metric)
    write_csv(context.out / f"{metric}-averages.csv", average_rows(scores))
    write_csv(context.out / f"{metric}-residual.csv", residual_rows(scores))
    write_figure(draw_panels(scores, context.sets.absent, metric, context.splits), stem)
    return verdicts(scores, context.sets, metric)
