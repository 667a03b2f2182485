"""Runs before a program that has files or arguments of its own."""

import atexit
import gc
import io
import sys

sys.argv[:] = ARGS
sys.path.insert(0, FOLDER)
# What a program finds in a folder is what it was given, or wrote itself.
sys.dont_write_bytecode = True

writes = False


def note(event, args):
    global writes
    if event == "open" and (args[1] or "w").strip("rb"):
        writes = True


def flush():
    """The interpreter does not end as others do, so what is still held back would be lost."""
    if not writes:
        return
    for one in gc.get_objects():
        if issubclass(type(one), (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)):
            try:
                one.flush()
            except Exception:
                pass


show = sys.excepthook


def shown(kind, error, trace):
    """The frame below the program's is ours."""
    trace = trace and trace.tb_next
    show(kind, error.with_traceback(trace), trace)


sys.addaudithook(note)
atexit.register(flush)
sys.excepthook = shown
