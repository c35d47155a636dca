// The first page: files lead to the preview; the list of earlier analyses stays up to date.
import { request } from "./api.js";
import { chosenFiles } from "./chosen.js";
import { confirmDelete, deletion } from "./confirm.js";
import { find, localTimes, make, say, time } from "./dom.js";
import { STATES } from "./progress.js";

// While something works, and otherwise: somebody else may start an analysis.
const SECONDS_BETWEEN = 3;
const SECONDS_IDLE = 6;
const deleted = new Set();
let timer = null;

function goOn({ matrix, sheet }) {
  const query = new URLSearchParams({ matrix });
  if (sheet) query.set("sheet", sheet);
  location.assign(`/new?${query}`);
}

// An analysis that another window has started; home.html has the same lines.
function entry(run) {
  const link = make("a", { href: `/runs/${run.id}` }, make("bdi", {}, run.name));
  const button = make("button", { type: "button", class: "delete", "aria-label": `Delete ${run.name}` }, "Delete");
  const line = make("div", { class: "run-line" }, link, make("span", { class: "state" }), time(run.created), button);
  return make("li", { "data-run": run.id }, line, make("p", { class: "sentence" }));
}

function update(item, run) {
  const state = item.querySelector(".state");
  const sentence = run.verdict ?? run.message ?? "";
  if (item.dataset.state === run.state && item.querySelector(".sentence").textContent === sentence) return;
  item.dataset.state = state.dataset.state = run.state;
  state.textContent = STATES[run.state];
  item.querySelector(".sentence").textContent = sentence;
}

// The newest comes first, in the answer as in the list.
function showRuns(runs) {
  const items = new Map([...find("runs").children].map((item) => [item.dataset.run, item]));
  let before = null;
  for (const run of runs) {
    const item = items.get(run.id) ?? entry(run);
    if (!items.delete(run.id)) before ? before.after(item) : find("runs").prepend(item);
    update(item, run);
    before = item;
  }
  // What is left was deleted elsewhere; the keyboard stays where it is.
  for (const item of items.values()) if (!item.contains(document.activeElement)) item.remove();
  find("no-runs").hidden = find("runs").children.length > 0;
}

async function refresh() {
  clearTimeout(timer);
  if (!document.hidden && !document.querySelector("dialog[open]")) {
    try {
      const answer = await request("GET", "/api/runs");
      showRuns(answer.filter((run) => run.parent === null && !deleted.has(run.id)));
    } catch {
      // The list is only refreshed when the server answers.
    }
  }
  const active = document.querySelector("#runs [data-state=running], #runs [data-state=queued]");
  clearTimeout(timer);
  timer = setTimeout(refresh, 1000 * (active ? SECONDS_BETWEEN : SECONDS_IDLE));
}

async function remove(event) {
  const button = event.target.closest(".delete");
  if (!button) return;
  const item = button.closest("li");
  const name = item.querySelector("a").textContent;
  const sure = await confirmDelete(`Delete ${name}?`, deletion("Its report, tables, model and predictions are moved"));
  if (!sure) return;
  try {
    await request("DELETE", `/api/runs/${item.dataset.run}`);
  } catch (error) {
    item.querySelector(".error")?.remove();
    item.append(make("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  // An answer that was on its way may still contain it.
  deleted.add(item.dataset.run);
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  find("no-runs").hidden = Boolean(next);
  (next?.querySelector("a") ?? find("main")).focus();
  say(`${name} is deleted.`);
  showTrash();
}

async function showTrash() {
  try {
    const { count } = await request("GET", "/api/trash");
    find("trash").hidden = !count;
    find("trash-text").textContent = count === 1 ? "1 result is in the trash." : `${count} results are in the trash.`;
  } catch {
    // It is shown again with the next page.
  }
}

async function emptyTrash() {
  if (!(await confirmDelete("Empty the trash?", "What is in it is deleted. This cannot be undone."))) return;
  try {
    await request("DELETE", "/api/trash");
    find("main").focus();
    say("The trash is empty.");
  } catch (error) {
    say(error.message);
  }
  showTrash();
}

localTimes();
chosenFiles(goOn);
find("runs").addEventListener("click", remove);
find("empty-trash").addEventListener("click", emptyTrash);
document.addEventListener("visibilitychange", () => document.hidden || refresh());
refresh();
showTrash();
