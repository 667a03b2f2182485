"""`multiprocessing` of a guest that has one process: a started process is a thread of `threads`, which runs to
its end when somebody waits for it; a pool runs each call at once. What a process changes is seen by the others,
and nothing is pickled.
"""

import collections
import importlib
import itertools
import multiprocessing
import multiprocessing.pool
import queue
import threading
import types


class Process(threading.Thread):
    """A process that is a thread."""

    exitcode = property(lambda self: None if self.is_alive() else self._code)
    pid = property(lambda self: self.ident)

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        super().__init__(group, target, name, args, kwargs, daemon=daemon)
        self._code = None

    def start(self):
        run = self.run

        def ended():
            self._code = 1
            run()
            self._code = 0

        self.run = ended
        super().start()

    def terminate(self):
        """The end of what has run to its end, or never begins."""

    kill = close = terminate


class Pool:
    """Calls in their order, each as soon as it is handed in."""

    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._is_open = True
        if initializer is not None:
            initializer(*initargs)

    def apply(self, func, args=(), kwds={}):  # noqa: B006 (the signature of multiprocessing)
        self._check()
        return func(*args, **kwds)

    def map(self, func, iterable, chunksize=None):
        self._check()
        return [func(item) for item in iterable]

    def starmap(self, func, iterable, chunksize=None):
        self._check()
        return list(itertools.starmap(func, iterable))

    def imap(self, func, iterable, chunksize=1):
        return iter(self.map(func, iterable))

    imap_unordered = imap

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):  # noqa: B006
        return _Result(lambda: self.apply(func, args, kwds), callback, error_callback)

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return _Result(lambda: self.map(func, iterable), callback, error_callback)

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return _Result(lambda: self.starmap(func, iterable), callback, error_callback)

    def close(self):
        self._is_open = False

    terminate = close

    def join(self):
        if self._is_open:
            raise ValueError("Pool is still running")

    def _check(self):
        if not self._is_open:
            raise ValueError("Pool not running")

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *_):
        self.terminate()


class _Result:
    def __init__(self, work, callback, error_callback):
        self._value = self._error = None
        try:
            self._value = work()
        except Exception as error:
            self._error = error
        told, what = (callback, self._value) if self._error is None else (error_callback, self._error)
        if told is not None:
            told(what)

    def get(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return self._error is None


class Queue(queue.Queue):
    """A queue of threads."""

    def close(self):
        """Nothing is written behind it."""

    join_thread = cancel_join_thread = close


class Connection:
    """One end of a pipe."""

    def __init__(self, received, sent):
        self._received, self._sent = received, sent

    def send(self, value):
        self._sent.put(value)

    def recv(self):
        return self._received.get()

    def poll(self, timeout=0.0):
        return not self._received.empty()

    def close(self):
        """The other end keeps what was sent."""

    send_bytes, recv_bytes = send, recv


def pipe(duplex=True):
    """Both ends of a pipe."""
    one, other = queue.Queue(), queue.Queue()
    return Connection(one, other), Connection(other, one)


class Value:
    """A shared value."""

    def __init__(self, typecode, value=0, *, lock=True):
        self.value = value
        self._lock = threading.RLock()

    def get_lock(self):
        return self._lock

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *error):
        self._lock.__exit__(*error)


class Array(collections.UserList):
    """A shared array."""

    def __init__(self, typecode, size_or_initializer, *, lock=True):
        size = size_or_initializer
        super().__init__([0] * size if isinstance(size, int) else size)
        self._lock = threading.RLock()

    def get_lock(self):
        return self._lock


class Manager(types.SimpleNamespace):
    """What a manager makes is here already."""

    def __init__(self):
        super().__init__(dict=dict, list=list, Namespace=types.SimpleNamespace, **_SHARED)

    def shutdown(self):
        """No process ends."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


_SHARED = {name: getattr(threading, name) for name in (
    "Lock", "RLock", "Condition", "Event", "Semaphore", "BoundedSemaphore", "Barrier")}
_SHARED |= {"Queue": Queue, "JoinableQueue": Queue, "Value": Value, "Array": Array}


def install():
    """Puts them in the place of what needs a second process."""
    shims = {**_SHARED, "Process": Process, "Pool": Pool, "SimpleQueue": Queue, "Pipe": pipe, "Manager": Manager,
             "RawValue": Value, "RawArray": Array, "cpu_count": lambda: 1,
             "get_context": lambda method=None: multiprocessing,
             "set_start_method": lambda method, force=False: None}
    vars(multiprocessing).update(shims)
    multiprocessing.pool.Pool = multiprocessing.pool.ThreadPool = Pool
    importlib.import_module("multiprocessing.dummy").Pool = Pool
