"""A repository and its tests in one room, with files in memory: a word for each test that is asked for.

The room is weaker than two, and held as `shared` holds it: the tests are read before any code of the repository
runs, have builtins of their own, compare by code of ours, and see when what judges them was replaced.
"""

import builtins
import itertools
import os
import sys
import types

import instrument
import library
import patches
import repo_fixtures
import repo_files
import repo_items
import results
import shared
from plain import cut, dumps
from proxies import state
from results import shown
from suite import Broken

# What programs give other parts by right, when they are imported.
_UNHELD = frozenset(("asyncio", "gc", "gettext", "importlib", "locale", "logging", "multiprocessing", "os", "random",
                     "signal", "socket", "subprocess", "sys", "threading", "time", "warnings"))
# Names of what tests assert by, which nothing may replace.
_JUDGES = ("test", "assert", "check", "_assert", "_check")


def repo(root, paths, protected, wanted):
    """Runs tests of the repository at `root`, whose modules are found in `paths`. `protected` are the files of
    its tests, and `wanted` has for each test its id, its file, its names and its parameters."""
    _enter(root, paths)
    own = dict(vars(builtins))
    try:
        sources = repo_files.Sources(root, protected, {path for _, path, _, _ in wanted})
    except Broken as why:
        return dumps((0, [], str(why), None), 2)
    reached = library.reached(name for name in sources.imported if name.partition(".")[0] not in _UNHELD)
    held = shared.held(), patches.Held(name for name in reached if name.partition(".")[0] not in _UNHELD)
    pytest = sys.modules["pytest"]
    held[1].add("pytest", pytest)
    recorder = _Comparer(results.Results([], False), frozenset(), None)
    given = {instrument.RECORDER: recorder, "__builtins__": own}
    finder = sources.finder(given)
    sys.meta_path.insert(0, finder)
    room = _Room(root, sources, given)
    with shared.unsearched():
        rows = room.rows(wanted)
    replaced = room.replaced() or sources.replaced()
    if sys.modules.get("pytest") is not pytest or finder not in sys.meta_path[:1]:
        replaced = replaced or "what loads the tests"
    if replaced and state.poisoned is None:
        state.poisoned = f"the program changes {cut(replaced)}"
    shared._refuse_patches(held, frozenset(sources.patched))
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except BaseException:
            pass
    return dumps((0, rows, None, state.poisoned), 2)


def _enter(root, paths):
    """Makes the room that of a repository: its folder, its path, and the modules that it brings itself."""
    sys.dont_write_bytecode = True
    sys.path[:] = paths
    sys.path_importer_cache.clear()
    sys.argv = ["pytest"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules["pytest"] = repo_fixtures.pytest_module()
    os.chdir(root)
    own = {name.removesuffix(".py") for path in paths for name in os.listdir(path)} - library.STDLIB
    for name in [*sys.modules]:
        if name.partition(".")[0] in own and name != "pytest":
            del sys.modules[name]


class _Room:
    """The files of tests, and what is known of them once they are loaded."""

    def __init__(self, root, sources, given):
        self.root, self.sources, self.given = root, sources, given
        self.owned = []

    def rows(self, wanted):
        """Id, word and reason of each test."""
        found = {}
        files = dict.fromkeys(path for _, path, _, _ in wanted)
        for path in files:
            asked = {(tuple(names), param): one for one, of, names, param in wanted if of == path}
            for key, row in self._file(path, [*asked]).items():
                found[asked[key]] = row
        return [(one, *found[one]) for one, *_ in wanted]

    def _file(self, path, asked):
        try:
            conftests = [self.sources.load(file, self.given) for file in self._conftests(path)]
            module = self.sources.load(f"{self.root}/{path}", self.given)
            items = repo_items.Items(module, conftests, self.given[instrument.RECORDER])
            self._note(vars(module))
            items.setup()
        except BaseException as error:
            return dict.fromkeys(asked, (repo_items.ERROR, shown(error)))
        rows = items.run(asked)
        try:
            items.teardown()
        except BaseException as error:
            return dict.fromkeys(asked, (repo_items.ERROR, shown(error)))
        return rows

    def _conftests(self, path):
        parts = path.split("/")[:-1]
        folders = ["/".join([self.root, *parts[:end]]) for end in range(len(parts) + 1)]
        return [file for file in (f"{folder}/conftest.py" for folder in folders) if file in self.sources.codes]

    def _note(self, names, owner=None):
        """Notes the functions and methods of tests, as they are once their file was loaded."""
        for name, value in [*names.items()]:
            if type(value) is types.FunctionType:
                self.owned.append((owner or value.__module__, names, name, value, value.__code__))
            elif isinstance(value, type) and owner is None and value.__module__ == names.get("__name__"):
                self._note(vars(value), value.__name__)

    def replaced(self):
        """The first of them that is another one now."""
        for owner, names, name, function, code in self.owned:
            is_other = name.startswith(_JUDGES) and names.get(name) is not function
            if is_other or function.__code__ is not code:
                return f"{owner}.{name} of the tests"
        return None


class _Comparer(shared._Comparer):
    """Compares for the tests of a repository, whose classes the tests need not name: an object of any of them
    may equal another, if it tells it from others."""

    def _is_trusted(self, value):
        return True

    def _is_asked(self, value):
        return type(value) not in shared._TYPES and not self._is_own(value)

    def alone(self, value):
        return value

    def _is_harmless(self, value):
        return not (self._is_asked(value) and self._is_universal(value))

    def _by_class(self, left, right):
        for part in itertools.islice(shared.within((left, right)), _LOOKED_AT_MAX):
            if self._is_asked(part) and self._is_universal(part):
                name = type(part).__name__
                raise AssertionError(f"an object of class {name} equals whatever it is compared with")
        return super()._by_class(left, right)

    def _compared(self, operation, left, right):
        is_so = super()._compared(operation, left, right)
        opposite = shared._OPPOSITES.get(operation)
        if is_so and opposite is not None and (self._is_asked(left) or self._is_asked(right)) \
                and shared._is(shared._ORDERS[opposite], left, right):
            raise AssertionError("an object is less and more than what it is compared with")
        return is_so


_LOOKED_AT_MAX = 200
