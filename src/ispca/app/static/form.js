// The form of options: its controls follow the preview, and its values become the options of a request.
import { count, counted, find, make, short } from "./dom.js";

const WORDS = ["kind", "positive", "groups", "weights", "offset", "id", "on", "sheet_name", "missing", "transform", "label", "method"];
const NUMBERS = ["components", "cv", "draws", "seed"];
const NAMES = ["drop", "features"];
export const OTHER = "\u0000other";
// More columns than this get a filter.
const FILTERED = 12;

export function columnSummary(column) {
  const missing = column.missing ? `, ${count(column.missing)} missing` : "";
  const values = Object.entries(column.values ?? {});
  const distinct = column.n_values ?? values.length;
  if (column.kind !== "quantity" && values.length && distinct <= 4) {
    return values.map(([value, number]) => `${value}: ${count(number)}`).join(", ") + missing;
  }
  if (column.range) return `${short(column.range[0])} to ${short(column.range[1])}${missing}`;
  return `${count(distinct)} ${column.kind === "class" ? "classes" : "different values"}${missing}`;
}

// Replace the options of a select only if they differ, so that an open list stays open; the choice is kept.
export function fill(select, options) {
  const before = select.value;
  const signature = JSON.stringify(options);
  if (select.dataset.signature === signature) return;
  select.dataset.signature = signature;
  const fixed = select.dataset.columns === undefined ? [] : [select.options[0]];
  const wanted = before && !options.some(([value]) => value === before) && before !== OTHER ? [...options, [before, before]] : options;
  select.replaceChildren(...fixed, ...wanted.map(([value, text]) => make("option", { value }, text)));
  if (before) select.value = before;
}

export function fillColumns(columns, more) {
  const shown = columns.map((column) => [column.name, `${column.name} (${columnSummary(column)})`]);
  for (const select of document.querySelectorAll("select[data-columns]")) {
    const extra = more[select.name] && !columns.some((column) => column.name === more[select.name]) ? [[more[select.name], more[select.name]]] : [];
    fill(select, [...extra, ...shown, ...(select.name === "target" ? [[OTHER, "Another column …"]] : [])]);
  }
}

export function fillChecks(columns, taken) {
  const box = find("covariates");
  // Numbers without a telling name are probably features: they come last.
  const isLikely = (column) => column.kind !== "quantity" || column.score !== 0;
  const free = columns.filter((column) => !taken.includes(column.name));
  const candidates = [...free.filter(isLikely), ...free.filter((column) => !isLikely(column))];
  const signature = JSON.stringify(candidates);
  find("covariates-field").hidden = candidates.length === 0;
  if (box.dataset.signature === signature) return;
  box.dataset.signature = signature;
  const checked = new Set(checkedNames());
  const focused = box.contains(document.activeElement) ? document.activeElement.value : null;
  box.replaceChildren(
    ...candidates.map((column) => {
      const input = make("input", { type: "checkbox", name: "covariates", value: column.name });
      input.checked = checked.has(column.name);
      return make("label", {}, input, make("span", {}, make("bdi", {}, column.name), make("span", { class: "soft" }, ` (${columnSummary(column)})`)));
    }),
  );
  if (focused !== null) [...box.querySelectorAll("input")].find((input) => input.value === focused)?.focus();
  find("covariates-filter").hidden = candidates.length <= FILTERED;
  filterChecks();
}

export function filterChecks() {
  const wanted = find("covariates-filter").value.toLowerCase();
  for (const label of find("covariates").children) {
    label.hidden = !label.textContent.toLowerCase().includes(wanted) && !label.querySelector("input").checked;
  }
}

function checkedNames() {
  return [...find("covariates").querySelectorAll("input:checked")].map((input) => input.value);
}

function targetName() {
  return find("target").value === OTHER ? find("target-other").value.trim() : find("target").value;
}

// Only what was chosen is sent, so that everything else is detected.
export function options() {
  const chosen = {};
  const survival = find("kind").value === "survival";
  for (const name of WORDS) if (find(name)?.value) chosen[name] = find(name).value;
  for (const name of NUMBERS) if (find(name).value !== "") chosen[name] = Number(find(name).value);
  for (const name of NAMES) {
    const lines = find(name).value.split("\n").map((line) => line.trim()).filter(Boolean);
    if (lines.length) chosen[name] = lines;
  }
  if (survival) {
    for (const name of ["time", "event"]) if (find(name).value) chosen[name] = find(name).value;
    delete chosen.positive;
  } else if (targetName()) chosen.target = targetName();
  if (find("kind").value !== "count") delete chosen.offset;
  if (find("positive-field").hidden) delete chosen.positive;
  const covariates = checkedNames();
  if (covariates.length) chosen.covariates = covariates;
  if (find("transpose").checked) chosen.transpose = true;
  if (find("stack").checked) chosen.stack = true;
  return chosen;
}

function select(control, value) {
  if (![...control.options].some((option) => option.value === value)) control.append(make("option", { value }, value));
  control.value = value;
}

// Make the choices of an earlier run again.
export function restore(earlier) {
  for (const [name, value] of Object.entries(earlier)) {
    const control = find(name);
    if (name === "covariates") {
      const boxes = value.map((each) => make("input", { type: "checkbox", name, value: each, checked: true }));
      control.append(...boxes.map((box) => make("label", {}, box)));
    } else if (control?.type === "checkbox") control.checked = value;
    else if (NAMES.includes(name)) control.value = value.join("\n");
    else if (control?.tagName === "SELECT") select(control, value);
    else if (control) control.value = value;
  }
}

// Choose the columns that look like times and events, unless others are chosen.
export function suggestSurvival(columns) {
  for (const name of ["time", "event"]) {
    const suggested = columns.find((column) => column.suggested === name);
    if (suggested && !find(name).value) find(name).value = suggested.name;
  }
}

// The first control that keeps the analysis from starting, with the sentence that says why.
export function unfinished(found, chosen) {
  if (chosen.kind === "survival") {
    if (!chosen.time) return ["time", "Choose the column of times."];
    if (!chosen.event) return ["event", "Choose the column of events."];
  } else if (!chosen.target && !found?.target) {
    return ["target", "Choose what to predict."];
  }
  for (const name of NUMBERS) {
    const control = find(name);
    if (!control.checkValidity()) return [name, `Enter an integer of at least ${control.min}.`];
  }
  return null;
}

export function clearErrors() {
  for (const place of document.querySelectorAll("#form .error")) place.hidden = true;
  for (const control of document.querySelectorAll("#form [aria-invalid]")) control.removeAttribute("aria-invalid");
}

// The name of the control whose label an advice quotes, as in: Set “Missing values” to “leave out samples”.
export function quotedControl(advice) {
  const quoted = [...(advice ?? "").matchAll(/“([^”]+)”/g)].map((match) => match[1]);
  const label = [...document.querySelectorAll("#form .field label")].find((each) => quoted.includes(each.textContent.trim()));
  return label?.control?.name ?? null;
}

// Show an error beside its control; return whether there is such a control.
export function showError(name, text) {
  const place = name && find(`${name}-error`);
  if (!place) return false;
  place.textContent = text;
  place.hidden = false;
  find(name)?.setAttribute("aria-invalid", "true");
  find(`${name}-field`).hidden = false;
  place.closest("details")?.setAttribute("open", "");
  return true;
}

export const samples = (found) => counted(found.samples, "sample");
