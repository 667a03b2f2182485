// `util`.
const { format, formatWithOptions, inspect, stripVTControlCharacters, types } = require('./inspect');
const loop = require('./loop');

const custom = Symbol.for('nodejs.util.promisify.custom');

const promisify = (original) => {
  if (typeof original !== 'function') {
    throw Object.assign(new TypeError('The "original" argument must be of type function'), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  return original[custom] ?? function promised(...args) {
    return new Promise((resolve, reject) => {
      Reflect.apply(original, this, [...args, (error, value) => (error ? reject(error) : resolve(value))]);
    });
  };
};
promisify.custom = custom;

const { promises } = require('./system').timers;
for (const name of ['setTimeout', 'setImmediate']) Object.defineProperty(loop[name], custom, { value: promises[name] });

const callbackify = (original) => function called(...args) {
  const done = args.pop();
  Reflect.apply(original, this, args).then((value) => loop.nextTick(done, null, value),
    (error) => loop.nextTick(done, error ?? new Error('falsy rejection')));
};

module.exports = {
  callbackify, format, formatWithOptions, inspect, promisify, stripVTControlCharacters, types,
  debuglog: () => () => {}, deprecate: (run) => run,
  inherits(type, parent) {
    Object.defineProperty(type, 'super_', { value: parent, writable: true, configurable: true });
    Object.setPrototypeOf(type.prototype, parent.prototype);
  },
  isArray: Array.isArray, isDate: types.isDate, isError: (value) => value instanceof Error, isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined, isObject: (value) => value !== null && typeof value === 'object',
  isPrimitive: (value) => Object(value) !== value, isRegExp: types.isRegExp,
  toUSVString: (text) => `${text}`.toWellFormed(),
};
for (const type of ['Boolean', 'Function', 'Number', 'String', 'Symbol', 'Undefined']) {
  module.exports[`is${type}`] = (value) => typeof value === type.toLowerCase();
}
Object.assign(module.exports, require('./text'), { isDeepStrictEqual: require('./assert').isDeepStrictEqual });
