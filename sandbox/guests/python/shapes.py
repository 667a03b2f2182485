"""Forms of linked nodes, as LeetCode writes them: how plain lists become nodes, and nodes plain lists."""

import re
from collections import deque

# Nodes that are read: a list that ends in itself has no end.
NODES_MAX = 1_000_000


class Form:
    """Nodes with the same links."""

    def __init__(self, links, build, write):
        self.links, self.build, self.write = links, build, write

    def default(self):
        """A class of such nodes, for programs that leave it to their harness."""
        links, empty = self.links, _empty

        class Node:
            def __init__(self, val=0, *values, **named):
                self.val = val
                vars(self).update({link: empty(link) for link in links})
                vars(self).update(zip(links, values))
                vars(self).update(named)

        return Node

    def new(self, make, value):
        """A node without links."""
        init = getattr(make.__init__, "__code__", None)
        defaults = getattr(make.__init__, "__defaults__", None) or ()
        needed = init.co_argcount - 2 - len(defaults) if init is not None else 0
        node = make(value, *[None] * needed)
        for link in self.links:
            if _empty(link) == [] or needed:
                setattr(node, link, _empty(link))
        return node

    def reached(self, root):
        """The nodes that a node leads to, itself among them."""
        nodes, seen, queue = [], set(), deque([root])
        while queue:
            node = queue.popleft()
            if node is None or id(node) in seen:
                continue
            if len(nodes) == NODES_MAX:
                raise ValueError("more nodes than are read")
            seen.add(id(node))
            nodes.append(node)
            for link in self.links:
                to = getattr(node, link)
                queue.extend([to] if _empty(link) is None else to or ())
        return nodes


def _empty(link):
    return [] if link in ("neighbors", "children") else None


def _list(new, values):
    head = None
    for value in reversed(values):
        node = new(value)
        node.next, head = head, node
    return head


def _values(head):
    return [node.val for node in _whole(head)]


def _circle(head):
    return [node.val for node in _chain(head)]


def _whole(head):
    """The nodes of a list that has an end."""
    nodes = _chain(head)
    if nodes and nodes[-1].next is not None:
        raise ValueError("the list has no end")
    return nodes


def _chain(node):
    """The nodes of a list, up to one that was there."""
    nodes, seen = [], set()
    while node is not None and id(node) not in seen and len(nodes) < NODES_MAX:
        seen.add(id(node))
        nodes.append(node)
        node = node.next
    return nodes


def _tree(new, values):
    if not values or values[0] is None:
        return None
    root = new(values[0])
    parents, rest = deque([root]), iter(values[1:])
    for left in rest:
        parent = parents.popleft() if parents else None
        for side, value in (("left", left), ("right", next(rest, None))):
            if parent is not None and value is not None:
                child = new(value)
                setattr(parent, side, child)
                parents.append(child)
    return root


def _levels(root):
    return _flat(root, lambda node: node.val, lambda node: (node.left, node.right))


def _flat(root, value, children):
    """The values of a tree level by level, None for a child that is not there."""
    found, level = [], deque([root])
    while level and len(found) < NODES_MAX:
        node = level.popleft()
        found.append(None if node is None else value(node))
        if node is not None:
            level.extend(children(node))
    return _stripped(found)


def _stripped(values):
    while values and values[-1] is None:
        values.pop()
    return values


def _graph(new, rows):
    """`[[2], [1]]`: the neighbours of the nodes 1 and 2."""
    nodes = [new(number + 1) for number in range(len(rows))]
    for node, row in zip(nodes, rows):
        node.neighbors = [nodes[number - 1] for number in row]
    return nodes[0] if nodes else None


def _rows(root):
    nodes = {node.val: node for node in GRAPH.reached(root)}
    if len(nodes) < len(GRAPH.reached(root)) or sorted(nodes) != [*range(1, len(nodes) + 1)]:
        raise ValueError("the values of the nodes are not 1, 2, ..., each once")
    return [[other.val for other in nodes[number].neighbors or ()] for number in sorted(nodes)]


def _family(new, values):
    """`[1, None, 3, 2, 4, None, 5]`: after the root, the children of each node, set apart by None."""
    if not values:
        return None
    root = new(values[0])
    parents, parent = deque([root]), None
    for value in values[1:]:
        if value is None:
            parent = parents.popleft()
        else:
            child = new(value)
            parent.children.append(child)
            parents.append(child)
    return root


def _families(root):
    found, level = [] if root is None else [root.val, None], deque([root])
    while level and len(found) < NODES_MAX:
        node = level.popleft()
        if node is not None:
            children = [child for child in node.children or () if child is not None]
            found += [*(child.val for child in children), None]
            level.extend(children)
    return _stripped(found)


def _pointers(new, pairs):
    """`[[7, None], [13, 0]]`: a value, and the place of the node that `random` is."""
    nodes = [new(value) for value, _ in pairs]
    for node, after, (_, place) in zip(nodes, [*nodes[1:], None], pairs):
        node.next, node.random = after, None if place is None else nodes[place]
    return nodes[0] if nodes else None


def _pairs(head):
    nodes = _whole(head)
    places = {id(node): place for place, node in enumerate(nodes)}
    return [[node.val, None if node.random is None else places[id(node.random)]] for node in nodes]


def _lines(root):
    """The levels of a tree as `next` leads through them, each with a `#` at its end."""
    found = []
    while root is not None and len(found) < NODES_MAX:
        level = _chain(root)
        found += [*(node.val for node in level), "#"]
        below = [child for node in level for child in (node.left, node.right) if child is not None]
        root = below[0] if below else None
    return found


def _storeys(new, values):
    """`[1, 2, 3, None, None, 4]`: lists that end in None; as many follow as nodes stand before the parent of the
    next list."""
    lists, place = [[]], 0
    for value in values:
        if value is not None:
            node = new(value)
            if lists[-1]:
                node.prev, lists[-1][-1].next = lists[-1][-1], node
            elif len(lists) > 1:
                lists[-2][place].child = node
            lists[-1].append(node)
        elif lists[-1]:
            lists.append([])
            place = 0
        else:
            place += 1
    return lists[0][0] if lists[0] else None


def _one_storey(head):
    nodes, before = _whole(head), None
    for node in nodes:
        if node.prev is not before or getattr(node, "child", None) is not None:
            raise ValueError("a node has a child, or another one before it than it says")
        before = node
    return [node.val for node in nodes]


_QUARTERS = ("topLeft", "topRight", "bottomLeft", "bottomRight")


def _quartered(new, pairs):
    """`[[0, 1], [1, 0], ...]`: whether a node is a leaf, and its value, level by level."""
    nodes = [None if pair is None else new(bool(pair[1])) for pair in pairs]
    rest = iter(nodes[1:])
    for node, pair in zip(nodes, pairs):
        if node is not None:
            node.isLeaf = bool(pair[0])
            for quarter in _QUARTERS:
                setattr(node, quarter, next(rest, None))
    return nodes[0] if nodes else None


def _quarters(root):
    # The value of what is no leaf says nothing.
    return _flat(root, lambda node: [int(bool(node.isLeaf)), int(bool(node.val or not node.isLeaf))],
                 lambda node: [None] * 4 if node.isLeaf else [getattr(node, quarter) for quarter in _QUARTERS])


LIST = Form(("next",), _list, _values)
TREE = Form(("left", "right"), _tree, _levels)
GRAPH = Form(("neighbors",), _graph, _rows)
# Forms of what is called `Node`; the first one whose links the program names is its form.
_NODES = (
    GRAPH,
    Form(("children",), _family, _families),
    Form(("next", "random"), _pointers, _pairs),
    Form(("prev", "next", "child"), _storeys, _one_storey),
    Form(("isLeaf", *_QUARTERS), _quartered, _quarters),
    Form(("left", "right", "next"), _tree, _lines),
    TREE,
    # Some lists of them are circles.
    Form(("next",), _list, _circle),
)


def form_of(node, source):
    """The form of the nodes of a program: of its class `Node`, or else of what it asks nodes for."""
    init = getattr(getattr(node, "__init__", None), "__code__", None)
    own = set(init.co_varnames + init.co_names) if init is not None else ()
    for names in (own, set(re.findall(r"\.(\w+)", source))):
        for form in _NODES:
            if names and names.issuperset(form.links):
                return form
    return None
