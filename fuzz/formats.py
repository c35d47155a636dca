"""Mutations that know the structure of a file: arrays, headers, sparse indices, XML, JSON, checksums."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import zipfile
from typing import Any

import numpy as np

from .mutations import mutate
from .seeds import Seed, annotated_file
from .zips import bomb_member, broken_entry, gzip_bomb, pack, sign, unpack

MARK = b"ispca model sha256 " + b"0" * 64
BOMBS = 0.004
EXTREME = (0, 1, -1, 2, 5, 100, -(2**31), 2**31 - 1, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1)
FLOATS = (0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-300, 1e155, 0.5)
HEADERS = (
    "(0,)",
    "(-1,)",
    "(1,)",
    "()",
    "(99999999999,)",
    "(2, 4)",
    "(4, 2)",
    "(0, 9223372036854775807)",
    "(True,)",
)
DTYPES = (
    "<f8",
    ">f8",
    "<f4",
    "<f2",
    "|b1",
    "<i8",
    "<u8",
    "<i4",
    "|S8",
    "<U2",
    "|O",
    "<c16",
    "<M8[s]",
    "|V8",
    "<U0",
)
NODES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 1.5, 10**9, 2**63, 10**30, -(10**18), 1e308, float("inf"), float("nan")),
    *("", "x", "a" * 300, "\0", "auto", "gaussian", "g1", "ISPCA", "\ud800", "__class__", [], {}, [[]], {"": 0}),
    *({"array": 0}, {"array": 1}, {"array": 10**6}, {"array": -1}, {"array": True}, {"array": None}, {"list": []}),
    *({"tuple": [1, 2]}, {"scalar": {"array": 0}}, {"scalar": 1}, {"strings": ["a", "b"]}, {"strings": [1]}),
    *({"strings": {"a": 1}}, {"record": "Step", "fields": {}}, {"record": [], "fields": {}}, {"pipeline": []}),
    *({"estimator": "ISPCA", "parameters": {}, "fitted": {}}, {"pipeline": [["a", None]]}, {"pipeline": [1]}),
)


def mutate_gzip(rng: random.Random, seed: Seed, others: list[Seed]) -> bytes:
    """Change the text inside a gzip file, or make it a bomb."""
    if rng.random() < BOMBS:
        return gzip_bomb(
            *rng.choice(((b"id,g1,g2,state\n", b"s,1,2,ill\n"), (b"id,g1,state\n", b'"'), (b"", b"\0")))
        )
    text = mutate(rng, gzip.decompress(seed.content), [gzip.decompress(other.content) for other in others])
    return gzip.compress(text, 1, mtime=0)


def workbook(rng: random.Random, seed: Seed, others: list[Seed]) -> bytes:
    """Change the XML of a sheet, or the archive around it."""
    sheet = "xl/worksheets/sheet1.xml"
    members = unpack(seed.content)
    if rng.random() < BOMBS:
        start = members[sheet].partition(b"</sheetData>")[0]
        return bomb_member(seed.content, sheet, start, b'<row><c t="n"><v>1</v></c></row>')
    if rng.random() < 0.15:
        return broken_entry(rng, seed.content)
    name = sheet if rng.random() < 0.6 else rng.choice(list(members))
    if rng.random() < 0.1:
        del members[name]
        return pack(members)
    text = members[name]
    if rng.random() < 0.6:
        text = _changed_xml(rng, text)
    members[name] = text if rng.random() < 0.5 else mutate(rng, text, [text])
    return pack(members)


def _changed_xml(rng: random.Random, text: bytes) -> bytes:
    changes = (
        (b'r="A1"', b'r="XFD1048576"'),
        (b'r="B2"', b'r="ZZZZZZ99999999999"'),
        (b'r="B2"', b'r="2"'),
        (b'<row r="3"', b'<row r="1048576"'),
        (b'<row r="3"', b'<row r="-3"'),
        (b'<row r="3"', b'<row r="x"'),
        (b't="n"', rng.choice((b't="s"', b't="b"', b't="d"', b't="e"', b't="inlineStr"', b't="?"'))),
        (b"<v>", rng.choice((b"<v>1e999", b"<v>-", b"<v>x", b"<v>99999999999", b"<v>\xc2\xb2"))),
        (b'<dimension ref="', b'<dimension ref="A1:XFD1048576" x="'),
        (b"<sheetData>", b"<sheetData>" + b"<row/>" * 200),
        (b"<worksheet", b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "' + b"&a;" * 50 + b'">]><worksheet'),
        (b"<v>", b"<v>&b;"),
    )
    for old, new in rng.sample(changes, rng.choice((1, 1, 2, 3))):
        text = text.replace(old, new, rng.choice((1, 1, -1)))
    return text


def mutate_h5ad(rng: random.Random, seed: Seed, others: list[Seed]) -> bytes:
    """Change the arrays of an h5ad file."""
    parts = _h5ad_parts(seed.content)
    if rng.random() < 0.05:
        name = rng.choice([name for name in parts if name not in ("kind", "X/shape")])
        parts[name] = rng.choice(((10**6, 10**6), (10**9,), (8, 10**8), (10**10, 1), (0, 10**9)))
    elif rng.random() < 0.05:
        del parts[rng.choice([name for name in parts if name != "kind"])]
    else:
        _change_some(rng, parts)
    if "kind" in parts and rng.random() < 0.1:
        parts["kind"] = rng.choice(("csc", "csr", "coo", ""))
    content = annotated_file(parts)
    return mutate(rng, content, [content]) if rng.random() < 0.1 else content


def _h5ad_parts(content: bytes) -> dict[str, Any]:
    import h5py

    parts: dict[str, Any] = {}
    with h5py.File(io.BytesIO(content)) as file:

        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                parts[name] = item.asstr()[()] if item.dtype.kind == "O" else item[()]
            elif "shape" in item.attrs:
                parts["X/shape"] = item.attrs["shape"]
                parts["kind"] = item.attrs["encoding-type"][:3]

        file.visititems(visit)
    return parts


def arrays(rng: random.Random, seed: Seed, others: list[Seed]) -> bytes:
    """Change the arrays of an .npz file, their headers, or the archive around them."""
    members = unpack(seed.content)
    name = rng.choice(list(members))
    chance = rng.random()
    if chance < BOMBS:
        header = _header("<f8", "(8, 25165824)")
        return bomb_member(seed.content, name, header, bytes(8))
    if chance < 0.1:
        return broken_entry(rng, seed.content)
    if chance < 0.15:
        members[rng.choice(("X.npy", "indptr.npy", "shape.npy", "x", "a/b.npy", "y"))] = members.pop(name)
        return pack(members)
    _change_member(rng, members, name)
    return pack(members, method=rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)))


def _change_member(rng: random.Random, members: dict[str, bytes], name: str) -> None:
    """Change an array: its values, its header, or its bytes."""
    chance = rng.random()
    if chance < 0.55:
        loaded = {key: np.load(io.BytesIO(values)) for key, values in members.items() if key.endswith(".npy")}
        before = dict(loaded)
        _change_some(rng, loaded)
        members |= {key: _save(values) for key, values in loaded.items() if values is not before[key]}
    elif chance < 0.85:
        members[name] = _changed_header(rng, members[name])
    else:
        members[name] = mutate(rng, members[name], list(members.values()))


def _save(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=True)
    return file.getvalue()


def _header(descr: str, shape: str, order: str = "False") -> bytes:
    text = f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode()


def _changed_header(rng: random.Random, content: bytes) -> bytes:
    end = content.find(b"\n") + 1
    if end == 0 or rng.random() < 0.4:
        head = mutate(rng, content[:end], [content[:end]])
    else:
        head = _header(rng.choice(DTYPES), rng.choice(HEADERS), rng.choice(("False", "True", "1")))
    return head + content[end:]


def _change_some(rng: random.Random, values: dict[str, Any]) -> None:
    names = [name for name, array in values.items() if isinstance(array, np.ndarray)]
    for name in rng.sample(names, min(len(names), rng.choice((1, 1, 1, 2, 3)))):
        values[name] = changed_array(rng, values[name])


def changed_array(rng: random.Random, values: np.ndarray) -> np.ndarray:
    """Return the array with other values, of another type, or of another shape."""
    chance = rng.random()
    if chance < 0.5 and values.size and values.dtype.kind in "iuf":
        changed = values.copy()
        numbers = FLOATS if values.dtype.kind == "f" else EXTREME
        for _ in range(rng.choice((1, 1, 3))):
            value = np.array(rng.choice(numbers))
            with np.errstate(all="ignore"):
                changed.reshape(-1)[rng.randrange(values.size)] = value.astype(values.dtype)
        return changed
    if chance < 0.7:
        types = ("f8", "f4", "f2", "i8", "i4", "u1", "U", "S", "O", "?", "c16", "datetime64[s]")
        try:
            with np.errstate(all="ignore"):
                return values.astype(rng.choice(types))
        except (ValueError, TypeError):
            return values[:0]
    if chance < 0.85:
        return np.resize(
            values, rng.choice(((0,), (1,), (3,), (8,), (8, 4), (4, 8), (9, 4), (2, 2, 2), (), (0, 4)))
        )
    return np.concatenate([values, values]) if values.ndim else values[None]


def model(rng: random.Random, seed: Seed, others: list[Seed]) -> bytes:
    """Change a model file behind its checksum, which is made valid again."""
    members = unpack(seed.content)
    chance = rng.random()
    if chance < BOMBS:
        number = rng.choice([name for name in members if name != "model.json"])
        choice = rng.choice(((number, _header("<f8", "(201326592,)"), bytes(8)), ("model.json", b"[", b"[],")))
        return sign(bomb_member(seed.content, *choice, comment=MARK))
    if chance < 0.12:
        return sign(broken_entry(rng, seed.content))
    if chance < 0.2:
        return sign(mutate(rng, seed.content[:-83], [seed.content[:-83]]) + MARK)
    if chance < 0.25:
        members[rng.choice(("array99.npy", "array0.npy", "model.json", "../x"))] = rng.choice(
            list(members.values())
        )
        return sign(pack(members, MARK))
    if chance < 0.75:
        members["model.json"] = _changed_json(rng, members["model.json"])
    if chance > 0.55:
        _change_member(rng, members, rng.choice([name for name in members if name != "model.json"]))
    method = rng.choice((zipfile.ZIP_DEFLATED,) * 18 + (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2))
    return sign(pack(members, MARK, method))


def _changed_json(rng: random.Random, text: bytes) -> bytes:
    if rng.random() < 0.15:
        return mutate(rng, text, [text])
    tree = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        _change_tree(rng, tree)
    return json.dumps(tree).encode()


def _change_tree(rng: random.Random, tree: Any) -> None:
    """Replace, remove, copy or rename one random entry."""
    places: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        places += [(node, key) for key in keys]
        todo += [node[key] for key in keys if isinstance(node[key], dict | list)]
    if not places:
        return
    node, key = rng.choice(places)
    chance = rng.random()
    if chance < 0.45:
        node[key] = copy.deepcopy(rng.choice(NODES))
    elif chance < 0.65:
        other, name = rng.choice(places)
        # A copy, because a tree that contains itself cannot be written.
        node[key] = json.loads(json.dumps(other[name]))
    elif chance < 0.75:
        del node[key]
    elif chance < 0.9 and isinstance(node, dict):
        node[rng.choice(("x_", "fit", "classes_", "feature_names_in_", "random_state", "__class__"))] = node.pop(
            key
        )
    elif isinstance(node[key], list):
        node[key] = node[key][:100] * rng.choice((0, 2, 50))
    elif isinstance(node[key], int) and not isinstance(node[key], bool):
        node[key] = rng.choice(EXTREME)
    else:
        node[key] = [node[key]]
