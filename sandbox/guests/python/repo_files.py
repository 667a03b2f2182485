"""The files of a repository's tests: read and compiled before any of its code runs, and loaded as they were read.

The repository lies in the files of the room, where Python's own importer finds it. What its tests are made of is
loaded by ours, whatever the repository's code writes over them.
"""

import ast
import os
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

import instrument
import names as naming
from plain import cut
from suite import Broken

# Functions of the library, as they were before any code of a repository.
_FIND, _SPLIT, _ISFILE = PathFinder.find_spec, os.path.split, os.path.isfile
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Sources:
    """Compiled files by their paths, and the modules that were made of them."""

    def __init__(self, root, protected, tests):
        self.codes, self.modules, self.imported = {}, {}, set()
        self.names, self.patched = {}, set()
        for path in protected:
            file = f"{root}/{path}"
            self._read(file, path, path in tests)
        # Named before any code of the repository runs, which could change the folders.
        for path in sorted(protected):
            if path in tests or path.rpartition("/")[2] == "conftest.py":
                self.names[f"{root}/{path}"] = _named(f"{root}/{path}")

    def _read(self, file, path, is_test):
        try:
            with open(file, "rb") as opened:
                tree = ast.parse(opened.read(), file)
            self.imported |= {*_imported(tree)}
            self.patched |= {*naming.patched(tree)}
            instrument.compared(tree)
            self.codes[file] = compile(tree, file, "exec", dont_inherit=True)
        except _UNREADABLE as error:
            # Files that are not to be read may be data of tests.
            if is_test:
                raise Broken(cut(f"{path} does not parse: {type(error).__name__}: {error}")) from None

    def load(self, file, given):
        """The module of a file of tests, under the name that pytest gives it."""
        name, module = self.names[file], self.modules.get(file)
        if module is None:
            for at in range(name.count(".")):
                __import__(name.rsplit(".", name.count(".") - at)[0])
            module = types.ModuleType(name)
            module.__file__ = file
            loader = _Loader(name, file, self, given)
            module.__loader__, module.__spec__ = loader, ModuleSpec(name, loader, origin=file)
            module.__package__ = name.rpartition(".")[0]
            sys.modules[name] = module
            loader.exec_module(module)
        return module

    def finder(self, given):
        """What finds modules of the tests, before any other finder."""
        return _Finder(self, given)

    def replaced(self):
        """The first module that stands for another one now."""
        last = {module.__name__: module for module in self.modules.values()}
        return next((name for name, module in last.items() if sys.modules.get(name) is not module), None)


def _imported(tree):
    for node in ast.walk(tree):
        if type(node) is ast.Import:
            yield from (name.name for name in node.names)
        elif type(node) is ast.ImportFrom and node.module and not node.level:
            yield node.module


def _named(file):
    """The name of a module: from the first folder above it that is no package, which joins the path."""
    folder, name = _SPLIT(file)
    parts = [name.removesuffix(".py")]
    while _ISFILE(f"{folder}/__init__.py"):
        folder, name = _SPLIT(folder)
        parts.insert(0, name)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return ".".join(parts)


class _Finder:
    def __init__(self, sources, given):
        self.sources, self.given = sources, given

    def find_spec(self, name, path=None, target=None):
        spec = _FIND(name, path, target)
        if spec is None or spec.origin not in self.sources.codes:
            return None
        loader = _Loader(name, spec.origin, self.sources, self.given)
        found = ModuleSpec(name, loader, origin=spec.origin)
        found.has_location = True
        found.submodule_search_locations = spec.submodule_search_locations
        return found


class _Loader(SourceFileLoader):
    """Loads what was read; the module has what is given to it, such as builtins of its own."""

    def __init__(self, name, path, sources, given):
        super().__init__(name, path)
        self.sources, self.given = sources, given

    def get_code(self, fullname):
        return self.sources.codes[self.path]

    def exec_module(self, module):
        vars(module).update(self.given)
        exec(self.sources.codes[self.path], vars(module))
        self.sources.modules[self.path] = module
