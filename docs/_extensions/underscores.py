"""Names of fitted attributes in docstrings end in an underscore, which reStructuredText takes for a link."""

import re

NAME = re.compile(r"(?<![`\w\\])(\w+)_(?![\w`])")
CODE = re.compile(r"(`+[^`]*`+)")


def escape(app, what, name, obj, options, lines):
    """Escape the underscore where it is neither code nor an example."""
    for number, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...", "..")):
            continue
        parts = CODE.split(line)
        parts[::2] = [NAME.sub(r"\1\\_", part) for part in parts[::2]]
        lines[number] = "".join(parts)


def setup(app):
    """Listen after numpydoc has made its sections."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
