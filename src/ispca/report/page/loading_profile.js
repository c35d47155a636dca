// Loading profile: the loadings of all features on a component, in the order of the columns.
class Profile {
  constructor({ profiles, per_point, positions, position_label }) {
    this.profiles = profiles;
    this.perPoint = per_point;
    this.positions = positions;
    this.label = positions ? position_label : "column";
    this.figure = document.getElementById("profile");
    this.place = document.getElementById("profile-plot");
    this.component = 0;
    this.figure.hidden = false;
    new ResizeObserver(() => { if (this.place.clientWidth !== this.width) this.draw(); }).observe(this.place);
    this.draw();
  }

  show(component) {
    this.component = component;
    this.draw();
  }

  draw() {
    this.width = this.place.clientWidth || 640;
    const height = 190;
    const box = { left: 56, right: this.width - 22, top: 10, bottom: height - 44 };
    const [low, high] = this.profiles[this.component];
    const position = (k) => (this.positions ? this.positions[k] : 1 + k * this.perPoint);
    const ends = this.positions ? [position(0), position(low.length - 1)] : [1, Math.max(low.length * this.perPoint, 2)];
    // Wavenumbers run from high to low: so does the axis then.
    const ordered = [Math.min(...ends), Math.max(...ends)];
    const x = { range: ordered, place: scale(ends, box.left, box.right) };
    const y = { range: range([0, ...low, ...high], 0.04) };
    y.place = scale(y.range, box.bottom, box.top);
    const what = `Loadings of all features on component ${this.component + 1}, in the order of the columns`;
    const svg = make("svg", { width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, role: "img", "aria-label": what });
    drawAxes(svg, box, x, y, [this.label, "loading"]);
    const zero = y.place(0);
    let path = "";
    low.forEach((value, k) => {
      if (value === 0 && high[k] === 0) return;
      const at = x.place(position(k)).toFixed(1);
      path += `M${at},${Math.max(zero, y.place(value)).toFixed(1)}V${Math.min(zero, y.place(high[k])).toFixed(1)}`;
    });
    svg.append(make("path", { class: "profile", d: path }));
    this.place.replaceChildren(svg);
    const cut = this.perPoint > 1 ? ` Each line spans ${this.perPoint} neighboring columns.` : "";
    document.getElementById("profile-text").textContent = what + "." + cut;
  }
}
