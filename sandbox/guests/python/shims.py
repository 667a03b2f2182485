"""What programs expect of a system and this guest has no system for."""

import errno
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
    _terminals()
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


def _terminals():
    """No stream is a terminal: what asks for its settings is told so."""
    module = types.ModuleType("termios", "There is no terminal.")
    module.error = type("error", (Exception,), {"__module__": "termios"})

    def refuse(descriptor, *_):
        raise module.error(errno.ENOTTY, os.strerror(errno.ENOTTY))

    for name in ("tcgetattr", "tcsetattr", "tcdrain", "tcflow", "tcflush", "tcsendbreak", "tcgetwinsize",
                 "tcsetwinsize"):
        setattr(module, name, refuse)
    vars(module).update(_TERMINAL)
    sys.modules["termios"] = module
    import tty  # noqa: F401, which could not be imported before


# Numbers of Linux.
_TERMINAL = {
    "IGNBRK": 1, "BRKINT": 2, "IGNPAR": 4, "PARMRK": 8, "INPCK": 16, "ISTRIP": 32, "INLCR": 64, "IGNCR": 128,
    "ICRNL": 256, "IXON": 1024, "IXANY": 2048, "IXOFF": 4096, "OPOST": 1, "ONLCR": 4, "PARENB": 256, "CSIZE": 48,
    "CS8": 48, "ISIG": 1, "ICANON": 2, "ECHO": 8, "ECHOE": 16, "ECHOK": 32, "ECHONL": 64, "NOFLSH": 128,
    "TOSTOP": 256, "IEXTEN": 32768, "VTIME": 5, "VMIN": 6, "TCSANOW": 0, "TCSADRAIN": 1, "TCSAFLUSH": 2,
    "TCIFLUSH": 0, "TCOFLUSH": 1, "TCIOFLUSH": 2, "TIOCGWINSZ": 21523, "TIOCSWINSZ": 21524,
}


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
