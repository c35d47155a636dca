// Requests to the server; every failure becomes an ApiError with a sentence for people.

const AWAY = "The server is not running. Start it again with ispca app, and open the address that it prints.";
const RESTARTED = "The server was started again. Open the address that it printed.";

export class ApiError extends Error {
  constructor(status, message, advice = "", control = null) {
    super(message);
    this.status = status;
    // What to do, and the control that it is about.
    this.advice = advice;
    this.control = control;
  }
}

function failure(status, text) {
  let body = {};
  try {
    body = JSON.parse(text) ?? {};
  } catch {
    // Refusals may be pages.
  }
  if (status === 401 || status === 403) return new ApiError(status, body.error ?? RESTARTED);
  return new ApiError(status, body.error ?? `The server could not answer (status ${status}). Try again.`, body.advice, body.control);
}

export async function request(method, path, body, signal) {
  const options = { method, signal, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let answer, text;
  try {
    answer = await fetch(path, options);
    text = await answer.text();
  } catch (error) {
    throw error.name === "AbortError" ? error : new ApiError(0, AWAY);
  }
  if (!answer.ok) throw failure(answer.status, text);
  return text ? JSON.parse(text) : null;
}

// XMLHttpRequest, because fetch does not tell how much has been sent.
export function upload(file, progressed) {
  const sending = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    sending.upload.addEventListener("progress", (event) => event.lengthComputable && progressed(event.loaded, event.total));
    sending.addEventListener("load", () => {
      if (sending.status === 201) resolve(JSON.parse(sending.responseText));
      else reject(failure(sending.status, sending.responseText));
    });
    const broken = `${file.name} could not be sent. The server may have stopped, or the file has changed or is too large.`;
    sending.addEventListener("error", () => reject(new ApiError(0, broken)));
    sending.addEventListener("abort", () => reject(new ApiError(0, "")));
  });
  sending.open("POST", `/api/uploads?name=${encodeURIComponent(file.name)}`);
  sending.send(file);
  return { done, cancel: () => sending.abort() };
}
