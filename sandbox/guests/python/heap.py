"""Where a run's objects lie.

Importing the whole library leaves thousands of gaps in the heap, and the allocator fills gaps
first: each new object then lies on a page of its own, which the host must copy for every run. So
the gaps are filled for good before the snapshot, and a run's objects lie side by side behind them.
"""

_SIZES = [*range(1 << 20, 1 << 16, -(1 << 16)), *range(1 << 16, 1 << 12, -(1 << 10)),
          *range(1 << 12, 512, -64), *range(512, 8, -8)]
_FRESH_BYTES = 6 << 20
_HEAD_BYTES = 17

fillers = []


def settle():
    """Fills all gaps, and makes room behind them."""
    # The list must not grow while gaps are filled: it would leave gaps of its own.
    slots = [None] * 400_000
    end = id(bytes(_FRESH_BYTES))
    at = 0
    for size in _SIZES:
        length = max(size - _HEAD_BYTES, 1)
        while at < len(slots):
            block = bytes(length + 1)
            if id(block) >= end:
                break
            slots[at] = block
            at += 1
    fillers.append(slots)
