// Make the page interactive: tables, score plot and loading profile. Figures get their buttons before.
const data = JSON.parse(document.getElementById("report-data").textContent);
const tables = Object.fromEntries(Object.values(data).flatMap((section) => section.tables ?? []).map((table) => [table.key, table]));
const live = new Map();
for (const holder of document.querySelectorAll("[data-table]")) {
  const key = holder.dataset.table;
  live.set(key, new LiveTable(holder, key, tables[key]));
}
const plot = data.score_plot?.samples.length ? new ScorePlot(data.score_plot) : null;
function showSample(point) {
  plot?.plot.scrollIntoView({ block: "center" });
  plot?.plot.focus({ preventScroll: true });
  plot?.point(point);
}
// Paper cannot open details; those with all samples stay closed.
const opened = [];
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open]):not(#scatter details)")) {
    part.open = true;
    opened.push(part);
  }
});
addEventListener("afterprint", () => { for (const part of opened.splice(0)) part.open = false; });
const profile = data.features ? new Profile(data.features) : null;
const chooser = document.querySelector("[data-group]");
chooser?.addEventListener("change", () => {
  const key = "features-" + chooser.value;
  live.get("features-1").show(key, tables[key]);
  profile.show(Number(chooser.value) - 1);
});
