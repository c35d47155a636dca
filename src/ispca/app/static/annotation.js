// The file that describes the features: sent as soon as it is chosen, and used until it is removed.
import { find, make } from "./dom.js";
import { sendFile } from "./files.js";

// `changed` is called whenever another file, or none, is used. `id` is that of the file; `sent` waits until it is known.
export function annotationFile(changed) {
  const input = find("annotation");
  const list = find("annotation-files");
  const used = { id: input.dataset.upload || null, sent: Promise.resolve() };

  function use(id) {
    used.id = id;
    changed();
  }

  function clear() {
    list.replaceChildren();
    input.value = "";
    input.hidden = false;
    input.focus();
    if (used.id) use(null);
  }

  function send(file) {
    used.sent = new Promise((resolve) => {
      const line = sendFile(file, (sent) => {
        if (sent.removed) clear();
        else if (sent.id) use(sent.id);
        resolve();
      });
      list.replaceChildren(line.element);
      line.element.querySelector("button").focus();
    });
    input.hidden = true;
  }

  input.addEventListener("change", () => input.files.length && send(input.files[0]));
  if (used.id) {
    const remove = make("button", { type: "button", "aria-label": `Remove ${input.dataset.file}`, click: clear }, "Remove");
    list.append(make("li", {}, make("bdi", {}, input.dataset.file), remove));
    input.hidden = true;
  }
  return used;
}
