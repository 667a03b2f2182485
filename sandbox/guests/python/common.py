"""Names that programs of models take for granted: harnesses put these imports before them."""

import nodes

IMPORTS = """
import bisect, collections, copy, datetime, functools, heapq, itertools, json, math, operator
import os, random, re, statistics, string, sys, time
from collections import Counter, OrderedDict, defaultdict, deque
from functools import cache, lru_cache, reduce
from typing import *
"""


def _names():
    namespace = {}
    exec(IMPORTS, namespace)
    del namespace["__builtins__"]
    return namespace | nodes.KINDS


NAMES = _names()
