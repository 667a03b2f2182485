"""What programs expect of a system and this guest has no system for."""

import os
import signal
import sys
import types

import loop
import processes
import streams
import threads
import wide

RECURSION_MAX = 200_000


def install():
    """Installs all of them; called once, before the snapshot."""
    threads.install()
    loop.install()
    streams.install()
    wide.install()
    _recursion()
    _resource()
    _signals()
    _processes()


def _recursion():
    """Beyond this depth memory ends before the limit does, and no exception can tell of it."""
    set_limit = sys.setrecursionlimit

    def setrecursionlimit(limit, /):
        set_limit(min(limit, RECURSION_MAX) if type(limit) is int else limit)

    sys.setrecursionlimit = setrecursionlimit


def _resource():
    module = types.ModuleType("resource", "Limits are the host's; these do nothing.")
    for number, name in enumerate(("CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC",
                                   "NOFILE", "MEMLOCK", "AS")):
        setattr(module, "RLIMIT_" + name, number)
    module.RLIM_INFINITY = -1
    module.RUSAGE_SELF, module.RUSAGE_CHILDREN, module.RUSAGE_THREAD = 0, -1, 1
    module.error = OSError
    names = ("ru_utime ru_stime ru_maxrss ru_ixrss ru_idrss ru_isrss ru_minflt ru_majflt ru_nswap "
             "ru_inblock ru_oublock ru_msgsnd ru_msgrcv ru_nsignals ru_nvcsw ru_nivcsw")

    def getrusage(who, /):
        import time
        usage = types.SimpleNamespace(**dict.fromkeys(names.split(), 0))
        usage.ru_utime = time.process_time()
        return usage

    module.getrusage = getrusage
    module.getrlimit = lambda which, /: (-1, -1)
    module.setrlimit = lambda which, limits, /: None
    module.getpagesize = lambda: 4096
    sys.modules["resource"] = module


def _signals():
    """Alarms never ring: the host's limits end a program."""
    for number, name in ((14, "SIGALRM"), (26, "SIGVTALRM"), (27, "SIGPROF")):
        if not hasattr(signal, name):
            setattr(signal, name, number)
    for number, name in enumerate(("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")):
        setattr(signal, name, number)
    set_handler = signal.signal
    handlers = {}

    def handle(number, handler):
        try:
            return set_handler(number, handler)
        except (ValueError, OSError):
            return handlers.setdefault(int(number), handler)

    signal.signal = handle
    signal.alarm = lambda seconds, /: 0
    signal.setitimer = lambda which, seconds, interval=0.0, /: (0.0, 0.0)
    signal.getitimer = lambda which, /: (0.0, 0.0)


def _processes():
    processes.install()
    os.cpu_count = lambda: 1
    os.process_cpu_count = lambda: 1
