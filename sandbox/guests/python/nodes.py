"""Lists and trees of nodes, as tasks in the style of LeetCode have them: their tests hold plain lists.

`[1, 2, 3]` is a linked list; `[3, 9, 20, None, None, 15, 7]` is a binary tree level by level, without the
children of what is not there. A function whose annotations name `ListNode` or `TreeNode` takes and gives nodes.
"""

import annotationlib
from collections import deque


class ListNode:
    """A node of a linked list."""

    def __init__(self, val=0, next=None):
        self.val, self.next = val, next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right


KINDS = {"ListNode": ListNode, "TreeNode": TreeNode}
# Nodes of a list that may be read: one that ends in itself has no end.
NODES_MAX = 1_000_000


def annotations(function):
    """The kind of node that each parameter and `return` names, of those that name one."""
    code = getattr(function, "__code__", None)
    if code not in _known:
        _known[code] = _annotations(function)
    return _known[code]


_known = {}


def forget():
    """Forgets the functions of a program."""
    _known.clear()


def _annotations(function):
    try:
        texts = annotationlib.get_annotations(getattr(function, "__func__", function),
                                              format=annotationlib.Format.STRING)
    except Exception:
        return {}
    named = ((name, [kind for kind in KINDS if kind in str(text)]) for name, text in texts.items())
    return {name: kinds[0] for name, kinds in named if kinds}


def taken(function, args, kwargs, kinds, namespace):
    """The arguments, with nodes where the function takes them."""
    code = getattr(function, "__code__", None)
    if code is None or not kinds:
        return args, kwargs
    names = code.co_varnames[hasattr(function, "__func__"):code.co_argcount]

    def node(name, value):
        kind = kinds.get(name)
        return _node(kind, value, namespace) if kind else value

    args = tuple(node(name, value) for name, value in zip(names, args)) + tuple(args[len(names):])
    return args, {name: node(name, value) for name, value in kwargs.items()}


def _node(kind, value, namespace):
    make = namespace.get(kind)
    if type(value) is not list or not isinstance(make, type):
        return value
    if any(type(item) is list for item in value):
        # Several lists or trees in one.
        return [_node(kind, item, namespace) for item in value]
    return (_list if kind == "ListNode" else _tree)(make, value)


def _list(make, values):
    head = None
    for value in reversed(values):
        node = make(value)
        node.next, head = head, node
    return head


def _tree(make, values):
    if not values or values[0] is None:
        return None
    root = make(values[0])
    parents, rest = deque([root]), iter(values[1:])
    for left in rest:
        parent = parents.popleft() if parents else None
        for side, value in (("left", left), ("right", next(rest, None))):
            if parent is not None and value is not None:
                child = make(value)
                setattr(parent, side, child)
                parents.append(child)
    return root


def given(value, kind):
    """A value with lists in the place of nodes; `kind` is that of the annotation, if it names one."""
    if value is None:
        return [] if kind else None
    if type(value) is list and kind:
        return [given(item, kind) if item is not None else [] for item in value]
    name = type(value).__name__
    if name not in KINDS:
        return value
    return _values(value) if name == "ListNode" else _levels(value)


def _values(node):
    found = []
    while node is not None and len(found) < NODES_MAX:
        found.append(node.val)
        node = node.next
    return found


def _levels(root):
    found, level = [], deque([root])
    while level and len(found) < NODES_MAX:
        node = level.popleft()
        found.append(None if node is None else node.val)
        if node is not None:
            level.extend((node.left, node.right))
    while found and found[-1] is None:
        found.pop()
    return found
