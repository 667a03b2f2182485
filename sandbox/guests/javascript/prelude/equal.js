// Deep equality, strict or loose.
(function (host) {
  const isObject = (value) => typeof value === 'object' && value !== null;
  const enumerable = (value) => [...Object.keys(value), ...Object.getOwnPropertySymbols(value)
    .filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];

  const equal = (a, b, strict, seen) => {
    if (strict ? Object.is(a, b) : a == b || (Number.isNaN(a) && Number.isNaN(b))) return true;
    if (!isObject(a) || !isObject(b)) return false;
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    const kind = host.kind(a);
    if (kind !== host.kind(b) || Array.isArray(a) !== Array.isArray(b)) return false;
    // What is being compared already is equal as long as nothing else differs.
    if (seen.get(a)?.has(b)) return true;
    seen.set(a, (seen.get(a) ?? new Set()).add(b));
    const same = contents(kind, a, b, strict, seen) && properties(a, b, strict, seen);
    seen.get(a).delete(b);
    return same;
  };

  const properties = (a, b, strict, seen) => {
    const keys = enumerable(a);
    return keys.length === enumerable(b).length && (!Array.isArray(a) || a.length === b.length) &&
      keys.every((key) => Object.prototype.propertyIsEnumerable.call(b, key) && equal(a[key], b[key], strict, seen));
  };

  const contents = (kind, a, b, strict, seen) => {
    switch (kind) {
      case 'Date': return Object.is(a.getTime(), b.getTime());
      case 'RegExp': return a.source === b.source && a.flags === b.flags && a.lastIndex === b.lastIndex;
      case 'Error': return a.name === b.name && a.message === b.message && equal(a.cause, b.cause, strict, seen);
      case 'Number': case 'String': case 'Boolean': case 'BigInt': case 'Symbol': return Object.is(a.valueOf(), b.valueOf());
      case 'ArrayBuffer': return equal(new Uint8Array(a), new Uint8Array(b), strict, seen);
      case 'Set': return a.size === b.size && matched([...a], [...b], (one, other) => equal(one, other, strict, seen));
      case 'Map': return a.size === b.size && maps(a, b, strict, seen);
      case 'Promise': case 'WeakMap': case 'WeakSet': return false;
      default: return true;
    }
  };

  const maps = (a, b, strict, seen) => {
    const rest = [];
    for (const [key, value] of a) {
      if (!isObject(key) && b.has(key)) {
        if (!equal(value, b.get(key), strict, seen)) return false;
      } else {
        rest.push([key, value]);
      }
    }
    const others = [...b].filter(([key]) => isObject(key) || !a.has(key));
    return rest.length === others.length && matched(rest, others, (one, other) =>
      equal(one[0], other[0], strict, seen) && equal(one[1], other[1], strict, seen));
  };

  // Whether every value of one list has one of its own in the other.
  const matched = (some, others, same) => {
    const primitives = new Set(others.filter((one) => !isObject(one)));
    const left = others.filter(isObject);
    return some.every((one) => {
      if (!isObject(one) && primitives.delete(one)) return true;
      const at = left.findIndex((other) => same(one, other));
      if (at >= 0) left.splice(at, 1);
      return at >= 0 || (!isObject(one) && [...primitives].some((other) => same(one, other) && primitives.delete(other)));
    });
  };

  return {
    isDeepEqual: (a, b) => equal(a, b, false, new Map()),
    isDeepStrictEqual: (a, b) => equal(a, b, true, new Map()),
  };
})
