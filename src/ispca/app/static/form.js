// The form of options: its controls follow the preview, and its values become the options of a request.
import { count, counted, find, make, short } from "./dom.js";

export const OTHER = "\u0000other";
// More columns than this get a filter.
const FILTERED = 12;

export function columnSummary(column) {
  const missing = column.missing ? `, ${count(column.missing)} missing` : "";
  const values = Object.entries(column.values ?? {});
  const distinct = column.n_values ?? values.length;
  if (values.length && distinct <= 4) {
    return values.map(([value, number]) => `${value}: ${count(number)}`).join(", ") + missing;
  }
  if (column.range) return `${short(column.range[0])} to ${short(column.range[1])}${missing}`;
  return `${count(distinct)} ${values.length ? "classes" : "different values"}${missing}`;
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
  const isLikely = (column) => !column.range || column.score !== 0;
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

function valueOf(control) {
  if (control.type === "checkbox") return control.checked || null;
  if (control.type === "number") return control.value === "" ? null : Number(control.value);
  if (control.tagName === "SELECT") return control.value || null;
  const lines = control.value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (control.tagName === "TEXTAREA") return lines.length ? lines : null;
  return lines[0] ?? null;
}

// Whether the chosen kind of target is one of times or of counts.
export const kindHas = (what) => find("kind").selectedOptions[0]?.dataset[what] !== undefined;

// Only what was chosen is sent, so that everything else is detected.
export function options() {
  const chosen = { target: targetName() || null, covariates: checkedNames() };
  for (const control of document.querySelectorAll("#form [name]:not([name=covariates], [name=target], [type=file])")) {
    chosen[control.name] = valueOf(control);
  }
  const unused = kindHas("timed") ? ["target", "positive"] : ["time", "event", "event_value"];
  if (!kindHas("counted")) unused.push("offset");
  if (find("positive-field").hidden) unused.push("positive");
  if (!chosen.covariates.length) unused.push("covariates");
  return Object.fromEntries(Object.entries(chosen).filter(([name, value]) => value !== null && !unused.includes(name)));
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
    else if (control?.tagName === "TEXTAREA") control.value = value.join("\n");
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
  if (kindHas("timed")) {
    if (!chosen.time) return ["time", "Choose the column of times."];
    if (!chosen.event) return ["event", "Choose the column of events."];
  } else if (!chosen.target && !found?.target) {
    return ["target", "Choose what to predict."];
  }
  for (const control of document.querySelectorAll("#form [type=number]")) {
    const { name, min, max } = control;
    if (!control.checkValidity()) return [name, `Enter an integer from ${count(Number(min))} to ${count(Number(max))}.`];
  }
  return null;
}

export function clearErrors() {
  for (const place of document.querySelectorAll("#form .error")) place.hidden = true;
  for (const control of document.querySelectorAll("#form [aria-invalid]")) control.removeAttribute("aria-invalid");
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
