"""The files of a small study as a user has them, and a command line as this user types it."""

import csv
import shlex
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ispca.cli import main

N, D = 24, 60
# What a test adds to the line of a user to save time; the second also leaves out the cross-validation.
SHORT = ("--bags=0", "--components", "4", "--draws", "40", "--force")
SHORTER = (*SHORT, "--cv", "0")


@dataclass(frozen=True)
class Answer:
    """What a command printed: results, and notes without the program's name."""

    out: str
    err: str

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def notes(self):
        """The notes, except that so short chains have not converged."""
        lines = (line.removeprefix("ispca: ") for line in self.err.splitlines() if line.startswith("ispca: "))
        return [line for line in lines if not line.startswith("The chains have NOT converged")]

    @property
    def warnings(self):
        return [note for note in self.notes if note.startswith("warning: ")]


def type_in(line, capsys, code=0, added=None):
    """Run a line that starts with ``ispca``, check its exit code, and return what it printed."""
    name, command, *words = shlex.split(line, comments=True)
    assert name == "ispca"
    if added is None and command == "fit":
        added = SHORT if "--cv" in words else SHORTER
        # What the line says about bags counts.
        added = [word for word in added if word != "--bags=0" or "--bags" not in words]
    capsys.readouterr()
    try:
        found = main([command, *words, *(added or ())])
    except SystemExit as stop:
        found = stop.code
    assert found == code, capsys.readouterr()
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return Answer(captured.out, captured.err)


def text(name):
    return Path(name).read_text(encoding="utf-8")


def table(name):
    """Return the header of a CSV file, and its rows."""
    with open(name, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def write(name, rows):
    Path(name).write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")


SAMPLES = f"{N} samples, {D} features, target 'tissue': classes normal (12), tumour (12)."


class Study:
    """Normal samples and tumours, in random order, with six of sixty genes that differ."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.tissue = rng.permutation(np.repeat(["normal", "tumour"], N // 2))
        self.X = rng.normal(8.0, 1.0, size=(N, D))
        self.X[self.tissue == "tumour", :6] += 2
        self.ids = [f"s{i:02d}" for i in range(N)]
        self.genes = [f"g{j}" for j in range(D)]

    def counts(self):
        """Return counts of reads that follow the genes, with libraries of different sizes."""
        depth = self.rng.uniform(0.3, 3.0, size=(N, 1)) * self.rng.lognormal(4.0, 2.0, size=D)
        return self.rng.poisson(depth * np.exp((self.X - 8) / 2)).astype(int)

    def rows(self, first="id", target=True, genes=slice(None), decimals=4):
        head = [first, "tissue"] if target else [first]
        rows = [[*head, *self.genes[genes]]]
        for name, tissue, values in zip(self.ids, self.tissue, self.X, strict=True):
            rows.append([name, *([tissue] if target else []), *np.round(values[genes], decimals).tolist()])
        return rows

    def write_table(self, name, **how):
        write(name, self.rows(**how))

    def write_matrix(self, name):
        """Genes in rows, with a column of symbols."""
        rows = [["gene", "Gene Symbol", *self.ids]]
        for gene, values in zip(self.genes, self.X.T, strict=True):
            rows.append([gene, f"SYM{gene[1:]}", *np.round(values, 4).tolist()])
        write(name, rows)

    def write_sheet(self, name, extra=(), leave_out=()):
        order = [i for i in self.rng.permutation(N) if self.ids[i] not in leave_out]
        rows = [[self.ids[i], self.tissue[i], 40 + i] for i in order]
        write(name, [["sample", "tissue", "age"], *rows, *extra])
