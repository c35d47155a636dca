// Ask for a run again and again: each second while it works, less often when nobody looks or the server is away.
import { request } from "./api.js";

const SECONDS = 1;
const HIDDEN_SECONDS = 10;
const LONGEST_PAUSE = 30;

// `changed(run)` gets every answer and returns whether to go on; `lost(error)` is told about failures.
export function poll(id, changed, lost) {
  let timer = null;
  let failures = 0;
  let busy = false;
  async function ask() {
    clearTimeout(timer);
    if (busy) return;
    busy = true;
    let goOn = true;
    try {
      const run = await request("GET", `/api/runs/${id}`);
      failures = 0;
      goOn = changed(run);
    } catch (error) {
      failures += 1;
      lost(error);
      goOn = error.status === 0 || error.status >= 500;
    }
    busy = false;
    const pause = failures ? Math.min(LONGEST_PAUSE, SECONDS * 2 ** failures) : document.hidden ? HIDDEN_SECONDS : SECONDS;
    if (goOn) timer = setTimeout(ask, 1000 * pause);
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && timer !== null) ask();
  });
  ask();
  return ask;
}
