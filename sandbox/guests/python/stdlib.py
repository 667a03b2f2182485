"""Imports everything of the standard library that can be imported, and what judges of contests have beside it.

The snapshot has no files: what is not imported while it is taken does not exist later.
"""

import importlib
import os
import sys
import warnings

# Modules that do something when they are imported, or that only a desktop has use for.
_SKIPPED = {
    "__main__", "_ios_support", "antigravity", "ensurepip", "idlelib", "lib2to3", "pip", "site",
    "sitecustomize", "test", "tests", "this", "tkinter", "turtle", "turtledemo", "usercustomize",
    "venv",
}
# Packages of `requirements.txt` that programs find.
PACKAGES = ("sortedcontainers",)


def load_all():
    """Imports all modules in a fixed order, and returns the names that were imported."""
    warnings.simplefilter("ignore")
    roots = [path for path in sys.path if os.path.isfile(os.path.join(path, "os.py"))]
    names = [*sorted(set(sys.stdlib_module_names) | _found(roots)), *PACKAGES]
    loaded = [name for name in names if _load(name)]
    warnings.resetwarnings()
    # As for any program that was not asked to tell of them.
    warnings.simplefilter("ignore", ResourceWarning)
    return loaded


def _found(roots):
    names = set()
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(f for f in folders if _is_package(folder, f))
            prefix = os.path.relpath(folder, root).replace(os.sep, ".")
            prefix = "" if prefix == "." else prefix + "."
            names.update(prefix + name for name in folders)
            names.update(prefix + file[:-3] for file in files if file.endswith(".py"))
    return {name for name in names if not name.endswith("__init__")}


def _is_package(folder, name):
    return os.path.isfile(os.path.join(folder, name, "__init__.py"))


def _load(name):
    if any(part in _SKIPPED or part.startswith("_test") for part in name.split(".")):
        return False
    try:
        importlib.import_module(name)
    except BaseException:  # What cannot be imported here is not part of the guest.
        return False
    return True
