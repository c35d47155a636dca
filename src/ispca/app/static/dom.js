// Elements from plain descriptions, and numbers, sizes and times as text. Text is never parsed as HTML.

export const find = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function show(element, text) {
  element.textContent = text;
  element.hidden = !text;
}

// Screen readers say this; they say nothing when the text stays the same.
export function say(text) {
  const place = find("told");
  if (place.textContent !== text) place.textContent = text;
}

export const count = (value) => Number(value).toLocaleString("en-US");

export const short = (value, digits = 4) => Number(value).toLocaleString("en-US", { maximumSignificantDigits: digits });

export function counted(value, noun, plural = `${noun}s`) {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}

export function size(bytes) {
  if (bytes < 1000) return counted(bytes, "byte");
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  while (value >= 999.5 && units.length > 1) {
    value /= 1000;
    units.shift();
  }
  return `${units[0] === "kB" ? Math.round(value) : value.toFixed(1)} ${units[0]}`;
}

export function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 1) return "less than a second";
  if (whole < 100) return counted(whole, "second");
  if (whole < 5400) return counted(Math.round(whole / 60), "minute");
  return `${(whole / 3600).toFixed(1)} hours`;
}

export function localTimes(root = document) {
  for (const place of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(place.dateTime);
    place.textContent = moment.toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
  }
}

export function time(seconds) {
  const place = make("time", { datetime: new Date(seconds * 1000).toISOString() });
  place.textContent = new Date(seconds * 1000).toLocaleString("en-US", { dateStyle: "medium", timeStyle: "short" });
  return place;
}

// A table that scrolls sideways inside its own box, which the keyboard can reach.
export function table(caption, header, rows, numeric = () => false) {
  const side = (index) => ({ class: numeric(index) ? "number" : null });
  const head = make("tr", {}, ...header.map((name, index) => make("th", { scope: "col", ...side(index), title: name }, name)));
  const body = rows.map((row) =>
    make("tr", {}, ...row.map((cell, index) => make(index ? "td" : "th", { scope: index ? null : "row", ...side(index), title: cell }, cell))),
  );
  return make(
    "div",
    { class: "scroll", role: "group", "aria-label": caption, tabindex: "0" },
    make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body)),
  );
}
