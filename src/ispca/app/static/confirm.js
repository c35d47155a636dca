// Ask in the page before something is deleted.
import { find } from "./dom.js";

// What happens to a run that is deleted.
export function deletion(what) {
  return `${what} to the trash and deleted after ${find("confirm").dataset.days} days, or at once if the disk is nearly full.`;
}

export function confirmDelete(title, text) {
  const dialog = find("confirm");
  find("confirm-title").textContent = title;
  find("confirm-text").textContent = text;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
