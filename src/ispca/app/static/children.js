// Comparisons and predictions of a run, each in a box that follows its progress.
import { request } from "./api.js";
import { confirmDelete, deletion } from "./confirm.js";
import { find, make, say, show, time } from "./dom.js";
import { poll } from "./polling.js";
import { STATES, isActive, showStages, waitingText } from "./progress.js";
import { fileList, resultParts } from "./results.js";

const known = new Set();

export function showChildren(children) {
  for (const child of children) {
    if (known.has(child.id)) continue;
    known.add(child.id);
    const place = find(child.kind === "predict" ? "predictions" : "comparisons");
    // The newest comes first.
    place.prepend(box(child));
  }
}

function box(child) {
  const parts = {
    state: make("span", { class: "state" }),
    text: make("p"),
    stages: make("ol", { class: "stages" }),
    error: make("p", { class: "error", role: "alert", hidden: true }),
    result: make("div"),
    notes: make("ul", { class: "hint" }),
    files: make("ul", { class: "files" }),
    actions: make("p", { class: "actions" }),
  };
  const title = make("h3", {}, make("a", { href: `/runs/${child.id}` }, make("bdi", {}, child.name)));
  const element = make("article", { "aria-label": child.name }, make("div", { class: "run-line" }, title, parts.state, time(child.created)), ...Object.values(parts).slice(1));
  let last = null;
  const ask = poll(
    child.id,
    (run) => {
      if (last && last !== run.state && !isActive(run)) say(`${run.name}: ${STATES[run.state]}.`);
      update(parts, run, run.state !== last, act);
      last = run.state;
      return isActive(run);
    },
    (error) => show(parts.error, error.message),
  );
  async function act(method, path, message) {
    show(parts.error, "");
    try {
      await request(method, path);
    } catch (error) {
      return show(parts.error, error.message);
    }
    if (method !== "DELETE") return ask();
    element.remove();
    find("main").focus({ preventScroll: true });
    return say(message);
  }
  return element;
}

function update(parts, run, isNew, act) {
  const active = isActive(run);
  parts.text.textContent = active ? waitingText(run) : run.verdict ?? run.message ?? "";
  parts.text.hidden = !parts.text.textContent;
  showStages(parts.stages, active ? run.stages : []);
  if (!isNew) return;
  show(parts.error, "");
  parts.state.dataset.state = run.state;
  parts.state.textContent = STATES[run.state];
  const done = run.state === "done";
  parts.result.replaceChildren(...(done ? resultParts(run) : []));
  parts.notes.replaceChildren(...(done ? run.notes ?? [] : []).map((note) => make("li", {}, note)));
  parts.notes.hidden = !parts.notes.children.length;
  parts.files.replaceChildren(...(done ? fileList(run) : []));
  parts.actions.replaceChildren(...actions(run, act));
}

function actions(run, act) {
  const button = (text, click) => make("button", { type: "button", "aria-label": `${text}: ${run.name}`, click }, text);
  if (isActive(run)) return [button("Cancel", () => act("POST", `/api/runs/${run.id}/cancel`))];
  const remove = button("Delete", async () => {
    const sure = await confirmDelete(`Delete ${run.name}?`, deletion("Its results are moved"));
    if (sure) await act("DELETE", `/api/runs/${run.id}`, `${run.name} is deleted.`);
  });
  return run.state === "done" ? [remove] : [button("Run again", () => act("POST", `/api/runs/${run.id}/again`)), remove];
}
