// The page before a run: each change is sent for a new preview, and the last one starts the run.
import { request } from "./api.js";
import { duration, find, say, show } from "./dom.js";
import { OTHER, clearErrors, fill, fillChecks, fillColumns, filterChecks, options, samples, showError, unfinished } from "./form.js";
import { showPreview } from "./preview.js";

const TYPING_PAUSE = 500;
const form = find("form");
const files = { matrix: form.dataset.matrix, sheet: form.dataset.sheet ?? null };
let found = null;
let pending = null;
let timer = null;
let touched = false;
// The options that the preview shows, or will show when it arrives.
let shown = null;
// The control that was changed last: an error that names no control is shown there.
let changed = null;

function arrange() {
  const kind = find("kind").value;
  find("one-target").hidden = kind === "survival";
  find("survival-target").hidden = kind !== "survival";
  find("offset-field").hidden = kind !== "count";
  find("target-other-field").hidden = find("target").value !== OTHER;
  find("sheet_name-field").hidden = (found?.sheets ?? []).length < 2;
  find("positive-field").hidden = Object.keys(found?.target?.classes ?? {}).length !== 2 || kind === "survival";
}

function follow() {
  const columns = found.columns ?? [];
  fillColumns(columns, { id: found.id, target: found.target?.name });
  // Values of a file may themselves be empty; the first option chooses nothing.
  const classes = Object.keys(found.target?.classes ?? {});
  fill(find("positive"), [["", "Detect it"], ...classes.map((name) => [name, name])]);
  if (!classes.includes(find("positive").value)) find("positive").value = "";
  fill(find("sheet_name"), [["", "The first sheet"], ...(found.sheets ?? []).map((name) => [name, name])]);
  if (!touched && found.target && !find("target").value) find("target").value = found.target.name;
  if (!touched && found.orientation) document.querySelector(`input[name=transpose][value=${found.orientation.transpose}]`).checked = true;
  const unsure = found.orientation && !found.orientation.certain;
  find("transpose-hint").textContent = unsure ? "This is a guess: compare it with the table above." : "";
  fillChecks(columns, [find("target").value, find("time").value, find("event").value, find("id").value || found.id].filter(Boolean));
  find("estimate").textContent = found.seconds ? `Takes about ${duration(found.seconds)}.` : "";
  showPreview(found);
  arrange();
}

function showProblem(problem, advice, option) {
  const text = [problem, advice].filter(Boolean).join(" ");
  const beside = showError(option ?? changed, text);
  show(find("data-error"), beside ? "" : text);
  if (!beside) say(text);
}

const isStale = () => JSON.stringify(options()) !== shown;

async function refresh() {
  clearTimeout(timer);
  pending?.abort();
  shown = JSON.stringify(options());
  const mine = (pending = new AbortController());
  find("data").setAttribute("aria-busy", "true");
  try {
    found = await request("POST", "/api/preview", { ...files, options: options() }, mine.signal);
    clearErrors();
    show(find("data-error"), "");
    follow();
    if (found.error) showProblem(found.error.problem, found.error.advice, found.error.option);
    else say(`${samples(found)}, ${found.features.toLocaleString("en-US")} features.`);
  } catch (error) {
    if (error.name === "AbortError") return;
    clearErrors();
    showProblem(error.message, error.advice, error.option);
  }
  if (pending === mine) {
    pending = null;
    find("data").removeAttribute("aria-busy");
  }
}

function change(event) {
  const control = event.target;
  if (control.id === "covariates-filter") return filterChecks();
  if (control.id === "name" || !control.closest("#form")) return undefined;
  touched = true;
  changed = control.id === "target-other" ? "target" : control.name;
  arrange();
  clearTimeout(timer);
  if (control.value === OTHER) return find("target-other").focus();
  const typing = event.type === "input" && !["SELECT"].includes(control.tagName) && !["radio", "checkbox"].includes(control.type);
  // A select reports both events; the second one is enough.
  if (event.type === "input" && !typing) return undefined;
  timer = setTimeout(() => isStale() && refresh(), typing ? TYPING_PAUSE : 0);
  return undefined;
}

async function start(event) {
  event.preventDefault();
  if (isStale() || pending) await refresh();
  if (found?.error) {
    showProblem(found.error.problem, found.error.advice, found.error.option);
    document.querySelector("[aria-invalid=true], #data-error:not([hidden])")?.scrollIntoView({ block: "center" });
    return;
  }
  const missing = unfinished(found, options());
  if (missing) {
    showError(...missing);
    find(missing[0]).focus();
    return;
  }
  const button = find("start");
  button.disabled = true;
  show(find("start-error"), "");
  try {
    const name = find("name").value.trim() || "Analysis";
    const run = await request("POST", "/api/runs", { name, ...files, options: options() });
    location.assign(`/runs/${run.id}`);
  } catch (error) {
    show(find("start-error"), [error.message, error.advice].filter(Boolean).join(" "));
    button.disabled = false;
  }
}

form.addEventListener("input", change);
form.addEventListener("change", change);
form.addEventListener("submit", start);
arrange();
refresh();
