// Shared by the plots: ticks, scales, colors and markers.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
const SHAPES = [
  "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
  "M-3.6,-3.6h7.2v7.2h-7.2z",
  "M0,-4.8L4.6,3.4H-4.6z",
  "M0,-5L4.4,0L0,5L-4.4,0z",
  "M0,4.8L4.6,-3.4H-4.6z",
  "M-1.6,-4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",
  "M-4.8,-2.5L-2.5,-4.8L0,-2.3L2.5,-4.8L4.8,-2.5L2.3,0L4.8,2.5L2.5,4.8L0,2.3L-2.5,4.8L-4.8,2.5L-2.3,0z",
  "M0,-5L1.4,-1.6L4.9,-1.5L2.1,0.7L3.1,4.2L0,2.2L-3.1,4.2L-2.1,0.7L-4.9,-1.5L-1.4,-1.6z",
];

function niceTicks(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / (most + 0.5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

function range(values, margin) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!(high > low)) return [low - 1, high + 1];
  return [low - margin * (high - low), high + margin * (high - low)];
}

function scale([low, high], from, to) {
  return (value) => from + (to - from) * ((value - low) / (high - low));
}

function viridis(fraction) {
  const place = Math.min(Math.max(fraction, 0), 1) * (VIRIDIS.length - 1);
  const below = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mixed = VIRIDIS[below].map((value, i) => Math.round(value + (place - below) * (VIRIDIS[below + 1][i] - value)));
  return `rgb(${mixed.join(",")})`;
}

function drawAxes(svg, box, x, y, labels) {
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  for (const tick of niceTicks(...x.range, Math.max(2, Math.floor(width / 70)))) {
    const at = x.place(tick);
    svg.append(make("line", { class: tick === 0 ? "zero" : "grid", x1: at, x2: at, y1: box.top, y2: box.bottom }));
    svg.append(make("text", { class: "tick", x: at, y: box.bottom + 16, "text-anchor": "middle" }, shown(tick)));
  }
  for (const tick of niceTicks(...y.range, Math.max(2, Math.floor(height / 45)))) {
    const at = y.place(tick);
    svg.append(make("line", { class: tick === 0 ? "zero" : "grid", x1: box.left, x2: box.right, y1: at, y2: at }));
    svg.append(make("text", { class: "tick", x: box.left - 6, y: at + 4, "text-anchor": "end" }, shown(tick)));
  }
  const middle = (box.top + box.bottom) / 2;
  svg.append(make("text", { class: "label", x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, labels[0]));
  svg.append(make("text", { class: "label", transform: `translate(13,${middle}) rotate(-90)`, "text-anchor": "middle" }, labels[1]));
}
