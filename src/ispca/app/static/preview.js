// What was understood of the files: facts, the corner of the table, guesses, warnings, and the target.
import { count, counted, find, make, table } from "./dom.js";

const KINDS = { class: "Classes", quantity: "A quantity", count: "A count", ordinal: "Ordered grades", survival: "Survival", text: "Text" };

export function showPreview(found) {
  find("facts").replaceChildren(...facts(found).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, make("bdi", {}, value)))));
  find("guesses").replaceChildren(...(found.notes ?? []).map((note) => make("li", {}, note)));
  find("warnings").replaceChildren(...(found.warnings ?? []).map((warning) => make("li", { class: "warning" }, warning.sentence ?? warning)));
  showCorner(found);
  find("target-summary").textContent = targetSummary(found.target);
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
  const rows = found.corner ?? [];
  const place = find("corner");
  place.hidden = rows.length === 0;
  if (!rows.length) return;
  const width = Math.max(...rows.map((row) => row.length));
  const header = ["Sample", ...Array.from({ length: width }, (_, index) => found.first_features[index] ?? "…")];
  const body = rows.map((row, index) => [found.first_samples[index] ?? "…", ...row.map((cell) => cell ?? "")]);
  const shown = `The first ${counted(rows.length, "sample")} and ${counted(width, "feature")}`;
  const focused = place.contains(document.activeElement);
  place.replaceChildren(table(shown, header, body, (index) => index > 0));
  if (focused) place.firstChild.focus();
}

function targetSummary(target) {
  if (!target) return "";
  const classes = Object.entries(target.classes ?? {});
  const missing = target.missing ? ` ${counted(target.missing, "sample")} without a value.` : "";
  const kind = KINDS[target.kind] ?? target.kind;
  if (classes.length) {
    const named = classes.slice(0, 8).map(([name, number]) => `${name} (${count(number)})`).join(", ");
    const more = classes.length > 8 ? ` and ${count(classes.length - 8)} more` : "";
    return `${kind}: ${named}${more}.${missing}`;
  }
  if (target.range) return `${kind} from ${short(target.range[0])} to ${short(target.range[1])}.${missing}`;
  return `${kind}.${missing}`;
}

function short(value) {
  return typeof value === "number" ? value.toLocaleString("en-US", { maximumSignificantDigits: 4 }) : String(value);
}
