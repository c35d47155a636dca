// The first page: files are sent as soon as they are chosen; the list of earlier analyses stays up to date.
import { request } from "./api.js";
import { confirmDelete } from "./confirm.js";
import { find, localTimes, make, say, show } from "./dom.js";
import { dropZone, guessMatrix, sendFile } from "./files.js";
import { STATES } from "./progress.js";

const SECONDS_BETWEEN = 3;
const lines = [];

function arrange() {
  const sent = lines.filter((line) => !line.failed);
  sent.forEach((line, place) => {
    line.extra.textContent = place === 0 ? "Data" : "Sample sheet";
    line.extra.className = "state";
    find("files").append(line.element);
  });
  for (const line of lines.filter((each) => each.failed)) line.extra.textContent = "";
  find("chosen").hidden = lines.length === 0;
  find("swap").hidden = sent.length < 2;
  find("continue").disabled = !sent.length || sent.some((line) => line.id === null);
  const hints = ["", "If the samples are described in a second file, drop it too.", "The data contain the measurements, the sample sheet one row per sample. Swap them if this is wrong."];
  find("files-hint").textContent = hints[sent.length];
}

function ended(line) {
  const had = document.activeElement === document.body;
  if (line.removed) lines.splice(lines.indexOf(line), 1);
  arrange();
  // The button that was pressed is gone.
  if (line.removed && had) find("drop").querySelector("input").focus();
}

function choose(files) {
  for (const line of lines.filter((each) => each.failed)) {
    line.element.remove();
    lines.splice(lines.indexOf(line), 1);
  }
  if (files.length + lines.length > 2) {
    show(find("drop-error"), "Use at most two files: the data and, if you have one, a sample sheet.");
    return;
  }
  show(find("drop-error"), "");
  lines.push(...files.map((file) => sendFile(file, ended)));
  if (guessMatrix(lines.map((line) => line.file)) === 1) lines.reverse();
  arrange();
  say(`Sending ${files.map((file) => file.name).join(" and ")}.`);
}

function swap() {
  lines.reverse();
  arrange();
  const [matrix, sheet] = lines.filter((line) => !line.failed);
  say(`${matrix.file.name} is the data, ${sheet.file.name} the sample sheet.`);
}

function goOn() {
  const [matrix, sheet] = lines.filter((line) => !line.failed);
  const query = new URLSearchParams({ matrix: matrix.id });
  if (sheet) query.set("sheet", sheet.id);
  location.assign(`/new?${query}`);
}

function update(item, run) {
  const state = item.querySelector(".state");
  item.dataset.state = state.dataset.state = run.state;
  state.textContent = STATES[run.state];
  item.querySelector(".sentence").textContent = run.verdict ?? run.message ?? "";
}

async function refresh() {
  const active = () => document.querySelectorAll("#runs [data-state=running], #runs [data-state=queued]").length;
  if (active() && !document.hidden) {
    try {
      const answer = await request("GET", "/api/runs");
      const runs = new Map(answer.map((run) => [run.id, run]));
      for (const item of find("runs").querySelectorAll("li")) {
        if (runs.has(item.dataset.run)) update(item, runs.get(item.dataset.run));
      }
    } catch {
      // The list is only refreshed when the server answers.
    }
  }
  setTimeout(refresh, 1000 * SECONDS_BETWEEN);
}

async function remove(event) {
  const button = event.target.closest(".delete");
  if (!button) return;
  const item = button.closest("li");
  const name = item.querySelector("a").textContent;
  const sure = await confirmDelete(`Delete ${name}?`, "Its report, tables, model and predictions are deleted. This cannot be undone.");
  if (!sure) return;
  try {
    await request("DELETE", `/api/runs/${item.dataset.run}`);
  } catch (error) {
    item.querySelector(".error")?.remove();
    item.append(make("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  find("no-runs").hidden = Boolean(next);
  (next?.querySelector("a") ?? find("main")).focus();
  say(`${name} is deleted.`);
}

localTimes();
dropZone(find("drop"), choose);
find("continue").addEventListener("click", goOn);
find("swap").addEventListener("click", swap);
find("runs").addEventListener("click", remove);
refresh();
