// Results of runs as elements: files to download, predictions, and a comparison of methods.
import { count, counted, make, short, size, table } from "./dom.js";

const FILES = {
  "report.html": "The report, with all figures and the methods text, in one file",
  "model.ispca": "The model, for predictions with ispca",
  "combined.ispca": "The combined prediction, for new samples with ispca predict; contains the training samples",
  "scores.csv": "Scores of the components, one row per sample",
  "loadings.csv": "Loadings of the components, one row per feature",
  "coefficients.csv": "Effects of the features with bagged 90% intervals, p and q of each, and how often bags chose it",
  "bagged.ispca": "The bagged posterior, from which the intervals of predictions come",
  "held_out.csv": "Predictions of samples that were left out when the model was fitted",
  "predictions.csv": "Predictions, one row per sample",
  "comparison.csv": "All metrics of every method, with intervals",
  "comparison.png": "The comparison as a picture",
};
const ORDER = Object.keys(FILES);
const MOST_ROWS = 10;
// Metrics of a comparison, with the digits to show.
const METRICS = {
  accuracy: "Accuracy", auc: "AUC", r2: "R²", c_index: "C-index", rmse: "RMSE", deviance: "Deviance",
  rank_correlation: "Rank correlation", mlpd: "Log predictive density", set_coverage: "Prediction sets with the class",
  set_size: "Classes per prediction set", coverage: "Coverage of 90% intervals",
};

const address = (run, name) => `/runs/${run.id}/files/${encodeURIComponent(name)}`;

export function fileList(run) {
  const rank = (file) => (ORDER.includes(file.name) ? ORDER.indexOf(file.name) : ORDER.length);
  return [...run.files]
    .sort((a, b) => rank(a) - rank(b))
    .map((file) =>
      make("li", {}, make("a", { href: address(run, file.name), download: file.name }, file.name), make("span", { class: "soft" }, size(file.size)), make("span", {}, FILES[file.name] ?? "")),
    );
}

const cell = (value) => {
  if (value === null || value === undefined) return "";
  return typeof value === "number" ? short(value, 3) : String(value);
};

function predictions(run) {
  const rows = run.result?.predictions ?? [];
  if (!rows.length) return [];
  const names = Object.keys(rows[0]);
  const shown = rows.slice(0, MOST_ROWS);
  const caption = rows.length > shown.length ? `The first ${shown.length} of ${counted(rows.length, "sample")}` : counted(rows.length, "sample");
  const numeric = (index) => typeof rows[0][names[index]] === "number";
  const header = names.map((name) => ({ id: "Sample", prediction: "Prediction", training_sample: "Training sample", prediction_set: "Prediction set" })[name] ?? name);
  return [table(caption, header, shown.map((row) => names.map((name) => (name.startsWith("p(") && typeof row[name] === "number" ? row[name].toFixed(3) : cell(row[name])))), numeric), ...evaluation(run.result.evaluation)];
}

function evaluation(found) {
  if (!found) return [];
  const values = Object.entries(METRICS).filter(([name]) => typeof found[name] === "number");
  if (!values.length) return [];
  const text = values.map(([name, label]) => {
    const interval = found.intervals?.[name];
    return `${label} ${cell(found[name])}${interval ? ` (95% interval ${cell(interval[0])} to ${cell(interval[1])})` : ""}`;
  });
  return [make("p", { class: "hint" }, `The file contains ${found.target}, so the ${counted(found.samples, "prediction")} were evaluated: ${text.join("; ")}.`)];
}

function comparison(run) {
  const methods = run.result?.methods ?? [];
  if (!methods.length) return [];
  const metrics = Object.entries(METRICS).filter(([name]) => typeof methods[0][name] === "number");
  const rows = methods.map((method) => [method.method, ...metrics.map(([name]) => withInterval(method, name)), failures(method)]);
  const header = ["Method", ...metrics.map(([, label]) => label), "Failed fits"];
  const caption = `${counted(methods.length, "method")} on held-out samples of ${counted(run.result.splits, "random split")}, best first, with 95% intervals`;
  const parts = [table(caption, header, rows, (index) => index > 0)];
  if (run.files.some((file) => file.name === "comparison.png")) {
    parts.push(make("img", { class: "plot", src: address(run, "comparison.png"), alt: `The comparison as a picture; the table contains the same numbers.` }));
  }
  return parts;
}

function withInterval(method, name) {
  const [low, high] = [method[`${name}_low`], method[`${name}_high`]];
  return typeof low === "number" ? `${cell(method[name])} (${cell(low)} to ${cell(high)})` : cell(method[name]);
}

const failures = (method) => count(method.n_failed ?? 0);

export function resultParts(run) {
  if (run.kind === "predict") return predictions(run);
  if (run.kind === "compare") return comparison(run);
  return [];
}
