// The drop zone, and files on their way to the server.
import { upload } from "./api.js";
import { make, say, size } from "./dom.js";

export function dropZone(zone, chosen) {
  const button = zone.querySelector("input[type=file]");
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  let inside = 0;
  const light = (change) => {
    inside = Math.max(0, inside + change);
    zone.classList.toggle("over", inside > 0);
  };
  // It looks like a button, which the space bar and the Enter key press; browsers know only the space bar here.
  button.addEventListener("keydown", (event) => event.key === "Enter" && button.click());
  button.addEventListener("change", () => {
    // A copy: clearing the input empties its list.
    const files = [...button.files];
    button.value = "";
    if (files.length) chosen(files);
  });
  zone.addEventListener("dragenter", (event) => carriesFiles(event) && light(1));
  zone.addEventListener("dragleave", (event) => carriesFiles(event) && light(-1));
  // A file that misses the zone counts too; otherwise the browser would leave the page to open it.
  document.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    inside = 0;
    light(0);
    if (event.dataTransfer.files.length) chosen([...event.dataTransfer.files]);
  });
}

// A line with name, size and progress of a file. `ended` is called with the line when it is sent, fails or is removed.
export function sendFile(file, ended) {
  const progress = make("progress", { max: file.size || 1, "aria-label": `Sending ${file.name}` });
  const state = make("span", { class: "soft" }, size(file.size));
  const error = make("span", { class: "error", role: "alert", hidden: true });
  const remove = make("button", { type: "button", "aria-label": `Remove ${file.name}` }, "Remove");
  const line = { file, id: null, removed: false, failed: false, extra: make("span"), element: null };
  line.element = make("li", {}, make("bdi", {}, file.name), state, progress, line.extra, remove, error);
  const sending = upload(file, (loaded) => {
    progress.value = loaded;
    state.textContent = loaded < file.size ? `${size(loaded)} of ${size(file.size)}` : size(file.size);
  });
  remove.addEventListener("click", () => {
    line.removed = true;
    sending.cancel();
    line.element.remove();
    say(`${file.name} removed.`);
    ended(line);
  });
  sending.done.then(
    (answer) => {
      line.id = answer.id;
      say(`${file.name} is ready.`);
    },
    (problem) => {
      line.failed = true;
      error.textContent = problem.message;
      error.hidden = !problem.message;
    },
  ).finally(() => {
    progress.remove();
    if (!line.removed) ended(line);
  });
  return line;
}
