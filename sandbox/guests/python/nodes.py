"""Lists and trees of nodes, as tasks in the style of LeetCode have them: their tests hold plain lists.

`[1, 2, 3]` is a linked list; `[3, 9, 20, None, None, 15, 7]` is a binary tree level by level, without the
children of what is not there. A function whose annotations name `ListNode` or `TreeNode` takes and gives nodes;
`Node` is any of the forms in `shapes`.
"""

import annotationlib
import re

import shapes


class ListNode:
    """A node of a linked list."""

    def __init__(self, val=0, next=None):
        self.val, self.next = val, next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right


KINDS = {"ListNode": ListNode, "TreeNode": TreeNode}
_FORMS = {"ListNode": shapes.LIST, "TreeNode": shapes.TREE}
_KIND = re.compile(r"\b(?:ListNode|TreeNode|Node)\b")
# What functions are called that must make nodes of their own.
_COPIES = re.compile("clone|copy|deep_?copy", re.IGNORECASE)


def annotations(function):
    """The kind of node that each parameter and `return` names, of those that name one, and whether `return`
    says that nothing is given back."""
    code = getattr(function, "__code__", None)
    if code not in _known:
        _known[code] = _annotations(function)
    return _known[code]


_known = {}
# The form of `Node` in the program at hand.
_node_form = []


def forget():
    """Forgets the functions of a program."""
    _known.clear()
    _node_form.clear()


def _annotations(function):
    try:
        texts = annotationlib.get_annotations(getattr(function, "__func__", function),
                                              format=annotationlib.Format.STRING)
    except Exception:
        return {}, False
    named = ((name, _KIND.search(str(text))) for name, text in texts.items())
    return {name: found[0] for name, found in named if found}, texts.get("return") in ("None", "'None'")


def answer(function, args, kwargs, namespace, source):
    """Calls a function, or makes an object, with plain data: what it gives, whether it gives nothing, so that
    what it left of its first argument stands for the result, and the result as plain data."""
    is_class = isinstance(function, type)
    called = function.__init__ if is_class else function
    kinds, is_void = annotations(called)
    call, code = _Call(kinds, namespace, source), getattr(called, "__code__", None)
    names = () if code is None else code.co_varnames[is_class or hasattr(called, "__func__"):code.co_argcount]
    if kinds:
        args, kwargs = call.taken(names, args, kwargs)
    value, kind = function(*args, **kwargs), kinds.get("return")
    if is_class:
        return value, False, value
    given = [*args, *kwargs.values()]
    is_first = value is None and kind is None and len(given) > 0
    left, left_kind = (given[0], next(iter(kinds.values()), None)) if is_first else (value, kind)
    if kind and _COPIES.match(called.__name__):
        call.check_copy(value, kind, given)
    return None if is_void else value, is_first, call.given(left, left_kind)


class _Call:
    """The nodes of one call."""

    def __init__(self, kinds, namespace, source):
        self.kinds, self.namespace, self.source, self.made = kinds, namespace, source, []
        # Whether a node was named by its value, and whether a list was closed to a cycle.
        self.by_value = self.is_cyclic = False
        if "Node" in kinds.values() and self.form("Node") is not None:
            namespace.setdefault("Node", self.form("Node").default())

    def form(self, kind):
        """The form of a kind of node; none where the program does not say what its `Node` is."""
        if kind == "Node" and not _node_form:
            _node_form.append(shapes.form_of(self.namespace.get(kind), self.source))
        return _node_form[0] if kind == "Node" else _FORMS.get(kind)

    def taken(self, names, args, kwargs):
        """The arguments, with nodes where the function takes them."""
        place = None
        # The node to which the last one of a list leads is said beside the arguments.
        if "ListNode" in self.kinds.values() and len(args) == len(names) + 1:
            *args, place = args
        elif "ListNode" in self.kinds.values() and "pos" not in names:
            place = kwargs.pop("pos", None)
        args = [self.node(name, value) for name, value in zip(names, args)] + [*args[len(names):]]
        kwargs = {name: self.node(name, value) for name, value in kwargs.items()}
        if type(place) is int and self.made:
            self.is_cyclic = True
            # A list is made from its end.
            self.made[0].next = self.made[-1 - place] if place >= 0 else None
        return args, kwargs

    def node(self, name, value):
        """The value, or nodes in its place where a parameter of this name takes them."""
        kind = self.kinds.get(name)
        make, form = self.namespace.get(kind), self.form(kind)
        if form is None or not isinstance(make, type):
            return value
        if type(value) in (int, str) and self.made:
            found = [node for node in self.made if node.val == value]
            self.by_value = self.by_value or len(found) > 0
            return found[0] if found else value
        if type(value) is not list:
            return value
        if kind != "Node" and any(type(item) is list for item in value):
            # Several lists or trees in one.
            return [self.node(name, item) for item in value]
        return form.build(lambda value: self.new(make, form, value), value)

    def new(self, make, form, value):
        node = form.new(make, value)
        self.made.append(node)
        return node

    def check_copy(self, value, kind, given):
        """Refuses nodes that were given in the place of new ones."""
        form, made = self.form(kind), {id(node) for node in (*self.made, *given)}
        is_node = form is not None and type(value) is not list
        if value is not None and any(id(node) in made for node in (form.reached(value) if is_node else [value])):
            raise ValueError("the result holds nodes that were given")

    def given(self, value, kind):
        """A value with lists in the place of nodes; `kind` is that of the annotation, if it names one."""
        if self.is_cyclic and kind == "ListNode":
            places = [place for place, node in enumerate(reversed(self.made)) if node is value]
            return places[0] if places else -1
        if value is None:
            return [] if kind and not self.by_value else None
        if type(value) is list and kind:
            return [self.given(item, kind) if item is not None else [] for item in value]
        name = type(value).__name__
        if name not in (*KINDS, "Node") or self.form(name) is None:
            return value
        return value.val if self.by_value else self.form(name).write(value)
