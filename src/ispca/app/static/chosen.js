// The files that were dropped: the data and, if there is one, a sample sheet. They are sent at once.
import { find, say, show } from "./dom.js";
import { dropZone, sendFile } from "./files.js";

const SHEET_WORDS = /sample|sheet|meta|pheno|clinic|design|annot|info|target|label|covar|patient/i;

// The place of the data among two files: the other one is the sample sheet.
function guessMatrix(files) {
  if (files.length < 2) return 0;
  const matrices = find("drop").dataset.matrices.split(",");
  const isMatrix = ({ name }) => matrices.some((suffix) => name.toLowerCase().endsWith(suffix));
  const [first, second] = files.map((file) => (isMatrix(file) ? -1 : SHEET_WORDS.test(file.name) ? 1 : 0));
  if (first !== second) return first < second ? 0 : 1;
  return files[0].size >= files[1].size ? 0 : 1;
}

// `goOn` is called with the uploads, {matrix, sheet or null}, when the button is pressed. Returns how to start over.
export function chosenFiles(goOn) {
  const lines = [];
  const usable = () => lines.filter((line) => !line.failed);

  function arrange() {
    const sent = usable();
    sent.forEach((line, place) => {
      line.extra.textContent = place === 0 ? "Data" : "Sample sheet";
      line.extra.className = "state";
      find("chosen-files").append(line.element);
    });
    for (const line of lines.filter((each) => each.failed)) line.extra.textContent = "";
    find("chosen").hidden = lines.length === 0;
    find("swap").hidden = sent.length < 2;
    find("continue").disabled = !sent.length || sent.some((line) => line.id === null);
    const hints = ["", "If the samples are described in a second file, drop it too.", "The data contain the measurements, the sample sheet one row per sample. Swap them if this is wrong."];
    find("chosen-hint").textContent = hints[sent.length];
  }

  function ended(line) {
    const had = document.activeElement === document.body;
    if (line.removed) lines.splice(lines.indexOf(line), 1);
    arrange();
    // The button that was pressed is gone.
    if (line.removed && had) find("drop").querySelector("input").focus();
  }

  function choose(files) {
    for (const line of lines.filter((each) => each.failed)) {
      line.element.remove();
      lines.splice(lines.indexOf(line), 1);
    }
    if (files.length + lines.length > 2) {
      show(find("drop-error"), "Use at most two files: the data and, if you have one, a sample sheet.");
      return;
    }
    show(find("drop-error"), "");
    lines.push(...files.map((file) => sendFile(file, ended)));
    if (guessMatrix(lines.map((line) => line.file)) === 1) lines.reverse();
    arrange();
    say(`Sending ${files.map((file) => file.name).join(" and ")}.`);
  }

  function swap() {
    lines.reverse();
    arrange();
    const [matrix, sheet] = usable();
    say(`${matrix.file.name} is the data, ${sheet.file.name} the sample sheet.`);
  }

  dropZone(find("drop"), choose);
  find("swap").addEventListener("click", swap);
  find("continue").addEventListener("click", () => {
    const [matrix, sheet] = usable();
    goOn({ matrix: matrix.id, sheet: sheet?.id ?? null });
  });
  return () => {
    for (const line of lines.splice(0)) line.element.remove();
    arrange();
  };
}
