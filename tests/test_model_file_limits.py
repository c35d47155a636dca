"""Hostile model files with a valid checksum: refused with one error, before they take memory or time."""

import hashlib
import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from ispca import ISPCA
from ispca.persistence import ModelFileError, load_model, read_details, save_model
from ispca.persistence.archive import DIGITS, MARK

MEBIBYTE = bytes(2**20)


@pytest.fixture(scope="module")
def reduction():
    X = np.random.default_rng(3).normal(size=(20, 6))
    return ISPCA(2, n_supervised=0, random_state=0).fit(X)


@pytest.fixture
def members(reduction, tmp_path):
    """The members of a good file."""
    save_model(reduction, tmp_path / "good")
    with zipfile.ZipFile(tmp_path / "good") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, members, method=zipfile.ZIP_DEFLATED):
    """Write members (bytes, or blocks of bytes) as an archive with a valid checksum."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.comment = MARK + b"0" * DIGITS
        for name, content in members.items():
            with archive.open(name, "w") as member:
                for block in [content] if isinstance(content, bytes) else content:
                    member.write(block)
    return sign(path, path.read_bytes())


def sign(path, content):
    path.write_bytes(content[:-DIGITS] + hashlib.sha256(content[:-DIGITS]).hexdigest().encode())
    return path


def header(text):
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def floats(shape):
    return header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}")


def saved(values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def described(members, **changes):
    return members | {"model.json": json.dumps(json.loads(members["model.json"]) | changes).encode()}


def test_an_unchanged_copy_is_accepted(members, reduction, tmp_path):
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        loaded = load_model(write(tmp_path / "copy", members, method))
        assert np.array_equal(loaded.components_, reduction.components_)


@pytest.mark.slow
def test_an_array_that_unpacks_to_far_more_than_the_file_is_refused(members, tmp_path):
    blocks = [floats((300 * 2**17,)), *[MEBIBYTE] * 300]
    bomb = write(tmp_path / "bomb", members | {"array0.npy": blocks})
    assert bomb.stat().st_size < 2**20
    with pytest.raises(ModelFileError, match=r"takes 0\.3 GB of memory, but the limit for this file is 0\.3 GB"):
        load_model(bomb)


def test_json_that_unpacks_to_far_more_than_the_file_is_refused(members, tmp_path):
    description = members["model.json"].rstrip().removesuffix(b"}")
    blocks = [description, b', "x": [', *[b"[]," * 2**20] * 10, b"0]}"]
    bomb = write(tmp_path / "bomb", members | {"model.json": blocks})
    assert bomb.stat().st_size < 2**17
    for read in (load_model, read_details):
        with pytest.raises(
            ModelFileError, match=r"takes 1\.0 GB of memory, but the limit for this file is 0\.3 GB"
        ):
            read(bomb)


def test_the_limit_can_be_lowered(reduction, tmp_path):
    save_model(reduction, tmp_path / "model")
    for read in (load_model, read_details):
        read(tmp_path / "model", max_bytes=10**6)
        with pytest.raises(ModelFileError, match="raise the limit"):
            read(tmp_path / "model", max_bytes=10**4)


HEADERS = {
    "larger": (floats((10**12,)), "more|limit"),
    "somewhat larger": (floats((100,)), "does not match its size"),
    "smaller": (floats((1,)), "does not match its size"),
    "empty with a huge axis": (floats((0, 2**60)), "limit"),
    "negative": (floats((-1,)), "not an array of numbers or text"),
    "true": (floats((True, 12)), "not an array of numbers or text"),
    "many axes": (floats((1,) * 100), "match|damaged"),
    "objects": (header("{'descr': '|O', 'fortran_order': False, 'shape': (12,), }"), "not an array of numbers"),
    "no bytes": (header("{'descr': '<U0', 'fortran_order': False, 'shape': (9999999999,), }"), "not an array"),
    "fields": (header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (12,), }"), "not an array"),
    "blocks": (
        header("{'descr': ('<f8', (6,)), 'fortran_order': False, 'shape': (2,), }"),
        "not an array|damaged",
    ),
    "not closed": (header("{'descr': '<f8', 'shape': (((("), "damaged"),
    "not a dict": (header("[1, 2"), "damaged"),
    "long": (header("{" + " " * 60_000 + "}"), "damaged"),
    "version 2": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "unknown format"),
    "no magic": (b"NUMPY", "damaged"),
    "nothing": (b"", "damaged"),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_arrays(members, tmp_path, kind):
    start, message = HEADERS[kind]
    with pytest.raises(ModelFileError, match=message) as error:
        load_model(write(tmp_path / "bad", members | {"array0.npy": start + bytes(12 * 8)}))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (saved(np.array([True, False]))[:-1] + b"\x02", "neither true nor false"),
        (saved(np.array(["a", "b"]))[:-4] + b"\xff\xff\xff\xff", "not Unicode"),
        (saved(np.array(["a", "b"]).astype(">U1"))[:-4] + b"\x00\x11\x00\x00", "not Unicode"),
    ],
)
def test_values_that_no_array_has(members, tmp_path, values, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(write(tmp_path / "bad", members | {"array0.npy": values}))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_kinds_of_compression_are_refused(members, tmp_path, method):
    for read in (load_model, read_details):
        with pytest.raises(ModelFileError, match="unsupported compression"):
            read(write(tmp_path / "bad", members, method))


def test_encrypted_members_are_refused(members, tmp_path):
    content = bytearray(write(tmp_path / "bad", members).read_bytes())
    place = content.index(b"PK\1\2") + 8
    content[place] |= 1
    for read in (load_model, read_details):
        with pytest.raises(ModelFileError, match="encrypted"):
            read(sign(tmp_path / "bad", bytes(content)))


def test_members_larger_than_the_file_are_refused(members, tmp_path):
    content = bytearray(write(tmp_path / "bad", members).read_bytes())
    place = content.index(b"PK\1\2") + 20
    content[place : place + 4] = b"\xff\xff\xff\xff"
    for read in (load_model, read_details):
        with pytest.raises(ModelFileError, match="larger than the file"):
            read(sign(tmp_path / "bad", bytes(content)))


def test_members_that_do_not_belong(members, tmp_path):
    lists = [
        members | {"array99.npy": b""},
        members | {"../evil": b""},
        {name: content for name, content in members.items() if name != "array0.npy"},
        {name: content for name, content in members.items() if name != "model.json"},
        {},
    ]
    for number, wrong in enumerate(lists):
        for read in (load_model, read_details):
            with pytest.raises(ModelFileError, match=r"members of a model file|not a model"):
                read(write(tmp_path / f"{number}", wrong))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(members, tmp_path):
    with zipfile.ZipFile(tmp_path / "bad", "w") as archive:
        archive.comment = MARK + b"0" * DIGITS
        for name in (*members, "model.json"):
            archive.writestr(name, members[name])
    with pytest.raises(ModelFileError, match="members of a model file"):
        load_model(sign(tmp_path / "bad", (tmp_path / "bad").read_bytes()))


@pytest.mark.slow
def test_too_many_members_are_refused_before_they_are_listed(members, tmp_path, monkeypatch):
    # More than 65,535, so that the count is in the record of the zip64 extension.
    many = members | {f"array{k}.npy": b"" for k in range(len(members) - 1, 90_000)}
    path = write(tmp_path / "bad", many, zipfile.ZIP_STORED)

    def fail(*args, **kwargs):
        raise AssertionError("the members were listed")

    monkeypatch.setattr(zipfile, "ZipInfo", fail)
    with pytest.raises(ModelFileError, match="more than 50,000 members"):
        load_model(path)


def test_a_list_of_members_that_is_damaged(members, tmp_path):
    content = write(tmp_path / "bad", members).read_bytes()
    end = content.rindex(b"PK\5\6")
    for place in range(end, end + 22):
        for value in (0, 0x7F, 0xFF):
            changed = content[:place] + bytes([value]) + content[place + 1 :]
            if changed == content:
                continue
            path = sign(tmp_path / "changed", changed)
            # Some of these fields are of no consequence; nothing but the one error may come of the others.
            with suppress(ModelFileError):
                load_model(path)
    with pytest.raises(ModelFileError, match=r"damaged|not a model"):
        load_model(sign(tmp_path / "short", b"PK\3\4" + MARK + b"0" * DIGITS))


def test_json_that_is_not_json(members, tmp_path):
    texts = [b"", b"\xff\xfe", b"{", b"NaN", b'"' * 2**16, b'"\\"' * 2**16, b"[" * 10**6, b"1" * 10**5]
    for text in texts:
        for read in (load_model, read_details):
            with pytest.raises(ModelFileError):
                read(write(tmp_path / "bad", members | {"model.json": text}))


def test_one_long_name_does_not_blow_up_the_tables(members, tmp_path):
    description = json.loads(members["model.json"])
    names = {"strings": ["x" * 2**19, *"abcde"]}
    description["model"]["fitted"]["feature_names_in_"] = names
    path = write(tmp_path / "bad", described(members, model=description["model"]))
    load_model(path)
    with pytest.raises(ModelFileError, match="limit"):
        load_model(path, max_bytes=2**23)


def test_a_file_that_may_not_be_read_says_so(reduction, tmp_path, monkeypatch):
    save_model(reduction, tmp_path / "model")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(ModelFileError, match="permission"):
        load_model(tmp_path / "model")
