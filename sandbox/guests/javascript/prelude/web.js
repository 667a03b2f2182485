// What node has of the web platform: addresses, events, copies of values, time.
const { URL, URLSearchParams } = require('whatwg-url-minimum');
const { AbortController, AbortSignal } = require('abort-controller');
const path = require('path-browserify');
require('event-target-polyfill');

const { Event, EventTarget } = globalThis;

// Addresses are shown as node shows them.
const custom = Symbol.for('nodejs.util.inspect.custom');
const Shown = { URL: class {} }.URL;
URL.prototype[custom] = function () {
  const { href, origin, protocol, username, password, host: name, hostname, port, pathname, search, searchParams, hash } = this;
  return Object.assign(new Shown(), { href, origin, protocol, username, password, host: name, hostname, port, pathname, search, searchParams, hash });
};
URLSearchParams.prototype[custom] = function (depth, options, inspect) {
  const pairs = [...this].map(([key, value]) => `${inspect(key)} => ${inspect(value)}`).join(', ');
  return pairs ? `URLSearchParams { ${pairs} }` : 'URLSearchParams {}';
};

const refuse = (value) => {
  const shown = typeof value === 'object' ? '#<Object>' : typeof value === 'symbol' ? String(value) : Function.prototype.toString.call(value);
  throw new DOMException(`${shown} could not be cloned.`, 'DataCloneError');
};

const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const EMPTY = {
  Date: (value) => new Date(value.getTime()), RegExp: (value) => new RegExp(value.source, value.flags),
  Map: () => new Map(), Set: () => new Set(), ArrayBuffer: (value) => value.slice(0),
  Error: (value) => new (ERRORS[value.name] ?? Error)(value.message, 'cause' in value ? { cause: value.cause } : undefined),
};
for (const kind of ['Number', 'String', 'Boolean', 'BigInt']) EMPTY[kind] = (value) => Object(value.valueOf());
for (const kind of ['Promise', 'WeakMap', 'WeakSet', 'WeakRef', 'Symbol', 'Proxy']) EMPTY[kind] = refuse;

const copy = (value, seen) => {
  if (typeof value === 'symbol' || typeof value === 'function') refuse(value);
  if (typeof value !== 'object' || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const kind = host.kind(value);
  const keep = (made) => {
    seen.set(value, made);
    return made;
  };
  if (ArrayBuffer.isView(value)) {
    return keep(new globalThis[kind](copy(value.buffer, seen), value.byteOffset, kind === 'DataView' ? value.byteLength : value.length));
  }
  const made = keep(EMPTY[kind]?.(value) ?? (Array.isArray(value) ? new Array(value.length) : {}));
  if (kind === 'Map') for (const [key, held] of [...value]) made.set(copy(key, seen), copy(held, seen));
  if (kind === 'Set') for (const held of [...value]) made.add(copy(held, seen));
  if (!EMPTY[kind]) for (const key of Object.keys(value)) made[key] = copy(value[key], seen);
  return made;
};

const performance = {
  now: () => host.now(),
  timeOrigin: Date.UTC(2025, 0, 1),
};

module.exports = {
  AbortController, AbortSignal, Event, EventTarget, URL, URLSearchParams, performance,
  structuredClone: function structuredClone(value) {
    return copy(value, new Map());
  },
  url: { URL, URLSearchParams, fileURLToPath: (url) => new URL(url).pathname, pathToFileURL: (name) => new URL(`file://${path.resolve(name)}`) },
};
