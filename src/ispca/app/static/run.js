// The page of a run: its progress, then its results, and what can be done with them.
import { request } from "./api.js";
import { showChildren } from "./children.js";
import { chosenFiles } from "./chosen.js";
import { confirmDelete, deletion } from "./confirm.js";
import { find, localTimes, make, say, show } from "./dom.js";
import { poll } from "./polling.js";
import { STATES, isActive, showStages, spoken, waitingText } from "./progress.js";
import { fileList, resultParts } from "./results.js";

const { run: id, kind } = find("run").dataset;
const TROUBLES = {
  failed: ["This did not work", "", "Correct the file or the choices, and start again. If the problem was temporary, such as a full disk, run it again."],
  cancelled: ["Cancelled", "You stopped this run. Nothing was kept of it.", ""],
  interrupted: ["Interrupted", "The server stopped before this run was done.", ""],
};
let last = null;

function update(run) {
  show(find("away"), "");
  say(spoken(run));
  find("working").hidden = !isActive(run);
  if (isActive(run)) {
    show(find("waiting"), waitingText(run));
    showStages(find("stages"), run.stages ?? []);
  }
  if (kind === "fit") showChildren(run.children ?? []);
  if (run.state !== last) enter(run);
  last = run.state;
  return isActive(run);
}

// What changes only with the state.
function enter(run) {
  find("state").dataset.state = run.state;
  find("state").textContent = STATES[run.state];
  const done = run.state === "done";
  show(find("verdict"), done ? run.verdict ?? "" : "");
  showTrouble(run);
  for (const name of ["report", "predict", "compare"]) if (find(name)) find(name).hidden = !done;
  const hasReport = done && run.files.some((file) => file.name === "report.html");
  find("parts").hidden = !done || kind !== "fit";
  if (find("reuse")) find("reuse").hidden = !done;
  if (find("report")) {
    find("report").hidden = !hasReport;
    if (hasReport) find("report-frame").src = `/runs/${id}/report`;
  }
  find("downloads").hidden = !done || !run.files.length;
  find("files").replaceChildren(...(done ? fileList(run) : []));
  const parts = done ? resultParts(run) : [];
  find("result").hidden = !parts.length;
  find("result").replaceChildren(...parts);
  find("notes").hidden = !done || !run.notes?.length;
  find("notes-list").replaceChildren(...(run.notes ?? []).map((note) => make("li", {}, note)));
}

function showTrouble(run) {
  const [title, text, advice] = TROUBLES[run.state] ?? ["", "", ""];
  find("trouble").hidden = !title;
  find("trouble-title").textContent = title;
  const failed = run.state === "failed";
  const error = failed ? run.error : null;
  show(find("trouble-text"), failed ? error?.problem ?? run.message ?? "" : text);
  show(find("trouble-message"), failed ? (run.notes ?? []).join("\n") : "");
  // Of a run whose folder is gone, there is nothing to run again.
  show(find("trouble-advice"), run.repeatable ? error?.advice || advice : "");
  find("again").hidden = !run.repeatable;
}

function lost(error) {
  if (error.status === 404) {
    for (const section of document.querySelectorAll("#run > section")) section.hidden = true;
  }
  show(find("away"), error.message);
}

const ask = poll(id, update, lost);

async function attempt(place, action) {
  show(place, "");
  try {
    return await action();
  } catch (error) {
    show(place, error.message);
    return null;
  }
}

function onClick(name, path) {
  find(name).addEventListener("click", async () => {
    find(name).disabled = true;
    if (await attempt(find("away"), () => request("POST", `/api/runs/${id}/${path}`))) ask();
    find(name).disabled = false;
  });
}

async function remove() {
  const name = document.querySelector("h1").textContent;
  const moved = kind === "fit" ? "Its report, tables, model and predictions are moved" : "Its results are moved";
  if (!(await confirmDelete(`Delete ${name}?`, deletion(moved)))) return;
  await attempt(find("away"), async () => {
    await request("DELETE", `/api/runs/${id}`);
    location.assign(document.querySelector(".crumbs a:last-of-type").href);
  });
}

async function predict(uploads, clear) {
  const button = find("continue");
  button.disabled = true;
  await attempt(find("drop-error"), async () => {
    await request("POST", `/api/runs/${id}/predict`, uploads);
    clear();
    await ask();
    // The button that was pressed is gone.
    (find("predictions").querySelector("a") ?? find("drop").querySelector("input")).focus();
  });
  button.disabled = false;
}

async function compare(event) {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  await attempt(find("compare-error"), async () => {
    await request("POST", `/api/runs/${id}/compare`, { splits: Number(find("splits").value) });
    await ask();
    find("comparisons").firstElementChild?.scrollIntoView({ block: "nearest" });
  });
  button.disabled = false;
}

localTimes();
onClick("cancel", "cancel");
onClick("again", "again");
find("delete").addEventListener("click", remove);
if (kind === "fit") {
  const clear = chosenFiles((uploads) => predict(uploads, clear));
  find("compare-form").addEventListener("submit", compare);
}
