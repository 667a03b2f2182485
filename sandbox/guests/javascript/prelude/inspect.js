// `util.inspect` and `util.format`: node's own, told what only the engine knows.
const kinds = (...names) => (value) => names.includes(host.kind(value));
const { get: tagOf } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
const isTyped = (value, name) => {
  const tag = ArrayBuffer.isView(value) ? tagOf.call(value) : undefined;
  return name === undefined ? tag !== undefined : tag === name;
};
const types = {
  isAnyArrayBuffer: kinds('ArrayBuffer', 'SharedArrayBuffer'), isArgumentsObject: kinds('Arguments'), isArrayBufferView: ArrayBuffer.isView,
  isAsyncFunction: kinds('AsyncFunction', 'AsyncGeneratorFunction'), isBoxedPrimitive: kinds('Number', 'String', 'Boolean', 'BigInt', 'Symbol'),
  isExternal: () => false, isGeneratorFunction: kinds('GeneratorFunction', 'AsyncGeneratorFunction'),
  isGeneratorObject: kinds('Generator', 'AsyncGenerator'), isMapIterator: kinds('Map Iterator'), isModuleNamespaceObject: kinds('Module'),
  isNativeError: kinds('Error'), isSetIterator: kinds('Set Iterator'), isTypedArray: (value) => isTyped(value),
  isUint8Array: (value) => isTyped(value, 'Uint8Array'),
};
for (const kind of ['ArrayBuffer', 'DataView', 'Date', 'Map', 'Promise', 'Proxy', 'RegExp', 'Set', 'WeakMap', 'WeakSet']) types[`is${kind}`] = kinds(kind);
for (const kind of ['BigInt', 'Boolean', 'Number', 'String', 'Symbol']) types[`is${kind}Object`] = kinds(kind);

// The columns that a text takes in a terminal.
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{Mn}\p{Me}\p{Cf}\u0000-\u001f\u007f-\u009f]/u;
host.width = (text) => {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  const shown = text.replace(/\x1b\[\d+m/g, '').normalize('NFC');
  return [...shown].reduce((sum, char) => sum + (NONE.test(char) ? 0 : WIDE.test(char) ? 2 : 1), 0);
};

// The package hands each of its parts over here before another part takes it.
host.part = (exports) => {
  if ('isMapIterator' in exports) Object.assign(exports, types);
  if (!('previewEntries' in exports)) return;
  const { kPending, kRejected } = exports.constants;
  Object.assign(exports, {
    getOwnNonIndexProperties: (value, filter) => host.names(value, filter === exports.constants.ALL_PROPERTIES),
    getPromiseDetails(promise) {
      const [state, result] = host.promise(promise);
      return [[kPending, undefined, kRejected][state], result];
    },
    getProxyDetails(value, all = true) {
      const target = host.target(value);
      return all && target !== undefined ? [target, {}] : target;
    },
    previewEntries(iterator, paired) {
      const [entries, pairs] = host.remaining(iterator);
      return paired ? [entries, pairs] : entries;
    },
  });
};
const { inspect, format, formatWithOptions, stripVTControlCharacters } = require('node-inspect-extracted');

module.exports = { width: host.width, format, formatWithOptions, inspect, stripVTControlCharacters, types };
