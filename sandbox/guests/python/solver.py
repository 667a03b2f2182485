"""Room A: the candidate's program, its functions called by name.

Nothing here can be relied on once the candidate's code has run: it shares this interpreter.
Whatever this room replies is a claim, read byte by byte by the host and judged elsewhere.
"""

import asyncio
import atexit
import sys
import types

import common
import nodes
import plain
from plain import ITERATOR, MARK, cut, marked, pack, unmarked

NAME = "solution"
FILE = "<solution>"
OK, RAISED, ENDED, UNCROSSABLE, EXITED = 0, 2, 3, 4, 5

# Given back where memory is out, so that the end can be told.
_spare = bytearray(64 << 10)
_handles = []
_places = {}
_namespace = {}
_source = ""
_object = None


def load(preamble, source, has_common_imports):
    """Runs the candidate's program as a module; its `__main__` blocks do not run."""
    module = types.ModuleType(NAME)
    sys.modules[NAME] = module
    module.__file__ = FILE
    global _namespace
    _namespace = vars(module)
    if has_common_imports:
        _namespace.update(common.NAMES)
    if preamble:
        try:
            exec(compile(preamble, "<setup>", "exec", dont_inherit=True), _namespace)
        except BaseException as error:
            return plain.dumps((6, _brief(error)), 2)
    return _guarded(_load, source)


def namespace():
    """The program's own names."""
    return _namespace


def reset():
    """Forgets the program."""
    global _namespace, _source, _object
    _namespace, _source, _object = {}, "", None
    _handles.clear()
    _places.clear()
    nodes.forget()


def _load(source):
    global _source
    _source = source
    exec(compile(source, FILE, "exec", dont_inherit=True), _namespace)
    return pack((OK,), None, _keep)


def run(source, stdin_bytes):
    """Runs a whole program as the interpreter would, and returns its exit code."""
    sys.stdin_bytes = stdin_bytes
    module = types.ModuleType("__main__")
    module.__file__ = FILE
    sys.modules["__main__"] = module
    sys.argv = ["solution.py"]
    code = 0
    try:
        exec(compile(source, FILE, "exec", dont_inherit=True), vars(module))
        sys.run_pending_threads()
    except SystemExit as error:
        code = _exit_code(error.code)
    except BaseException as error:
        _make_room(error)
        _show()
        code = 1
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        code = code or 120
    _release(vars(module))
    _flush_all()
    return plain.dumps((OK, 0, code), 2)


def _release(namespace):
    """Lets go of what acts when it is gone, as the end of the interpreter does: a file of the
    program's own writes what it holds back."""
    try:
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        names = [name for name, value in namespace.items() if hasattr(type(value), "__del__")]
        for name in names:
            namespace[name] = None
    except BaseException:
        pass


def _flush(stream):
    """Writes what Python holds back; what fails there is no news."""
    try:
        stream.flush()
    except BaseException:
        pass


def _make_room(error):
    if isinstance(error, MemoryError):
        _spare.clear()


def _exit_code(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF
    print(code, file=sys.stderr)
    return 1


def _show():
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename != FILE:
        trace = trace.tb_next
    try:
        sys.excepthook(kind, error.with_traceback(trace), trace)
    except BaseException:
        pass


def names(wanted, imports):
    """What the program has under these names, modules aside.

    What the tests import is there for the program too, as in a file that holds both.
    """
    bring(imports)
    found = {name: _namespace[name] for name in wanted if name in _namespace}
    found = {n: v for n, v in found.items() if type(v) is not types.ModuleType}
    return pack((OK,), found, _keep)


def bring(imports):
    """Makes what the tests import known to the program."""
    for module, name, bound in imports:
        _import(module, name, bound)


def _import(module, name, bound):
    found = sys.modules.get(module)
    if found is None or name == "*":
        return
    if name is not None:
        value = getattr(found, name, None)
    else:
        bound, value = (bound, found) if bound else _root(module)
    _namespace.setdefault(bound, value)


def _root(module):
    root = module.partition(".")[0]
    return root, sys.modules[root]


def call(target, args, kwargs, copies_back):
    """Calls a function, by name or handle."""
    args = _sets(args)
    function = _function(target) if type(target) is str else _handles[target]
    value = function(*args, **kwargs)
    if not copies_back:
        return pack((OK,), value, _keep)
    return pack((OK,), (value, args), _keep)


def _sets(args):
    """A set written out in a test has another order than one to which members were added."""
    return tuple([set(arg) if type(arg) is set else arg for arg in args])


def answer(target, args, kwargs):
    """Calls a function that the task names, with plain data, and gives plain data back: whether the result is
    what the call left of its first argument since it returned nothing, and the result."""
    _, is_first, value = nodes.answer(_function(target), _sets(args), kwargs, _namespace, _source)
    return pack((OK,), (is_first, value), _keep)


def make(target, args, kwargs):
    """Makes the object on which a task calls operations, as it names them."""
    global _object
    _object = nodes.answer(_namespace[target], _sets(args), kwargs, _namespace, _source)[0]
    return pack((OK,), (False, None), _keep)


def operate(name, args, kwargs):
    """Calls a method of that object, as `answer` does; one that says so returns nothing."""
    value, is_first, given = nodes.answer(getattr(_object, name), _sets(args), kwargs, _namespace, _source)
    return pack((OK,), (False, None if is_first or value is None else given), _keep)


def _function(name):
    if name in _namespace or "Solution" not in _namespace:
        return _namespace[name]
    return getattr(_namespace["Solution"](), name)


def _next(handle):
    try:
        value = next(_handles[handle])
    except StopIteration:
        return plain.dumps((ENDED, 0, None), 2)
    return pack((OK,), value, _keep)


def _await(handle):
    async def wait():
        return await _handles[handle]
    return pack((OK,), asyncio.run(wait()), _keep)


def _set(handle, name, value):
    setattr(_handles[handle], name, value)
    return pack((OK,), None, _keep)


_VERBS = {
    "names": names,
    "call": call,
    "answer": answer,
    "make": make,
    "operate": operate,
    "next": _next,
    "await": _await,
    "get": lambda handle, name: pack((OK,), getattr(_handles[handle], name), _keep),
    "set": _set,
    "iter": lambda handle: pack((OK,), iter(_handles[handle]), _keep),
    "len": lambda handle: pack((OK,), len(_handles[handle]), _keep),
    "item": lambda handle, key: pack((OK,), _handles[handle][key], _keep),
    "str": lambda handle: pack((OK,), str(_handles[handle]), _keep),
    "repr": lambda handle: pack((OK,), repr(_handles[handle]), _keep),
}


def do(verb, is_marked, arguments):
    """One crossing: a verb with its arguments."""
    if is_marked:
        arguments = unmarked(arguments, _KINDS)
    return _guarded(_VERBS[verb], *arguments)


def _guarded(function, *arguments):
    try:
        reply = function(*arguments)
        sys.__stdout__.flush()
        _flush(sys.__stderr__)
        return reply
    except SystemExit as error:
        _flush_all()
        return plain.dumps((EXITED, cut(repr(error.code))), 2)
    except plain.Uncrossable as error:
        _flush_all()
        return plain.dumps((UNCROSSABLE, str(error)), 2)
    except Exception as error:
        _make_room(error)
        return _raised(error)
    except BaseException as error:
        _flush_all()
        return plain.dumps((EXITED, type(error).__name__), 2)


def _flush_all():
    """Hands out what a call wrote that did not come to its end."""
    _flush(sys.__stdout__)
    _flush(sys.__stderr__)


def _raised(error):
    _flush_all()
    names, text = _names_of(error), _text_of(error)
    args = [text]
    try:
        own = [*error.args]
        if len(plain.dumps(own, 2, allow_code=False)) < 4096:
            args = own
    except Exception:
        pass
    number = _number(error)
    cause = error.__cause__
    if cause is not None:
        cause = (_names_of(cause), cut(_text_of(cause), 2000))
    reply = (RAISED, names, cut(text, 2000), args, _line(error), number, cause)
    return plain.dumps(reply, 2, allow_code=False)


def _names_of(error):
    return [kind.__name__ for kind in type(error).__mro__ if kind is not object][:20]


def _text_of(error):
    try:
        return str(error)
    except Exception:
        return "an exception without a text"


def _line(error):
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno or 0
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _brief(error):
    return cut(f"{type(error).__name__}: {error}")


def _number(value):
    """The handle of a value: the same one for the same object."""
    number = _places.get(id(value))
    if number is None:
        number = _places[id(value)] = len(_handles)
        _handles.append(value)
    return number


def _keep(value, depth):
    number = _number(value)
    kind = type(value)
    base = plain.of_base(value)
    if base:
        return (MARK, "s", number, kind.__name__, marked(base[0], _keep, depth))
    if isinstance(value, type):
        return _kept_class(value, number)
    return (MARK, "h", number, _flags(value), _name(value))


def _kept_class(value, number):
    if issubclass(value, BaseException):
        bases = [base.__name__ for base in value.__mro__ if base.__module__ == "builtins"]
        return (MARK, "x", number, value.__name__, bases)
    return (MARK, "h", number, plain.CALLABLE | plain.CLASS, value.__name__)


def _flags(value):
    kind = type(value)
    flags = plain.CALLABLE if callable(value) else 0
    if hasattr(kind, "__next__"):
        flags |= ITERATOR
    if hasattr(kind, "__iter__") or hasattr(kind, "__getitem__"):
        flags |= plain.ITERABLE
    if hasattr(kind, "__await__"):
        flags |= plain.AWAITABLE
    return flags


def _name(value):
    name = getattr(value, "__name__", None)
    return cut(name, 100) if type(name) is str else type(value).__name__


_KINDS = plain.KINDS | {
    "h": lambda kinds, number: _handles[number],
    "m": plain.by_name,
    "i": lambda kinds, items: iter([unmarked(item, kinds) for item in items]),
}
