// Stages of a run with progress bars and the time that is left.
import { count, duration, make } from "./dom.js";

export const STATES = { queued: "Waiting", running: "Running", done: "Done", failed: "Failed", cancelled: "Cancelled", interrupted: "Interrupted" };
export const isActive = (run) => run.state === "queued" || run.state === "running";

export function waitingText(run) {
  if (run.state === "queued") return run.position > 1 ? `Waiting for its turn: ${count(run.position - 1)} before this one.` : "Waiting for its turn.";
  return run.stages?.length ? "" : "Reading the data …";
}

function stageText(stage) {
  if (stage.state === "done") return stage.seconds >= 1 ? duration(stage.seconds) : "";
  const parts = [];
  if (stage.total > 1) parts.push(`${count(stage.done ?? 0)} of ${count(stage.total)}`);
  if (typeof stage.left_seconds === "number") parts.push(`about ${duration(Math.max(1, stage.left_seconds))} left`);
  else if (stage.seconds >= 1) parts.push(`for ${duration(stage.seconds)}`);
  return parts.join(", ");
}

// The fraction that is done, or null where it is not known.
function fraction(stage) {
  if (stage.state === "done") return 1;
  if (stage.total > 1 && stage.done > 0) return stage.done / stage.total;
  if (typeof stage.left_seconds === "number" && stage.seconds > 0) return stage.seconds / (stage.seconds + stage.left_seconds);
  return null;
}

// Lines are kept from one second to the next, so that nothing flickers and bars move.
export function showStages(list, stages) {
  while (list.children.length > stages.length) list.lastChild.remove();
  stages.forEach((stage, index) => {
    if (!list.children[index]) {
      const head = make("div", { class: "run-line" }, make("span"), make("span", { class: "soft" }));
      list.append(make("li", {}, head, make("progress", { max: "1" })));
    }
    const [head, bar] = list.children[index].children;
    const done = fraction(stage);
    head.children[0].textContent = stage.name;
    head.children[1].textContent = stage.state === "done" ? `✓ ${stageText(stage)}` : stageText(stage);
    head.children[1].className = stage.state === "done" ? "done-mark" : "soft";
    bar.setAttribute("aria-label", stage.name);
    if (done === null) bar.removeAttribute("value");
    else bar.value = done;
    bar.hidden = stage.state === "done";
  });
}

// One sentence for screen readers, which changes with the stage and not with every second.
export function spoken(run) {
  if (!isActive(run)) return `${STATES[run.state]}. ${run.verdict ?? run.message ?? ""}`;
  const running = run.stages?.findLast((stage) => stage.state === "running");
  return running ? `${running.name} …` : waitingText(run);
}
