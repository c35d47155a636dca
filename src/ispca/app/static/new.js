// The page before a run: each change is sent for a new preview, and the last one starts the run.
import { annotationFile } from "./annotation.js";
import { request } from "./api.js";
import { duration, find, make, say, show } from "./dom.js";
import { OTHER, clearErrors, fill, fillChecks, fillColumns, filterChecks, kindHas, options, restore, samples, showError, suggestSurvival, unfinished } from "./form.js";
import { showPreview } from "./preview.js";

const TYPING_PAUSE = 500;
const UNSURE = "The table has many more rows than columns. If a row is a feature, such as a gene, check this box.";
const form = find("form");
const annotation = annotationFile(() => {
  touched = true;
  changed = "annotation";
  suggestLabel = annotation.id !== null;
  if (!suggestLabel) find("label").value = "";
  refresh();
});
let found = null;
let pending = null;
let timer = null;
let touched = false;
// A new file that describes features is wanted for what it adds to their names.
let suggestLabel = false;
// The request whose answer the preview shows, or will show when it arrives.
let shown = null;
// The control that was changed last: an error that names no control is shown there.
let changed = null;

const wanted = () => ({ matrix: form.dataset.matrix, sheet: form.dataset.sheet ?? null, annotation: annotation.id, options: options() });

function arrange() {
  find("one-target").hidden = kindHas("timed");
  find("survival-target").hidden = !kindHas("timed");
  find("offset-field").hidden = !kindHas("counted");
  find("target-other-field").hidden = find("target").value !== OTHER;
  find("sheet_name-field").hidden = (found?.sheets ?? []).length < 2;
  find("label-field").hidden = !(found?.labels ?? []).length && !find("label").value;
  find("positive-field").hidden = Object.keys(found?.target?.classes ?? {}).length !== 2 || kindHas("timed");
}

function follow() {
  const columns = found.columns ?? [];
  fillColumns(columns, { id: found.id, target: found.target?.name });
  // Values of a file may themselves be empty; the first option chooses nothing.
  const classes = Object.keys(found.target?.classes ?? {});
  fill(find("positive"), [["", "Detect it"], ...classes.map((name) => [name, name])]);
  if (!classes.includes(find("positive").value)) find("positive").value = "";
  fill(find("sheet_name"), [["", "The first sheet"], ...(found.sheets ?? []).map((name) => [name, name])]);
  fill(find("label"), [["", "Nothing"], ...(found.labels ?? []).map((name) => [name, name])]);
  if (suggestLabel && found.labels?.length) {
    if (!find("label").value) find("label").value = found.labels[0];
    suggestLabel = false;
    // A label that the preview offers needs no other preview.
    shown = JSON.stringify(wanted());
  }
  if (!touched && found.sheet_name) find("sheet_name").value = found.sheet_name;
  if (!touched && found.target && !find("target").value) find("target").value = found.target.name;
  if (!touched && found.orientation) find("transpose").checked = found.orientation.transpose;
  if (found.orientation && !found.orientation.certain) find("transpose-hint").textContent = UNSURE;
  const targets = kindHas("timed") ? ["time", "event"] : ["target"];
  fillChecks(columns, [...targets.map((name) => find(name).value), find("id").value || found.id]);
  find("estimate").textContent = found.seconds ? `Takes about ${duration(found.seconds)}.` : "";
  showPreview(found);
  arrange();
}

// Beside the control that can help, which may be far below; then the top of the page leads there.
function showProblem({ problem, advice, control }) {
  const text = [problem, advice].filter(Boolean).join(" ");
  const name = control && find(`${control}-error`) ? control : changed;
  const place = find("data-error");
  if (showError(name, text)) {
    const label = find(name).labels?.[0]?.textContent.trim() ?? find(`${name}-field`).querySelector("legend").textContent;
    const link = make("a", { href: `#${name}` }, label);
    place.replaceChildren(...(found ? ["One choice needs your attention: ", link, "."] : [text, " Go to ", link, ", or ", elsewhere("choose other files"), "."]));
  } else place.replaceChildren(text, ...(found ? [] : [" ", elsewhere("Choose other files"), "."]));
  place.hidden = false;
}

const elsewhere = (text) => make("a", { href: "/" }, text);

// As long as nothing could be read, there is nothing to choose from.
function showChoices() {
  for (const section of document.querySelectorAll("[data-choices]")) section.hidden = !found;
}

const isStale = () => JSON.stringify(wanted()) !== shown;

async function refresh() {
  clearTimeout(timer);
  pending?.abort();
  shown = JSON.stringify(wanted());
  const mine = (pending = new AbortController());
  find("data").setAttribute("aria-busy", "true");
  try {
    found = await request("POST", "/api/preview", wanted(), mine.signal);
    clearErrors();
    show(find("data-error"), "");
    follow();
    showChoices();
    if (found.error) showProblem(found.error);
    else say(`${samples(found)}, ${found.features.toLocaleString("en-US")} features.`);
  } catch (error) {
    if (error.name === "AbortError") return;
    clearErrors();
    showChoices();
    showProblem({ problem: error.message, advice: error.advice, control: error.control });
    // Nothing is known of the present choices: they are looked at again before a run.
    shown = null;
    if (found) found = { ...found, error: { problem: error.message, advice: error.advice, control: error.control } };
  }
  if (pending === mine) {
    pending = null;
    find("data").removeAttribute("aria-busy");
  }
}

function change(event) {
  const control = event.target;
  if (control.id === "covariates-filter") return filterChecks();
  if (["name", "annotation"].includes(control.id) || !control.closest("#form")) return undefined;
  touched = true;
  changed = control.id === "target-other" ? "target" : control.name;
  if (control.id === "kind" && kindHas("timed")) suggestSurvival(found?.columns ?? []);
  arrange();
  clearTimeout(timer);
  if (control.value === OTHER) return find("target-other").focus();
  const typing = event.type === "input" && !["SELECT"].includes(control.tagName) && !["radio", "checkbox"].includes(control.type);
  // A select reports both events; the second one is enough.
  if (event.type === "input" && !typing) return undefined;
  timer = setTimeout(() => isStale() && refresh(), typing ? TYPING_PAUSE : 0);
  return undefined;
}

// Whether everything is chosen and can be used; the first problem is shown beside its control.
async function isReady() {
  await annotation.sent;
  if (isStale() || pending) await refresh();
  if (found?.error) {
    showProblem(found.error);
    (form.querySelector("[aria-invalid=true]") ?? find("data-error")).scrollIntoView({ block: "center" });
    return false;
  }
  const missing = unfinished(found, options());
  if (!missing) return true;
  showError(...missing);
  find(missing[0]).focus();
  return false;
}

async function start(event) {
  event.preventDefault();
  const button = find("start");
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  button.textContent = "Checking …";
  show(find("start-error"), "");
  try {
    if (await isReady()) {
      const name = find("name").value.trim() || "Analysis";
      const run = await request("POST", "/api/runs", { name, ...wanted() });
      location.assign(`/runs/${run.id}`);
      return;
    }
  } catch (error) {
    show(find("start-error"), [error.message, error.advice].filter(Boolean).join(" "));
  }
  button.ariaBusy = "false";
  button.textContent = "Run";
}

form.addEventListener("input", change);
form.addEventListener("change", change);
form.addEventListener("submit", start);
const earlier = JSON.parse(form.dataset.options);
touched = Object.keys(earlier).length > 0;
restore(earlier);
arrange();
refresh();
