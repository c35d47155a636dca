"""Hash an estimator: its parameters, and the code of every class and function that it uses."""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import joblib

# The version of this package is part of every key.
OURS = "ispca"
INSTALLED = {"site-packages", "dist-packages"}


def estimator_fingerprint(estimator: Any) -> str:
    """Return a hash of an estimator's parameters and code.

    For classes and functions of an installed package, the version of the package is hashed. For all others, such
    as those of a script, a notebook or a package under development, the bytecode is hashed, and that of the
    functions and classes they use. An edit changes the hash; a new comment does not. An estimator that cannot be
    pickled raises the error of pickle.
    """
    return str(joblib.hash((joblib.hash(estimator), sorted(set(_code_of(_ingredients(estimator)))))))


class _Nowhere:
    """A file that discards its content."""

    def write(self, data: Any) -> int:
        return len(data)


class _Listing(pickle.Pickler):
    """Pickles an object to nowhere, and lists the classes and functions found on the way."""

    def __init__(self) -> None:
        super().__init__(_Nowhere())
        self.found: dict[int, Any] = {}

    def persistent_id(self, obj: Any) -> str | None:
        is_code = isinstance(obj, type | FunctionType | BuiltinFunctionType)
        code = obj if is_code else type(obj)
        self.found[id(code)] = code
        # Code is pickled as its name; lambdas cannot be pickled and would end the listing.
        return code.__qualname__ if is_code else None


def _ingredients(value: Any) -> list[Any]:
    listing = _Listing()
    # An object that cannot be pickled, such as a lock, ends the listing; what was found so far is used.
    with suppress(Exception):
        listing.dump(value)
    return list(listing.found.values())


def _code_of(things: list[Any]) -> Iterator[str]:
    """Yield one line per package, function, constant and attribute that these classes and functions use."""
    waiting, seen = list(things), set()
    # While an object is kept, no other object can have its id.
    kept = []
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        kept.append(thing)
        module = getattr(thing, "__module__", None)
        package = _package(module if isinstance(module, str) else "")
        if package is not None:
            yield package
        elif isinstance(thing, type):
            yield from _class_lines(thing, waiting)
        elif isinstance(thing, FunctionType):
            yield from _function_lines(thing, waiting)


def _package(name: str) -> str | None:
    """Return name and version of the installed package of a module; None if the code of the module is hashed."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("", OURS):
        return ""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or INSTALLED.isdisjoint(Path(file).parts):
        return None
    found = _package_version(top)
    return None if found is None else f"package {top} {found}"


@functools.lru_cache
def _package_version(top: str) -> str | None:
    stated = getattr(sys.modules.get(top), "__version__", None)
    if isinstance(stated, str):
        return stated
    try:
        return version(packages_distributions()[top][0])
    except (KeyError, PackageNotFoundError):
        return None


def _class_lines(cls: type, waiting: list[Any]) -> Iterator[str]:
    name = f"{cls.__module__}.{cls.__qualname__}"
    waiting.extend(cls.__mro__[1:])
    yield f"class {name} {[base.__qualname__ for base in cls.__mro__]}"
    file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
    if file and Path(file).suffix not in (".py", ".pyc") and Path(file).is_file():
        # The code of a compiled class cannot be read, so its file is hashed.
        yield f"file {name} {hashlib.sha256(Path(file).read_bytes()).hexdigest()}"
    for attribute, value in list(vars(cls).items()):
        parts = list(_functions(value))
        if parts:
            waiting.extend(parts)
            yield f"attribute {name}.{attribute} {[_label(part) for part in parts]}"
        elif not (attribute.startswith("__") and attribute.endswith("__")):
            # Special attributes are left out: Python stores line numbers and the like in them.
            yield f"constant {name}.{attribute} {_constant(value, waiting)}"


def _functions(value: Any) -> Iterator[Any]:
    """Yield the functions and classes behind an attribute, a global or a captured variable."""
    if isinstance(value, staticmethod | classmethod | MethodType):
        yield from _functions(value.__func__)
    elif isinstance(value, functools.partial):
        yield from _functions(value.func)
    elif isinstance(value, property):
        for part in (value.fget, value.fset, value.fdel):
            yield from _functions(part)
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, type | FunctionType):
        yield value
    elif callable(value) and "__wrapped__" in getattr(value, "__dict__", {}):
        yield from _functions(value.__wrapped__)


def _function_lines(function: Any, waiting: list[Any]) -> Iterator[str]:
    name = _label(function)
    yield f"code {name} {_code_hash(function.__code__)}"
    yield f"defaults {name} {_constant((function.__defaults__, function.__kwdefaults__), waiting)}"
    for cell, variable in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
        try:
            yield from _used(name, variable, cell.cell_contents, waiting)
        except ValueError:  # the variable has no value yet
            continue
    yield from _named(name, function.__globals__, _names(function.__code__), waiting, set())


def _named(
    where: str, variables: dict[str, Any], names: set[str], waiting: list[Any], modules: set[str]
) -> Iterator[str]:
    """Yield lines for the variables of a module with these names, and for those of the modules among them."""
    for used in names & variables.keys():
        value = variables[used]
        if not isinstance(value, ModuleType):
            yield from _used(where, used, value, waiting)
        elif value.__name__ not in modules:
            modules.add(value.__name__)
            package = _package(value.__name__)
            if package is None:
                yield from _named(f"{where} {value.__name__}", vars(value), names, waiting, modules)
            else:
                yield package


def _used(where: str, name: str, value: Any, waiting: list[Any]) -> Iterator[str]:
    parts = list(_functions(value))
    waiting.extend(parts)
    if parts:
        yield f"uses {where} {name} {[_label(part) for part in parts]}"
    else:
        yield f"constant {where} {name} {_constant(value, waiting)}"


def _label(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes used in a function and in the functions inside it."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def _code_hash(code: CodeType) -> str:
    """Hash the bytecode and constants of a function, without its file name and line numbers."""
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags)
    content = (code.co_code, code.co_exceptiontable, names, [_plain(item) for item in code.co_consts])
    return hashlib.sha256(repr(content).encode()).hexdigest()


def _plain(constant: Any) -> Any:
    if isinstance(constant, CodeType):
        return _code_hash(constant)
    if isinstance(constant, tuple):
        return tuple(_plain(item) for item in constant)
    # The order of a set differs between processes.
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _constant(value: Any, waiting: list[Any]) -> str:
    """Hash a value, and add the classes and functions in it to those to be hashed."""
    waiting.extend(_ingredients(value))
    try:
        return str(joblib.hash(value))
    except Exception:  # a value that cannot be pickled is represented by its type
        return _label(type(value))
