// `util`.
(function (host, load) {
  const { inspect } = load('inspect');
  const { format } = load('format');
  const { isDeepStrictEqual } = load('equal');
  const { TextDecoder, TextEncoder } = load('text');
  const { callbackify, promisify } = load('promisify');

  const isKind = (...kinds) => (value) => kinds.includes(host.kind(value));
  const typedTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;
  const types = {
    isAnyArrayBuffer: isKind('ArrayBuffer', 'SharedArrayBuffer'), isArgumentsObject: isKind('Arguments'),
    isArrayBuffer: isKind('ArrayBuffer'), isArrayBufferView: ArrayBuffer.isView,
    isAsyncFunction: (value) => typeof value === 'function' && /^async\b/.test(Function.prototype.toString.call(value)),
    isBoxedPrimitive: isKind('Number', 'String', 'Boolean', 'BigInt', 'Symbol'), isDataView: isKind('DataView'),
    isDate: isKind('Date'), isGeneratorFunction: isKind('GeneratorFunction', 'AsyncGeneratorFunction'),
    isGeneratorObject: isKind('Generator', 'AsyncGenerator'), isMap: isKind('Map'), isMapIterator: isKind('Map Iterator'),
    isNativeError: isKind('Error'), isPromise: isKind('Promise'), isProxy: isKind('Proxy'), isRegExp: isKind('RegExp'),
    isSet: isKind('Set'), isSetIterator: isKind('Set Iterator'), isTypedArray: (value) => ArrayBuffer.isView(value) && typedTag.call(value) !== undefined,
    isUint8Array: (value) => ArrayBuffer.isView(value) && typedTag.call(value) === 'Uint8Array', isWeakMap: isKind('WeakMap'), isWeakSet: isKind('WeakSet'),
  };

  const old = {
    isArray: Array.isArray, isBoolean: (value) => typeof value === 'boolean', isDate: types.isDate,
    isError: (value) => value instanceof Error, isFunction: (value) => typeof value === 'function',
    isNull: (value) => value === null, isNullOrUndefined: (value) => value === null || value === undefined,
    isNumber: (value) => typeof value === 'number', isObject: (value) => value !== null && typeof value === 'object',
    isPrimitive: (value) => value === null || (typeof value !== 'object' && typeof value !== 'function'),
    isRegExp: types.isRegExp, isString: (value) => typeof value === 'string', isSymbol: (value) => typeof value === 'symbol',
    isUndefined: (value) => value === undefined,
  };

  return {
    ...old, TextDecoder, TextEncoder, callbackify, format, inspect, isDeepStrictEqual, promisify, types,
    debuglog: () => () => {},
    deprecate: (run) => run,
    formatWithOptions: (options, ...args) => format(...args),
    inherits(type, parent) {
      Object.defineProperty(type, 'super_', { value: parent, writable: true, configurable: true });
      Object.setPrototypeOf(type.prototype, parent.prototype);
    },
    stripVTControlCharacters: (text) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, ''),
    toUSVString: (text) => `${text}`.toWellFormed(),
  };
})
