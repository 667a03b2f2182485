"""Runs a program and notes what is asked about it. Runs in the sandbox."""

import ast
import collections
import io
import sys
import types

FILE = "<program>"
TEXT_MAX = 1_000_000
PLAIN = (dict, list, tuple, set, frozenset, str, int, float, bytes, collections.deque)


def ask(source, call, target, stdin, points, steps_max):
    """What became of the program: a dictionary of plain values.

    `call` is an expression, `target` a function with its arguments; one of them may be given.
    `points` are lines, visits and variables (or None for the next line).
    """
    found = {"broken": None, "raised": None, "returned": None, "points": []}
    try:
        code = compile(source, FILE, "exec", dont_inherit=True)
        wanted = compile(call.strip(), "<call>", "eval", dont_inherit=True) if call else None
    except (SyntaxError, ValueError) as error:
        found["broken"] = brief(error)
        return found
    is_whole = wanted is None and target is None
    module = types.ModuleType("__main__" if is_whole else "program")
    sys.modules[module.__name__] = module
    own = vars(module)
    streams = sys.stdin, sys.stdout
    output = io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "replace")), "utf-8")
    sys.stdout = io.TextIOWrapper(output, "utf-8", "backslashreplace", "\n")
    printed = sys.stdout
    trace = Trace(source, points, steps_max) if points else None
    try:
        sys.settrace(trace)
        exec(code, own)
        if not is_whole:
            if target and function_of(own, target[0]) is None:
                found["broken"] = f"it has no function {target[0]}"
                return found
            value = eval(wanted, own) if wanted else called(own, *target)
    except SystemExit as error:
        if not is_whole:
            found["raised"] = ["SystemExit", brief(error)]
    except BaseException as error:
        found["raised"] = [type(error).__name__, brief(error)]
    finally:
        sys.settrace(None)
        sys.stdin, sys.stdout = streams
    if not is_whole and found["raised"] is None:
        try:
            found["returned"] = shown(value)
        except BaseException as error:
            why = f"what the call returns cannot be written: {brief(error)}"
            if target:
                found["raised"] = [type(error).__name__, why]
            else:
                found["broken"] = why
    if trace is not None:
        found["points"] = trace.ended()
    try:
        printed.flush()
    except ValueError:
        pass
    found["printed"] = output.getvalue().decode("utf-8", "replace") if not output.closed else ""
    return found


def function_of(own, name):
    """The function, or the method of a class named `Solution`."""
    found = own.get(name)
    if found is None and "Solution" in own:
        found = getattr(own["Solution"](), name, None)
    return found


def called(own, name, args, kwargs):
    return function_of(own, name)(*args, **kwargs)


def shown(value):
    """The value as Python writes it, and the plain value inside one of another class."""
    text = repr(value)
    if len(text) > TEXT_MAX:
        raise ValueError(f"it takes {len(text)} characters; at most {TEXT_MAX} are read")
    plain = None
    if type(value) not in PLAIN or type(value) is collections.deque:
        for base in PLAIN:
            if isinstance(value, base):
                kind = list if base is collections.deque else base
                plain = repr(kind(value))
                break
    return [text, plain]


def brief(error):
    try:
        text = str(error)
    except BaseException:
        text = ""
    return f"{type(error).__name__}: {text}"[:500]


class Trace:
    """Follows the lines of the program as statements: one that spans lines is one."""

    def __init__(self, source, points, steps_max):
        self.lines = source.splitlines()
        self.first = first_lines(source)
        self.points = [(self.first.get(line, line), *rest) for line, *rest in points]
        self.answers = [None] * len(points)
        self.steps_max = steps_max
        self.steps = 0
        self.visits = collections.Counter()
        self.last = {}
        self.after = {}
        self.next = []

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_name
        if frame.f_code.co_filename != FILE or name.startswith("<") and name != "<module>":
            return None
        return self.local

    def local(self, frame, event, arg):
        self.settle(frame)
        if event == "line":
            self.line(frame)
        elif event == "return":
            self.last.pop(frame, None)
        return self.local

    def line(self, frame):
        line = self.first.get(frame.f_lineno)
        if line is not None and self.last.get(frame) == line:
            return  # Another line of the same statement.
        self.last[frame] = line
        line = frame.f_lineno if line is None else line
        self.steps += 1
        if self.steps > self.steps_max:
            sys.settrace(None)
            frame.f_trace = None
            return
        for index in self.next:
            text = self.lines[line - 1].strip() if line <= len(self.lines) else ""
            self.answers[index] = ["line", line, text]
        self.next = []
        self.visits[line] += 1
        for index, (wanted, visit, variable) in enumerate(self.points):
            if wanted == line and visit == self.visits[line]:
                if variable is None:
                    self.next.append(index)
                else:
                    self.after.setdefault(frame, []).append(index)

    def settle(self, frame):
        """Notes variables once their line has run: at the next event of its frame."""
        for index in self.after.pop(frame, ()):
            variable = self.points[index][2]
            try:
                value = eval(variable, frame.f_globals, dict(frame.f_locals))
                kind = type(value)
                names = [kind.__name__, f"{kind.__module__}.{kind.__qualname__}"]
                self.answers[index] = ["value", names, *shown(value)]
            except BaseException as error:
                self.answers[index] = ["unknown", f"{variable}: {brief(error)}"]

    def ended(self):
        for index in self.next:
            self.answers[index] = ["end"]
        for index, (line, visit, _) in enumerate(self.points):
            if self.answers[index] is None:
                why = f"line {line} was reached {self.visits[line]} times, not {visit}"
                if self.steps > self.steps_max:
                    why = f"more than {self.steps_max} steps"
                self.answers[index] = ["unknown", why]
        return self.answers


def first_lines(source):
    """For each line of a statement (or head of one) that spans lines, its first line."""
    first = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None) or getattr(node, "cases", None)
        end = node.end_lineno
        if body:
            start = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
            end = start.lineno - 1
        if end > node.lineno:
            first.update(dict.fromkeys(range(node.lineno, end + 1), node.lineno))
    return first
