"""Model files with another content, whose checksum fits."""

import io
import json
import zipfile

import numpy as np

from ispca.persistence.archive import write_archive


def forge(path, change):
    """Change the description of a file, and give it the checksum that fits."""
    with zipfile.ZipFile(path) as archive:
        description = json.loads(archive.read("model.json"))
        arrays = [np.load(io.BytesIO(archive.read(f"array{k}.npy"))) for k in range(description["arrays"])]
    change(description["model"], arrays)
    description["arrays"] = len(arrays)
    write_archive(path, json.dumps(description).encode(), arrays)
    return path


def put(arrays, node, values):
    """Replace the array that a node refers to."""
    arrays[node["array"]] = np.asarray(values)
