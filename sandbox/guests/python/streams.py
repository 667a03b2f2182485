"""The standard streams, their descriptors, and the devices that stand for them."""

import _io
import builtins
import functools
import io
import os
import sys

_BUFFER_BYTES = 1 << 16

_DEVICES = {
    "/dev/stdin": 0, "/dev/fd/0": 0, "/dev/stdout": 1, "/dev/fd/1": 1, "/dev/stderr": 2,
    "/dev/fd/2": 2,
}


def install():
    """Installs all of them; called once, before the snapshot."""
    _stream(0, "stdin", io.BufferedReader, "strict", None, False)
    _stream(1, "stdout", io.BufferedWriter, "strict", "\n", False)
    _stream(2, "stderr", io.BufferedWriter, "backslashreplace", "\n", True)
    _descriptors()
    _devices()


def _stream(descriptor, name, buffered, errors, newline, line_buffering):
    """With the attributes that Python gives its own: fast input and output ask for the mode."""
    mode = "w" if descriptor else "r"
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = f"<{name}>"
    text = io.TextIOWrapper(
        buffered(raw, _BUFFER_BYTES), "utf-8", errors, newline, line_buffering=line_buffering)
    text.mode = mode
    setattr(sys, name, text)
    setattr(sys, f"__{name}__", text)


def _descriptors():
    """`os.read(0, os.fstat(0).st_size)` reads all of stdin, as from a file, and `os.write` writes
    all that it is given: the host takes only so much at once."""
    fstat, read, write = os.fstat, os.read, os.write
    sys.stdin_bytes = 0

    def sized(descriptor):
        found = fstat(descriptor)
        if descriptor != 0:
            return found
        parts = list(found)
        parts[6] = sys.stdin_bytes
        return os.stat_result(parts)

    def whole(descriptor, length, /):
        if descriptor != 0:
            return read(descriptor, length)
        parts = []
        while length > 0:
            part = read(0, min(length, _BUFFER_BYTES))
            if not part:
                break
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def written(descriptor, data, /):
        done = write(descriptor, data)
        with memoryview(data) as view:
            if done == view.nbytes:
                return done
            with view.cast("B") as rest:
                while done < len(rest):
                    done += write(descriptor, rest[done:])
        return done

    os.fstat, os.read, os.write = sized, whole, written


class _Null(io.RawIOBase):
    """`/dev/null`: nothing to read, and what is written is gone."""

    name = os.devnull

    def readable(self):
        return True

    writable = seekable = readable

    def readinto(self, buffer, /):
        return 0

    def write(self, data, /):
        with memoryview(data) as view:
            return view.nbytes

    def seek(self, offset, whence=os.SEEK_SET, /):
        return 0


def _null(mode, buffering, encoding, errors, newline):
    raw = _Null()
    raw.mode = mode
    if "b" in mode and buffering == 0:
        return raw
    buffered = io.BufferedRandom(raw)
    if "b" in mode:
        return buffered
    text = io.TextIOWrapper(buffered, encoding, errors, newline)
    text.mode = mode
    return text


def _devices():
    """No folder holds them, so `open` knows their names. What it opens is what every program has."""
    real = io.open

    # A builtin function does not become a method of the class that has it; nor does this one.
    @staticmethod
    @functools.wraps(real)
    def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
               closefd=True, opener=None):
        path = str(file) if hasattr(file, "__fspath__") else file
        if type(path) is str and path.startswith("/dev/"):
            if path == os.devnull:
                return _null(mode, buffering, encoding, errors, newline)
            if path in _DEVICES:
                file, closefd, opener = _DEVICES[path], False, None
        return real(file, mode, buffering, encoding, errors, newline, closefd, opener)

    builtins.open = io.open = _io.open = opened
