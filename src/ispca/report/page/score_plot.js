// Score plot: samples on two components, with names on hover, touch and arrow keys.
class ScorePlot {
  constructor(content) {
    this.content = content;
    this.count = content.samples.length;
    this.plot = document.getElementById("plot");
    this.told = document.getElementById("told");
    this.tip = make("div", { class: "tip", hidden: "" });
    this.current = -1;
    this.choosers = ["across", "up", "color"].map((id) => document.getElementById(id));
    for (const chooser of this.choosers) chooser.addEventListener("change", () => { this.draw(); this.list(); });
    this.plot.addEventListener("pointermove", (event) => this.near(event));
    this.plot.addEventListener("pointerdown", (event) => this.near(event));
    // On touch screens, lifting the finger leaves: keep the name until the next touch.
    this.plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.point(-1); });
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => this.point(-1));
    document.getElementById("scatter").hidden = false;
    new ResizeObserver(() => { if (this.plot.clientWidth !== this.width) this.draw(); }).observe(this.plot);
    const details = document.querySelector("#scatter details");
    details.addEventListener("toggle", () => this.list());
    this.draw();
  }

  values(choice) {
    const scores = this.content.scores[choice];
    return scores ?? Array.from({ length: this.count }, (_, i) => i + 1);
  }

  axis(choice) {
    return this.content.components[choice] ?? "sample order";
  }

  colors() {
    const choice = this.content.colors[Number(this.choosers[2].value)];
    if (!choice) return { label: null, fill: () => null, shape: () => 0, text: () => null };
    if (choice.kind === "classes") {
      return {
        label: choice.label, classes: choice.classes,
        fill: (i) => choice.colors[choice.values[i]],
        shape: (i) => choice.values[i] % SHAPES.length,
        text: (i) => choice.classes[choice.values[i]],
        choice,
      };
    }
    const [low, high] = range(choice.values, 0);
    const share = (i) => (choice.values[i] - low) / (high - low);
    return { label: choice.label, limits: [low, high], fill: (i) => viridis(share(i)), shape: () => 0, text: (i) => shown(choice.values[i]) };
  }

  draw() {
    this.width = this.plot.clientWidth || 640;
    const height = Math.round(Math.min(540, Math.max(320, this.width * 0.62)));
    const box = { left: 56, right: this.width - 16, top: 10, bottom: height - 46 };
    const [across, up] = this.choosers.map((chooser) => Number(chooser.value));
    const [xs, ys] = [this.values(across), this.values(up)];
    const x = { range: range(xs, 0.05) }, y = { range: range(ys, 0.05) };
    x.place = scale(x.range, box.left, box.right);
    y.place = scale(y.range, box.bottom, box.top);
    const svg = make("svg", { width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, "aria-hidden": "true" });
    drawAxes(svg, box, x, y, [this.axis(across), this.axis(up)]);
    this.paint = this.colors();
    this.places = xs.map((value, i) => [x.place(value), y.place(ys[i])]);
    const size = this.count > 1500 ? 0.6 : this.count > 400 ? 0.8 : 1.2;
    const points = make("g", { class: "points" });
    this.places.forEach(([left, top], i) => {
      const at = { d: SHAPES[this.paint.shape(i)], transform: `translate(${left.toFixed(1)},${top.toFixed(1)}) scale(${size})` };
      const fill = this.paint.fill(i);
      points.append(make("path", fill ? { ...at, fill } : { ...at, class: "plain" }));
    });
    this.ring = make("circle", { class: "ring", r: 9, visibility: "hidden" });
    svg.append(points, this.ring);
    this.plot.replaceChildren(svg, this.tip);
    this.order = [...xs.keys()].sort((a, b) => xs[a] - xs[b]);
    this.legend();
    this.point(this.current);
  }

  legend() {
    const place = document.getElementById("legend");
    const paint = this.paint;
    if (paint.classes) {
      place.replaceChildren(make("ul", { "aria-label": "Colors" }, ...paint.classes.map((name, k) => {
        const mark = make("path", { d: SHAPES[k % SHAPES.length], fill: paint.choice.colors[k], transform: "translate(8,8) scale(1.3)" });
        const svg = make("svg", { width: 16, height: 16, "aria-hidden": "true", class: "points" }, mark);
        return make("li", {}, svg, make("bdi", {}, name));
      })));
    } else if (paint.limits) {
      const boxes = Array.from({ length: 24 }, (_, k) => make("rect", { x: k * 6, y: 0, width: 6.5, height: 12, fill: viridis(k / 23) }));
      const bar = make("svg", { width: 144, height: 12, "aria-hidden": "true" }, ...boxes);
      const [low, high] = paint.limits.map(shown);
      place.replaceChildren(make("p", {}, make("bdi", {}, paint.label), " ", low + " ", bar, " " + high));
    } else place.replaceChildren();
  }

  near(event) {
    const frame = this.plot.getBoundingClientRect();
    const [left, top] = [event.clientX - frame.left - this.plot.clientLeft, event.clientY - frame.top - this.plot.clientTop];
    let best = -1, least = 24 ** 2;
    this.places.forEach((place, i) => {
      const distance = (place[0] - left) ** 2 + (place[1] - top) ** 2;
      if (distance < least) [best, least] = [i, distance];
    });
    this.point(best);
  }

  key(event) {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    let place = this.order.indexOf(this.current);
    if (event.key in steps) place = place < 0 ? (steps[event.key] > 0 ? 0 : this.count - 1) : place + steps[event.key];
    else if (event.key === "Home") place = 0;
    else if (event.key === "End") place = this.count - 1;
    else if (event.key === "Escape") place = -1;
    else return;
    event.preventDefault();
    this.point(place < 0 && event.key !== "Escape" ? this.order[0] : this.order[Math.min(place, this.count - 1)] ?? -1);
    // Announce the sample to screen readers.
    this.told.textContent = this.current < 0 ? "" : this.words(this.current);
  }

  words(i) {
    const [across, up] = this.choosers.map((chooser) => Number(chooser.value));
    const of = this.paint.label ? `${this.paint.label} ${this.paint.text(i)}, ` : "";
    return `${this.content.samples[i]}: ${of}${this.axis(across)} ${shown(this.values(across)[i])}, ${this.axis(up)} ${shown(this.values(up)[i])}`;
  }

  point(i) {
    this.current = i;
    this.tip.hidden = i < 0;
    this.ring.setAttribute("visibility", i < 0 ? "hidden" : "visible");
    if (i < 0) return;
    const [left, top] = this.places[i];
    this.ring.setAttribute("cx", left);
    this.ring.setAttribute("cy", top);
    const [across, up] = this.choosers.map((chooser) => Number(chooser.value));
    const lines = [make("strong", {}, make("bdi", {}, this.content.samples[i]))];
    if (this.paint.label) lines.push(make("span", {}, make("bdi", {}, this.paint.label), ": ", make("bdi", {}, this.paint.text(i))));
    for (const axis of [across, up]) lines.push(make("span", {}, `${this.axis(axis)}: ${shown(this.values(axis)[i])}`));
    this.tip.replaceChildren(...lines);
    const [w, h] = [this.tip.offsetWidth, this.tip.offsetHeight];
    this.tip.style.left = Math.max(0, Math.min(left + 14, this.width - w - 4)) + "px";
    this.tip.style.top = (top - h - 14 < 0 ? top + 16 : top - h - 12) + "px";
  }

  list() {
    const holder = document.getElementById("samples");
    if (!document.querySelector("#scatter details").open) return;
    const [across, up] = this.choosers.map((chooser) => Number(chooser.value));
    const [xs, ys] = [this.values(across), this.values(up)];
    const columns = [{ label: "Sample", kind: "text" }];
    if (this.paint.label) columns.push({ label: this.paint.label, kind: this.paint.classes ? "text" : "number" });
    for (const axis of [across, up]) columns.push({ label: this.axis(axis), kind: "number" });
    const raw = this.content.colors[Number(this.choosers[2].value)];
    const rows = this.content.samples.map((name, i) => {
      const color = this.paint.classes ? [this.paint.text(i)] : this.paint.label ? [raw.values[i]] : [];
      return [name, ...color, xs[i], ys[i]];
    });
    const table = { caption: "Samples in the plot", columns, rows };
    if (this.table) { this.table.show("samples", table); return; }
    const empty = make("table", {}, make("caption"), make("thead"), make("tbody"));
    holder.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region" }, empty));
    this.table = new LiveTable(holder, "samples", table);
  }
}
