// Make the page interactive: tables, score plot and loading profile.
const data = JSON.parse(document.getElementById("report-data").textContent);
const live = new Map();
for (const holder of document.querySelectorAll("[data-table]")) {
  const key = holder.dataset.table;
  live.set(key, new LiveTable(holder, key, data.tables[key]));
}
if (data.score_plot && data.score_plot.samples.length) new ScorePlot(data.score_plot);
const profile = data.profiles && document.getElementById("profile") ? new Profile(data.profiles, data.per_point) : null;
const chooser = document.querySelector("[data-group]");
if (chooser) {
  const table = live.get(chooser.closest("[data-table]").dataset.table);
  chooser.addEventListener("change", () => {
    const key = "features-" + chooser.value;
    table.show(key, data.tables[key]);
    profile?.show(Number(chooser.value) - 1);
  });
}
