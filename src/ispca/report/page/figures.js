// Save a figure as SVG or PNG, in light colors, without network; copy and save plain text.
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family"];

function saveFile(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The lines of a text that fit into a width; letters of captions are about half as wide as high.
function textLines(text, width, size) {
  const lines = [""], most = Math.max(20, Math.floor(width / (size * 0.55)));
  for (const word of text.trim().split(/\s+/)) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= most) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines;
}

// A figure with its legend, if that is outside the drawing, and its caption, as one drawing.
function compose(figure) {
  const svg = figure.querySelector("svg"), size = 13;
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const copy = svg.cloneNode(true);
  copy.querySelector(".ring")?.remove();
  let bottom = height + 8;
  const line = (text) => { copy.append(make("text", { class: "label", x: 8, y: bottom + size }, text)); bottom += size + 5; };
  for (const item of figure.querySelectorAll(".legend li, .legend p")) {
    const mark = item.querySelector("svg");
    if (item.matches("p")) {
      const [low, high] = item.dataset.ends.split("|"), start = 8;
      copy.append(make("text", { class: "label", x: start, y: bottom + size }, `${item.dataset.label}: ${low}`));
      const bar = make("g", { transform: `translate(${start},${bottom + size + 6})` }, ...[...mark.childNodes].map((node) => node.cloneNode(true)));
      copy.append(bar, make("text", { class: "label", x: start + 150, y: bottom + 2 * size + 4 }, high));
      bottom += 2 * size + 12;
    } else {
      const drawn = make("g", { class: "points", transform: `translate(4,${bottom})` }, ...[...mark.childNodes].map((node) => node.cloneNode(true)));
      copy.append(drawn, make("text", { class: "label", x: 26, y: bottom + size }, item.textContent));
      bottom += size + 6;
    }
  }
  bottom += 4;
  textLines(figure.querySelector("figcaption").textContent, width - 16, size).forEach(line);
  copy.setAttribute("viewBox", `0 0 ${width} ${Math.ceil(bottom + 8)}`);
  return copy;
}

function standalone(figure) {
  const copy = compose(figure);
  // Styles are known only of what is in the page.
  const holder = make("div", { class: "saved" }, copy);
  figure.append(holder);
  // Papers are white: the colors of the dark page are not saved.
  document.documentElement.classList.add("paper");
  for (const node of [copy, ...copy.querySelectorAll("*")]) {
    const style = getComputedStyle(node);
    const values = DRAWN.map((name) => [name, style.getPropertyValue(name)]);
    values.forEach(([name, value]) => node.setAttribute(name, value));
  }
  // Only now, because a class of a parent may style its children.
  for (const node of [copy, ...copy.querySelectorAll("*")]) node.removeAttribute("class");
  holder.remove();
  document.documentElement.classList.remove("paper");
  const [, , width, height] = copy.getAttribute("viewBox").split(" ").map(Number);
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height })) copy.setAttribute(name, value);
  copy.prepend(make("rect", { width, height, fill: "#ffffff", stroke: "none" }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function savePng(name, { text, width, height }) {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = make("canvas", { width: 3 * width, height: 3 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, 3 * width, 3 * height);
    canvas.toBlob((blob) => saveFile(name, blob), "image/png");
  });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
}

for (const figure of document.querySelectorAll("figure[data-figure]")) {
  const number = figure.querySelector("figcaption").textContent.match(/Figure (\d+)/)[1];
  const buttons = { SVG: (name, saved) => saveFile(name, new Blob([saved.text], { type: "image/svg+xml" })), PNG: savePng };
  const tools = make("div", { class: "tools save" });
  for (const [kind, save] of Object.entries(buttons)) {
    const button = make("button", { type: "button", "aria-label": `Save figure ${number} as ${kind}` }, kind);
    button.addEventListener("click", () => save(`figure-${number}.${kind.toLowerCase()}`, standalone(figure)));
    tools.append(button);
  }
  figure.append(tools);
}

for (const block of document.querySelectorAll("[data-text]")) {
  const text = block.querySelector("pre, p").textContent;
  const told = make("span", { role: "status", class: "count" });
  const copy = make("button", { type: "button" }, "Copy"), save = make("button", { type: "button" }, "Save as text");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      told.textContent = "Copied.";
    } catch {
      // Without permission, the text is selected, so that the keyboard can copy it.
      getSelection().selectAllChildren(block.querySelector("pre, p"));
      told.textContent = "Selected: press Ctrl+C to copy.";
    }
  });
  save.addEventListener("click", () => saveFile(block.dataset.text + ".txt", new Blob([text.trim() + "\n"], { type: "text/plain;charset=utf-8" })));
  block.append(make("div", { class: "tools" }, copy, save, told));
}

// Say so where a table or figure is wider than the screen.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) target.toggleAttribute("data-wide", target.scrollWidth > target.clientWidth + 1);
});
for (const place of document.querySelectorAll(".scroll, .frame")) widths.observe(place);
