// Score plot: samples on two components, with names on hover, touch and arrow keys.
class ScorePlot {
  constructor(content) {
    this.content = content;
    this.plot = document.getElementById("plot");
    this.details = document.querySelector("#scatter details");
    this.tip = make("div", { class: "tip", hidden: "" });
    this.current = -1;
    this.choosers = ["across", "up", "color"].map((id) => document.getElementById(id));
    for (const chooser of this.choosers) chooser.addEventListener("change", () => { this.draw(); this.list(); });
    for (const kind of ["pointermove", "pointerdown"]) this.plot.addEventListener(kind, (event) => this.near(event));
    // On touch screens, lifting the finger leaves: keep the name until the next touch.
    this.plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.point(-1); });
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => this.point(-1));
    this.details.addEventListener("toggle", () => this.list());
    document.getElementById("scatter").hidden = false;
    new ResizeObserver(() => { if (this.plot.clientWidth !== this.width) this.draw(); }).observe(this.plot);
    this.draw();
  }

  choose() {
    const { samples, components, explained, scores, colors, predictions } = this.content;
    const [across, up, color] = this.choosers.map((chooser) => Number(chooser.value));
    const order = { label: "sample order", values: samples.map((_, i) => i + 1) };
    const known = [...scores.map((values, k) => ({ label: components[k], percent: explained[k], values })), ...predictions, order];
    this.axes = [across, up].map((k) => known[k]);
    this.paint = this.colors(colors[color]);
  }

  colors(choice) {
    if (!choice) return { shape: () => 0 };
    const { label, values } = choice;
    if (choice.kind === "classes") {
      return {
        label, classes: choice.classes, colors: choice.colors, cells: values.map((code) => choice.classes[code]),
        fill: (i) => choice.colors[values[i]], shape: (i) => values[i] % SHAPES.length,
      };
    }
    const limits = range(values, 0), place = scale(limits, 0, 1);
    return { label, limits, cells: values, fill: (i) => viridis(place(values[i])), shape: () => 0 };
  }

  draw() {
    this.choose();
    this.width = this.plot.clientWidth || 640;
    const height = Math.round(Math.min(540, Math.max(320, this.width * 0.62)));
    const box = { left: 56, right: this.width - 16, top: 10, bottom: height - 46 };
    const [xs, ys] = this.axes.map((axis) => axis.values);
    const x = { range: range(xs, 0.05) }, y = { range: range(ys, 0.05) };
    x.place = scale(x.range, box.left, box.right);
    y.place = scale(y.range, box.bottom, box.top);
    const svg = make("svg", { width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, "aria-hidden": "true" });
    drawAxes(svg, box, x, y, this.axes.map(({ label, percent }) => (percent == null ? label : `${label}, ${shown(percent)}% of variance`)));
    // A sample that was never held out has no place on such an axis.
    this.places = xs.map((value, i) => (value === null || ys[i] === null ? null : [x.place(value), y.place(ys[i])]));
    const size = xs.length > 1500 ? 0.6 : xs.length > 400 ? 0.8 : 1.2;
    const points = make("g", { class: "points" });
    this.places.forEach((place, i) => {
      if (!place) return;
      const [left, top] = place;
      const at = { d: SHAPES[this.paint.shape(i)], transform: `translate(${left.toFixed(1)},${top.toFixed(1)}) scale(${size})` };
      points.append(make("path", this.paint.fill ? { ...at, fill: this.paint.fill(i) } : { ...at, class: "plain" }));
    });
    this.ring = make("circle", { class: "ring", r: 9, visibility: "hidden" });
    for (const i of this.content.misclassified.filter((k) => this.places[k])) {
      points.append(make("circle", { class: "wrong", cx: this.places[i][0].toFixed(1), cy: this.places[i][1].toFixed(1), r: 8 }));
    }
    svg.append(points, this.ring);
    this.plot.replaceChildren(svg, this.tip);
    this.order = [...xs.keys()].filter((i) => this.places[i]).sort((a, b) => xs[a] - xs[b]);
    this.legend();
    const drawn = this.order.length.toLocaleString("en");
    const { label } = this.paint;
    document.getElementById("plot-text").textContent =
      `${drawn} samples: ${this.axes[1].label} against ${this.axes[0].label}${label ? `, colored by ${label}` : ""}.`;
    this.point(this.current);
  }

  legend() {
    const place = document.getElementById("legend");
    const { label, classes, colors, limits } = this.paint;
    if (classes) {
      place.replaceChildren(make("ul", { "aria-label": "Colors" }, ...classes.map((name, k) => {
        const mark = make("path", { d: SHAPES[k % SHAPES.length], fill: colors[k], transform: "translate(8,8) scale(1.3)" });
        const svg = make("svg", { width: 16, height: 16, "aria-hidden": "true", class: "points" }, mark);
        return make("li", {}, svg, make("bdi", {}, name));
      })));
    } else if (limits) {
      const boxes = Array.from({ length: 24 }, (_, k) => make("rect", { x: k * 6, y: 0, width: 6.5, height: 12, fill: viridis(k / 23) }));
      const bar = make("svg", { width: 144, height: 12, "aria-hidden": "true" }, ...boxes);
      const ends = limits.map(shown).join("|");
      place.replaceChildren(make("p", { "data-label": label, "data-ends": ends }, make("bdi", {}, label), ` ${shown(limits[0])} `, bar, ` ${shown(limits[1])}`));
    } else place.replaceChildren();
  }

  near(event) {
    const frame = this.plot.getBoundingClientRect();
    const [left, top] = [event.clientX - frame.left - this.plot.clientLeft, event.clientY - frame.top - this.plot.clientTop];
    let best = -1, least = 24 ** 2;
    this.places.forEach((place, i) => {
      const distance = !place ? Infinity : (place[0] - left) ** 2 + (place[1] - top) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    this.point(best);
  }

  key(event) {
    const place = this.order.indexOf(this.current), last = this.order.length - 1;
    const next = Math.min(place + 1, last), previous = place < 0 ? last : Math.max(place - 1, 0);
    const places = { ArrowRight: next, ArrowDown: next, ArrowLeft: previous, ArrowUp: previous, Home: 0, End: last, Escape: -1 };
    if (!(event.key in places)) return;
    event.preventDefault();
    this.point(this.order[places[event.key]] ?? -1);
    // Announce the sample to screen readers.
    const facts = this.current < 0 ? [] : this.facts(this.current).map((fact) => fact.join(" "));
    document.getElementById("told").textContent = facts.length ? `${this.content.samples[this.current]}: ${facts.join(", ")}` : "";
  }

  columns() {
    const { label, cells, classes } = this.paint;
    const axes = this.axes.map((axis) => ({ ...axis, kind: "number" }));
    return label ? [{ label, values: cells, kind: classes ? "text" : "number" }, ...axes] : axes;
  }

  facts(i) {
    return this.columns().map(({ label, values }) => [label, shown(values[i])]);
  }

  point(i) {
    this.current = this.places[i] ? i : -1;
    this.tip.hidden = this.current < 0;
    this.ring.setAttribute("visibility", this.current < 0 ? "hidden" : "visible");
    if (this.current < 0) return;
    const [left, top] = this.places[i];
    this.ring.setAttribute("cx", left);
    this.ring.setAttribute("cy", top);
    const lines = this.facts(i).map(([label, value]) => make("span", {}, make("bdi", {}, label), ": ", make("bdi", {}, value)));
    this.tip.replaceChildren(make("strong", {}, make("bdi", {}, this.content.samples[i])), ...lines);
    const [w, h] = [this.tip.offsetWidth, this.tip.offsetHeight];
    this.tip.style.left = Math.max(0, Math.min(left + 14, this.width - w - 4)) + "px";
    this.tip.style.top = (top - h - 14 < 0 ? top + 16 : top - h - 12) + "px";
  }

  list() {
    if (!this.details.open) return;
    const columns = [{ label: "Sample", kind: "text", values: this.content.samples }, ...this.columns()];
    const rows = this.content.samples.map((_, i) => columns.map(({ values }) => values[i]));
    const table = { caption: "Samples in the plot", columns, rows };
    if (this.table) this.table.show("samples", table);
    else this.table = new LiveTable(document.getElementById("samples"), "samples", table);
  }
}
