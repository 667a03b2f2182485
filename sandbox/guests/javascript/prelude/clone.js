// `structuredClone`.
(function (host) {
  const refuse = (value) => {
    throw new DOMException(`${typeof value === 'symbol' ? String(value) : typeof value === 'function' ? Function.prototype.toString.call(value) : '#<Object>'} could not be cloned.`, 'DataCloneError');
  };

  const errors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const blank = (value, kind) => {
    switch (kind) {
      case 'Date': return new Date(value.getTime());
      case 'RegExp': return new RegExp(value.source, value.flags);
      case 'Number': case 'String': case 'Boolean': case 'BigInt': return Object(value.valueOf());
      case 'Map': return new Map();
      case 'Set': return new Set();
      case 'ArrayBuffer': return value.slice(0);
      case 'Error': return new (errors[value.name] ?? Error)(value.message, 'cause' in value ? { cause: value.cause } : undefined);
      case 'Promise': case 'WeakMap': case 'WeakSet': case 'WeakRef': case 'Symbol': case 'Proxy': return refuse(value);
      default: return Array.isArray(value) ? new Array(value.length) : {};
    }
  };

  const copy = (value, seen) => {
    if (typeof value === 'symbol' || typeof value === 'function') refuse(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const kind = host.kind(value);
    if (ArrayBuffer.isView(value)) {
      const type = globalThis[kind] ?? Uint8Array;
      const buffer = copy(value.buffer, seen);
      const made = new type(buffer, value.byteOffset, kind === 'DataView' ? value.byteLength : value.length);
      seen.set(value, made);
      return made;
    }
    const made = blank(value, kind);
    seen.set(value, made);
    if (kind === 'Map') for (const [key, held] of [...value]) made.set(copy(key, seen), copy(held, seen));
    if (kind === 'Set') for (const held of [...value]) made.add(copy(held, seen));
    if (Array.isArray(value) || !['Map', 'Set', 'Date', 'RegExp', 'ArrayBuffer', 'Error', 'Number', 'String', 'Boolean', 'BigInt'].includes(kind)) {
      for (const key of Object.keys(value)) made[key] = copy(value[key], seen);
    }
    return made;
  };

  return { structuredClone: function structuredClone(value) {
    return copy(value, new Map());
  } };
})
