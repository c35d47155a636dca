"""What a notebook shows of an analysis: verdict, picture, leading features and warnings."""

from __future__ import annotations

import base64
import io
import warnings
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..foundation.result_tables import html_table
from ..plots import plot_scores
from ..report.interval_words import frequency_text, interval_text
from ..validation.held_out_verdict import chance_sentence

if TYPE_CHECKING:
    from .analysis import Analysis

MOST_FEATURES = 10
NOT_VALIDATED = "Not cross-validated, so nothing is known about predictions of new samples."


def notebook_page(analysis: Analysis) -> str:
    """Return the analysis as HTML without scripts or links; everything is escaped."""
    judgment = analysis.verdict
    verdict = NOT_VALIDATED if judgment is None else str(judgment["sentence"])
    parts = [f"<p><strong>{escape(verdict)}</strong></p>"]
    gain = (judgment or {}).get("covariate_gain")
    parts += [f"<p>{escape(gain['sentence'])}</p>"] if gain else []
    parts.append(_picture(analysis))
    chance = ", which may be due to chance" if chance_sentence(judgment) else ""
    leading = analysis.features[analysis.features["leading"]][:MOST_FEATURES]
    if len(leading):
        shown = {"feature": leading["label"], "class": leading["target_class"]}
        shown |= {"effect per SD": leading["per_sd"], "P(sign)": leading["p_sign"]}
        if not any(leading["target_class"].tolist()):
            del shown["class"]
        if np.isfinite(leading["frequency"]).any():
            shown |= {"frequency": leading["frequency"], "error rate": leading["error_rate"]}
        parts.append(html_table(shown, caption=f"Leading features{chance}"))
        known = bool(np.isfinite(leading["error_rate"]).any())
        frequency = f" {frequency_text(known)}" if "frequency" in shown else ""
    else:
        frequency = ""
        parts.append("<p>No feature stands out: the 90% intervals of all large effects contain 0.</p>")
    parts.append(f"<p>{escape(interval_text(analysis.n_bags) + frequency)}</p>")
    cautions = [] if judgment is None else list(judgment.get("caveats", ()))
    warned = [*cautions, *(finding.sentence for finding in analysis.findings)]
    items = "".join(f"<li>{escape(str(text))}</li>" for text in warned)
    return "".join(parts) + (f"<p>Warnings:</p><ul>{items}</ul>" if items else "")


def _picture(analysis: Analysis) -> str:
    """Return the samples on the first components as an image; nothing without the data or matplotlib."""
    if analysis.table is None or analysis.table.in_blocks:
        return ""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    table = analysis.table
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    target = None if table.target is None or table.target.dtype.names else table.target
    with warnings.catch_warnings():
        # The data are those of the fit.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        plot_scores(analysis.model, table.X, target, sample_names=table.ids, ax=figure.add_subplot())
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=90)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img alt="Samples on the first components" src="data:image/png;base64,{data}">'
