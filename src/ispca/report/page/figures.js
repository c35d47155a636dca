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

function standalone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  // Papers are white: the colors of the dark page are not saved.
  document.documentElement.classList.add("paper");
  from.forEach((node, k) => {
    const style = getComputedStyle(node);
    for (const name of DRAWN) to[k].setAttribute(name, style.getPropertyValue(name));
    to[k].removeAttribute("class");
  });
  document.documentElement.classList.remove("paper");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
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
    button.addEventListener("click", () => save(`figure-${number}.${kind.toLowerCase()}`, standalone(figure.querySelector("svg"))));
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
