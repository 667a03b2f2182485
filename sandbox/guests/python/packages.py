"""Packages that a verifier mounts: wheels, and modules of one file. They are read in memory, where an import
asks for them; nothing of them is a file of the room."""

import importlib.machinery
import importlib.metadata
import importlib.resources.abc
import importlib.util
import io
import sys
import zipfile

import library
from plain import cut, dumps

_ROOT = "/packages"
_NATIVE = (".so", ".pyd", ".dylib")


class Unfit(Exception):
    """What is no package for this guest."""


def mount(packages):
    """Mounts packages, given as pairs of a file name and its bytes; tells what can be imported then."""
    finder = _Finder()
    try:
        for name, content in packages:
            finder.add(name, content)
        tops = finder.tops()
    except (Unfit, zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as why:
        return dumps((1, 0, cut(f"{name}: {why}")), 2)
    for name in [*sys.modules]:
        if name.partition(".")[0] in tops:
            del sys.modules[name]
    sys.meta_path.append(finder)
    return dumps((0, 0, sorted(tops)), 2)


class _Finder:
    """Finds modules by the paths of their files."""

    def __init__(self):
        self.files, self.held = {}, {}
        self.wheels = []

    def add(self, name, content):
        """Adds a file: a module, or a wheel."""
        if name.endswith(".py"):
            self.files[name.rpartition("/")[2]] = lambda: content
            return
        wheel = zipfile.ZipFile(io.BytesIO(content))
        paths = [path for path in wheel.namelist() if not path.endswith("/")]
        native = next((path for path in paths if path.endswith(_NATIVE)), None)
        if native is not None:
            raise Unfit(f"holds machine code ({native}): only packages in pure Python can be mounted")
        if not any(path.endswith(".dist-info/METADATA") for path in paths):
            raise Unfit("is no wheel: there is no .dist-info/METADATA in it")
        for path in paths:
            place = path.partition(".data/purelib/")[2] or path
            self.files[place] = lambda path=path: wheel.read(path)
            self.held[place] = wheel, path
        self.wheels += [path for path in paths if path.endswith(".dist-info/METADATA")]

    def tops(self):
        """Names that can be imported, and are not the library's."""
        tops = set()
        for path in self.files:
            first, _, rest = path.partition("/")
            if not rest:
                first, _, kind = first.rpartition(".")
                first = first if kind == "py" else ""
            if first.isidentifier():
                tops.add(first)
        taken = sorted(tops & library.STDLIB)
        if taken:
            raise Unfit(f"has the name of a module of the library: {taken[0]}")
        return tops

    def find_spec(self, name, path=None, target=None):
        base = name.replace(".", "/")
        for file, is_package in ((f"{base}/__init__.py", True), (f"{base}.py", False)):
            if file in self.files:
                spec = importlib.machinery.ModuleSpec(
                    name, _Loader(self, file), origin=f"{_ROOT}/{file}", is_package=is_package)
                spec.has_location = True
                break
        else:
            if not any(file.startswith(f"{base}/") and file.endswith(".py") for file in self.files):
                return None
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(f"{_ROOT}/{base}")
        return spec

    def find_distributions(self, context):
        """For `importlib.metadata`, by which packages ask for their own version."""
        wanted = context.name and _normal(context.name)
        for path in self.wheels:
            if wanted is None or _normal(path.partition("-")[0]) == wanted:
                yield _Distribution(self, path.rpartition("/")[0])


class _Loader:
    """Loads a module from its source."""

    def __init__(self, finder, file):
        self.finder, self.file = finder, file

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        source = self.finder.files[self.file]()
        exec(compile(source, f"{_ROOT}/{self.file}", "exec", dont_inherit=True), vars(module))

    def get_data(self, path):
        """For `pkgutil.get_data`."""
        content = self.finder.files.get(path.removeprefix(f"{_ROOT}/"))
        if content is None:
            raise FileNotFoundError(path)
        return content()

    def get_resource_reader(self, name):
        """For `importlib.resources`, by which packages find their data."""
        held = self.finder.held.get(self.file)
        return held and _Reader(zipfile.Path(*held).parent)

    def get_source(self, name):
        return importlib.util.decode_source(self.finder.files[self.file]())

    def is_package(self, name):
        return self.file.endswith("/__init__.py")


class _Reader(importlib.resources.abc.TraversableResources):
    def __init__(self, folder):
        self.folder = folder

    def files(self):
        return self.folder


class _Distribution(importlib.metadata.Distribution):
    def __init__(self, finder, folder):
        self.finder, self.folder = finder, folder

    def read_text(self, filename):
        content = self.finder.files.get(f"{self.folder}/{filename}")
        return None if content is None else content().decode()

    def locate_file(self, path):
        return f"{_ROOT}/{path}"


def _normal(name):
    return name.lower().replace("-", "_").replace(".", "_")
