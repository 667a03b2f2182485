"""Threads of a guest that has one: each runs to its end when somebody waits for it.

A started thread is put in a queue. Whoever joins a thread, waits on a condition, an event or a
queue, or sleeps, lets the queued ones run first, in the order of their start. The order is always
the same, and producers and consumers work in any order of their starts.
"""

import concurrent.futures
import concurrent.futures.thread
import queue
import sys
import threading
import time
from collections import deque

_pending = deque()
_sleep = time.sleep
_monotonic = time.monotonic


def run_next():
    """Runs the thread that has waited longest; false when there is none."""
    if not _pending:
        return False
    _run(_pending.popleft())
    return True


def run_pending():
    """Runs all started threads, daemons aside, as the interpreter does at its end."""
    while _pending:
        thread = _pending.popleft()
        if not thread.daemon:
            _run(thread)


def _run(thread):
    thread._assay_state = "running"
    outer = threading.current_thread
    threading.current_thread = threading.currentThread = lambda: thread
    try:
        thread.run()
    except SystemExit:
        pass
    except Exception:
        kind, error, trace = sys.exc_info()
        threading.excepthook(threading.ExceptHookArgs((kind, error, trace, thread)))
    finally:
        threading.current_thread = threading.currentThread = outer
        thread._assay_state = "ended"


def _start(self):
    if getattr(self, "_assay_state", None) is not None:
        raise RuntimeError("threads can only be started once")
    self._assay_state = "pending"
    self._started._flag = True
    self._ident = 1000 + len(_pending)
    _pending.append(self)


def _join(self, timeout=None):
    state = getattr(self, "_assay_state", None)
    if state is None:
        raise RuntimeError("cannot join thread before it is started")
    if state == "running":
        raise RuntimeError("cannot join current thread")
    while self._assay_state == "pending":
        run_next()


def _is_alive(self):
    state = getattr(self, "_assay_state", None)
    if state == "pending":
        run_next()
    return getattr(self, "_assay_state", None) in ("pending", "running")


def _wait(self, timeout=None):
    """As the original, but other threads run while this one waits."""
    if not self._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    waiter = threading._allocate_lock()
    waiter.acquire()
    self._waiters.append(waiter)
    saved = self._release_save()
    notified = False
    try:
        notified = _until(waiter, timeout)
        return notified
    finally:
        self._acquire_restore(saved)
        if not notified:
            try:
                self._waiters.remove(waiter)
            except ValueError:
                pass


def _until(waiter, timeout):
    end = None if timeout is None else _monotonic() + max(timeout, 0)
    while not waiter.acquire(False):
        if run_next():
            continue
        if end is None:
            raise RuntimeError("deadlock: nothing else can run while this thread waits")
        _sleep(max(end - _monotonic(), 0))
        return waiter.acquire(False)
    return True


def sleep(seconds):
    """Sleeps on the virtual clock, after the threads that were started."""
    while run_next():
        pass
    _sleep(seconds)


class Executor(concurrent.futures.Executor):
    """Runs what is submitted at once."""

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=(),
                 **_):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._max_workers = max_workers or 4
        self._is_down = False
        self._initial = (initializer, initargs)

    def submit(self, fn, /, *args, **kwargs):
        if self._is_down:
            raise RuntimeError("cannot schedule new futures after shutdown")
        initializer, initargs = self._initial
        self._initial = (None, ())
        if initializer is not None:
            initializer(*initargs)
        future = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._is_down = True


def install():
    """Puts the shims in the place of what needs a second thread."""
    threading.Thread.start = _start
    threading.Thread.join = _join
    threading.Thread.is_alive = _is_alive
    threading.Thread.isAlive = _is_alive
    threading.Thread.ident = property(lambda self: getattr(self, "_ident", None))
    threading.Thread.native_id = threading.Thread.ident
    threading.Condition.wait = _wait
    threading.stack_size = lambda size=0: 0
    time.sleep = sleep
    queue.SimpleQueue = queue._PySimpleQueue
    sys.run_pending_threads = run_pending
    for module in (concurrent.futures, concurrent.futures.thread):
        module.ThreadPoolExecutor = Executor
        module.ProcessPoolExecutor = Executor
