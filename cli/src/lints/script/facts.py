"""What a script of Python names, by its syntax tree: a request on stdin, JSON on stdout."""
import ast, json, sys

request = json.load(sys.stdin)
tree = ast.parse(request["source"])
defined = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
names = [request["function"]] if request["function"] else ["reward", "grade"]
function = next((defined[name] for name in names if name in defined), None)


def spot(node, length=None):
    """The line, from 1, and the bytes of a node in it."""
    end = node.end_col_offset if node.end_lineno == node.lineno else node.col_offset + 1
    return [node.lineno, node.col_offset, end if length is None else node.col_offset + length]


def key(node):
    """The constant text that a subscript or a first argument is."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


class Names(ast.NodeVisitor):
    """Paths from what the function is given on, through variables that stand for one."""

    def __init__(self, roots):
        self.known = {root: ([root], [None]) for root in roots}
        self.paths, self.guarded, self.tries = [], [], 0

    def path(self, node):
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Subscript) and key(node.slice) is not None:
            base, name, at = self.path(node.value), key(node.slice), node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            base, name = self.path(node.func.value), key(node.args[0]) if node.args else None
            at = node.args[0] if node.args else node
        elif isinstance(node, ast.BoolOp):
            return self.path(node.values[0])
        else:
            return None
        return (base[0] + [name], base[1] + [spot(at)]) if base and name is not None else None

    def visit(self, node):
        found = self.path(node) if not isinstance(node, (ast.Name, ast.BoolOp)) else None
        if found:
            self.paths.append(found)
            is_get = isinstance(node, ast.Call)
            if self.tries or is_get:
                self.guarded.append(found[0])
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            where = node.comparators[0]
            if isinstance(where, ast.Call) and isinstance(where.func, ast.Attribute) and where.func.attr == "keys":
                where = where.func.value
            base = self.path(where)
            if base and key(node.left) is not None:
                self.guarded.append(base[0] + [key(node.left)])
        super().visit(node)

    def visit_Try(self, node):
        caught = [own for handler in node.handlers for own in ast.walk(handler.type or ast.Name("Exception"))]
        is_guard = any(getattr(own, "id", "") in ("Exception", "BaseException", "KeyError", "LookupError", "TypeError") for own in caught)
        self.tries += is_guard
        for child in node.body:
            self.visit(child)
        self.tries -= is_guard
        for child in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(child)

    def visit_With(self, node):
        is_guard = any("suppress" in ast.dump(item.context_expr) for item in node.items)
        self.tries += is_guard
        self.generic_visit(node)
        self.tries -= is_guard

    def visit_Assign(self, node):
        found = self.path(node.value)
        for target in node.targets:
            if isinstance(target, ast.Subscript) and self.path(target):
                self.guarded.append(self.path(target)[0])
        self.generic_visit(node)
        for target in node.targets:
            for own in ast.walk(target):
                if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Store):
                    self.known.pop(own.id, None)
            if isinstance(target, ast.Name) and found:
                self.known[target.id] = found


def open_end(body):
    """The statement behind which a block ends without giving anything."""
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return None
    if isinstance(last, ast.If):
        return open_end(last.body) or (open_end(last.orelse) if last.orelse else last)
    if isinstance(last, ast.With):
        return open_end(last.body)
    if isinstance(last, ast.Try):
        if last.finalbody and not open_end(last.finalbody):
            return None
        blocks = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return next(filter(None, map(open_end, blocks)), None)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value:
        return None
    if isinstance(last, ast.Match) and any(isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None for case in last.cases):
        return next(filter(None, (open_end(case.body) for case in last.cases)), None)
    return last


facts = {"paths": [], "imports": [], "function": None}
for node in ast.walk(tree):
    if isinstance(node, ast.Import):
        facts["imports"] += [[own.name.split(".")[0], spot(own)] for own in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        facts["imports"].append([node.module.split(".")[0], spot(node)])
if function:
    arguments = [*function.args.posonlyargs, *function.args.args]
    without_default = len(arguments) - len(function.args.defaults)
    names = Names([own.arg for own in arguments[:2]])
    for statement in function.body:
        names.visit(statement)
    last, returns = open_end(function.body), [own for own in ast.walk(function) if isinstance(own, ast.Return)]
    is_none = lambda value: value is None or isinstance(value, ast.Constant) and value.value is None
    prints = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and getattr(last.value.func, "id", "") == "print"
    gives_none = any(is_none(own.value) for own in returns) and not prints
    paths = [{"names": own, "at": at, "is_guarded": own in names.guarded} for own, at in names.paths]
    facts.update(paths=paths, function={
        "name": function.name,
        "parameters": [{"name": own.arg, "at": spot(own, len(own.arg.encode())), "is_required": at < without_default} for at, own in enumerate(arguments)],
        "open_end": last and not gives_none and spot(last) or None,
    })
print(json.dumps(facts))
