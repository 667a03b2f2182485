"""The guest: one request, one reply. All that it needs is in the snapshot."""

import atexit
import gc
import sys

import heap

heap.reserve()

import stdlib  # noqa: E402

LOADED = stdlib.load_all()

import shims  # noqa: E402

shims.install()

import assertions  # noqa: E402
import dialects  # noqa: E402
import explain  # noqa: E402
import handed  # noqa: E402
import instrument  # noqa: E402
import isolation  # noqa: E402
import judge  # noqa: E402
import library  # noqa: E402
import names  # noqa: E402
import nodes  # noqa: E402
import packages  # noqa: E402
import patches  # noqa: E402
import plain  # noqa: E402
import proxies  # noqa: E402
import pytest_run  # noqa: E402
import pytest_shim  # noqa: E402
import recall  # noqa: E402
import repo  # noqa: E402
import repo_files  # noqa: E402
import repo_fixtures  # noqa: E402
import repo_items  # noqa: E402
import results  # noqa: E402
import runner  # noqa: E402
import shapes  # noqa: E402
import shared  # noqa: E402
import solver  # noqa: E402
import suite  # noqa: E402
import warm  # noqa: E402
import wit_world  # noqa: E402
import written  # noqa: E402
from marshal import loads  # noqa: E402


_OPERATIONS = {
    "load": solver.load,
    "do": solver.do,
    "run": solver.run,
    "plan": judge.plan,
    "judge": judge.judge,
    "shared": shared.shared,
    "repo": repo.repo,
    "packages": packages.mount,
    "translate": dialects.translate,
    "nothing": lambda: plain.dumps((0, 0, None), 2),
}


class WitWorld(wit_world.WitWorld):
    """What the host calls."""

    def call(self, message):
        operation, *arguments = loads(message)
        return _OPERATIONS[operation](*arguments)


# What a run uses of ours, and what only makes the snapshot.
_OURS = (assertions, dialects, explain, handed, instrument, isolation, judge, library, names, nodes, packages,
         patches, plain, proxies, pytest_run, pytest_shim, recall, repo, repo_files,
         repo_fixtures, repo_items, results, runner, shapes, shared, solver, suite, written)
_BUILDERS = ("common", "heap", "loop", "processes", "shims", "stdlib", "streams", "threads", "warm", "wide")


def _seal():
    """Leaves a clean room: none of our modules can be imported, and no collection walks ours."""
    for name in (*_BUILDERS, *(module.__name__ for module in _OURS)):
        sys.modules.pop(name, None)
    # What the library registered is for processes, sockets and threads that are not there.
    atexit._clear()
    sys.path.clear()
    sys.path_importer_cache.clear()
    ran = heap.traced(warm.run)
    gc.collect()
    heap.settle()
    heap.release()
    heap.gather((*_OURS, sys.modules[__name__], wit_world), ran)
    del ran
    shared.note_types()
    warm.run()
    gc.collect()
    heap.note()
    gc.collect()
    heap.settle()
    heap.release()
    gc.freeze()


_seal()
