// Tables: sort by column, search, show more rows, download as CSV.
const FIRST_ROWS = 15, MORE_ROWS = 200, LONG = 30;
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "text", "circle", "rect", "polyline"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  // Strings become text nodes, never markup.
  node.append(...children);
  return node;
}

function shown(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en").replace("-", "−");
  const small = Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6;
  return (small ? value.toExponential(3) : String(Number(value.toPrecision(4)))).replaceAll("-", "−");
}

function compareCells(a, b, kind, direction) {
  const none = (a === null || a === "") - (b === null || b === "");
  if (none !== 0) return none;
  return direction * (kind === "number" ? a - b : collator.compare(a, b));
}

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  // Spreadsheets would evaluate text that starts like a formula; same rule as in _csv.py.
  const number = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|nan)$/i.test(value);
  const text = /^[=+\-@\t\r]/.test(value) && !number ? "'" + value : value;
  return '"' + text.replaceAll('"', '""') + '"';
}

function saveCsv(name, columns, rows) {
  const lines = [columns.map((column) => csvCell(column.label)), ...rows.map((row) => row.map(csvCell))];
  const text = "\ufeff" + lines.map((line) => line.join(",")).join("\r\n") + "\r\n";
  saveFile(name + ".csv", new Blob([text], { type: "text/csv;charset=utf-8" }));
}

class LiveTable {
  constructor(holder, key, table) {
    this.holder = holder;
    this.element = holder.querySelector("table");
    this.tools = make("div", { class: "tools" });
    this.search = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    this.label = make("label", {}, "Search ", this.search);
    this.button = make("button", { type: "button" }, "Download CSV");
    this.told = make("span", { class: "count", role: "status" });
    this.tools.append(this.label, this.button, this.told);
    holder.querySelector(".scroll").before(this.tools);
    holder.querySelector(".more")?.remove();
    this.grow = make("button", { type: "button", class: "grow" }, "Show more rows");
    holder.querySelector(".scroll").after(this.grow);
    this.search.addEventListener("input", () => { this.limit = FIRST_ROWS; this.draw(); });
    this.grow.addEventListener("click", () => { this.limit += MORE_ROWS; this.draw(); });
    this.button.addEventListener("click", () => saveCsv(this.key, this.table.columns, this.rows()));
    this.show(key, table);
  }

  show(key, table) {
    this.key = key;
    this.table = table;
    this.limit = FIRST_ROWS;
    this.sorted = null;
    this.label.hidden = table.rows.length <= 10;
    this.tools.hidden = this.label.hidden && this.holder.dataset.save === undefined;
    if (this.label.hidden) this.search.value = "";
    this.element.caption.textContent = table.caption;
    this.holder.querySelector(".scroll").setAttribute("aria-label", table.caption);
    const heads = table.columns.map((column, place) => {
      const button = make("button", { type: "button" }, column.label, make("span", { class: "arrow", "aria-hidden": "true" }));
      button.addEventListener("click", () => this.sort(place));
      return make("th", { scope: "col", class: column.kind }, button);
    });
    this.element.tHead.replaceChildren(make("tr", {}, ...heads));
    this.draw();
  }

  sort(place) {
    const number = this.table.columns[place].kind === "number";
    const again = this.sorted?.place === place;
    // Numbers sort in descending order first, text in ascending order.
    this.sorted = { place, direction: again ? -this.sorted.direction : number ? -1 : 1 };
    this.draw();
  }

  rows() {
    const word = this.search.value.trim().toLowerCase();
    const texts = this.table.columns.map((column, place) => (column.kind === "text" ? place : -1)).filter((i) => i >= 0);
    const has = (row) => texts.some((place) => String(row[place] ?? "").toLowerCase().includes(word));
    const rows = word ? this.table.rows.filter(has) : [...this.table.rows];
    if (this.sorted) {
      const { place, direction } = this.sorted;
      const kind = this.table.columns[place].kind;
      rows.sort((a, b) => compareCells(a[place], b[place], kind, direction));
    }
    return rows;
  }

  // The name of a sample that is in the score plot leads to it.
  name(row, value) {
    const point = this.table.points?.[this.table.rows.indexOf(row)];
    if (point === undefined || point === null) return make("bdi", {}, shown(value));
    const button = make("button", { type: "button", class: "link", title: "Show in the score plot" }, make("bdi", {}, shown(value)));
    button.addEventListener("click", () => showSample(point));
    return button;
  }

  draw() {
    const rows = this.rows();
    const total = this.table.rows.length;
    const lines = rows.slice(0, this.limit).map((row) => make("tr", {}, ...row.map((value, place) =>
      this.table.columns[place].kind === "number"
        ? make("td", { class: "number" }, shown(value))
        : make("td", String(value ?? "").length > LONG ? { class: "long" } : {}, place === 0 ? this.name(row, value) : make("bdi", {}, shown(value))))));
    if (!lines.length) lines.push(make("tr", {}, make("td", { colspan: this.table.columns.length }, total ? "No matches." : "None.")));
    this.element.tBodies[0].replaceChildren(...lines);
    [...this.element.tHead.rows[0].cells].forEach((cell, place) => {
      const here = this.sorted?.place === place;
      if (here) cell.setAttribute("aria-sort", this.sorted.direction > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    const seen = Math.min(rows.length, this.limit).toLocaleString("en");
    const found = rows.length < total ? rows.length.toLocaleString("en") + " matches of " : "";
    this.told.textContent = rows.length > this.limit || found ? `${seen} rows shown of ${found}${total.toLocaleString("en")}` : "";
    this.grow.hidden = rows.length <= this.limit;
  }
}
