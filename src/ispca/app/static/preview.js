// What was understood of the files: facts, the corner of the table, guesses, warnings, and the target.
import { count, counted, find, make, short, table } from "./dom.js";

export function showPreview(found) {
  find("facts").replaceChildren(...facts(found).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, make("bdi", {}, value)))));
  find("guesses").replaceChildren(...(found.notes ?? []).map((note) => make("li", {}, note)));
  find("warnings").replaceChildren(...(found.warnings ?? []).map((warning) => make("li", { class: "warning" }, warning.sentence ?? warning)));
  showCorner(found);
  find("target-summary").textContent = targetSummary(found.target) + survivalHint(found);
}

function facts(found) {
  const missing = found.missing?.values ?? 0;
  const list = [["Samples", count(found.samples)], ["Features", count(found.features)], ["Missing values", missing ? count(missing) : "None"]];
  if (missing && found.missing.columns) list.push(["Columns with missing values", count(found.missing.columns)]);
  if (missing && found.missing.rows) list.push(["Samples with missing values", count(found.missing.rows)]);
  if (found.id) list.push(["Sample names from", found.id]);
  if (found.format) list.push(["Format", found.format]);
  return list;
}

function showCorner(found) {
  const width = found.first_features?.length ?? 0;
  const rows = (found.corner ?? []).slice(0, found.first_samples?.length).map((row) => row.slice(0, width));
  const place = find("corner");
  place.hidden = !rows.length || !width;
  if (place.hidden) return;
  const header = ["Sample", ...found.first_features];
  const body = rows.map((row, index) => [found.first_samples[index], ...row]);
  const shown = `The first ${counted(rows.length, "sample")} and ${counted(width, "feature")}`;
  const focused = place.contains(document.activeElement);
  place.replaceChildren(table(shown, header, body, (index) => index > 0));
  if (focused) place.firstChild.focus();
}

// A time or an event alone is rarely what should be predicted.
function survivalHint({ target, columns }) {
  const [time, event] = ["time", "event"].map((role) => columns?.find((column) => column.suggested === role)?.name);
  if (!time || !event || target?.events !== undefined || ![time, event].includes(target?.name)) return "";
  return ` If ${event} says whether an event was observed at ${time}, choose “Survival” as the kind of target.`;
}

function targetSummary(target) {
  if (!target) return "";
  const classes = Object.entries(target.classes ?? {});
  if (classes.length) {
    const named = classes.slice(0, 8).map(([name, number]) => `${name} (${count(number)})`).join(", ");
    const more = classes.length > 8 ? ` and ${count(classes.length - 8)} more` : "";
    return `${target.label}: ${named}${more}.`;
  }
  if (target.events !== undefined) {
    return `${counted(target.events, "event")}; times from ${short(target.range[0])} to ${short(target.range[1])}.`;
  }
  if (target.range) return `A ${target.label.toLowerCase()} from ${short(target.range[0])} to ${short(target.range[1])}.`;
  return `${target.label}.`;
}
