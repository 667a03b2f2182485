// The start of every program: what is global, how modules are found, how the program is run.
const loop = require('./loop');
const events = require('./events');
const { Buffer, ...buffer } = require('./buffer');
const text = require('./text');
const process = require('./process');
const fs = require('./fs');
const locale = require('./locale');
const web = require('./web');
const crypto = require('./crypto');
const console = require('./console');
const readline = require('./readline');
const util = require('./util');
const system = require('./system');
const { assert } = require('./assert');
const path = require('path-browserify');
const stream = require('readable-stream');
const { StringDecoder } = require('string_decoder');

const put = (target, name, value) =>
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });

const MODULES = {
  __proto__: null, assert, 'assert/strict': assert.strict, buffer: { Buffer, ...buffer }, console, crypto, events, fs,
  'fs/promises': fs.promises, os: system.os, path, 'path/posix': path, perf_hooks: { performance: web.performance },
  process, readline, 'readline/promises': readline.promises, stream, 'stream/promises': stream.promises,
  string_decoder: { StringDecoder }, timers: system.timers, 'timers/promises': system.timers.promises,
  tty: { isatty: () => false }, url: web.url, util, 'util/types': util.types, worker_threads: system.threads,
};

const require_ = (name) => {
  if (typeof name !== 'string') {
    throw Object.assign(new TypeError('The "id" argument must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  const found = MODULES[name.startsWith('node:') ? name.slice(5) : name];
  if (found !== undefined) return found;
  throw Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:\n- /main.js`),
    { code: 'MODULE_NOT_FOUND', requireStack: ['/main.js'] });
};
put(require_, 'name', 'require');
require_.cache = { __proto__: null };
require_.resolve = (name) => name;
MODULES.module = { builtinModules: Object.keys(MODULES), createRequire: () => require_, isBuiltin: (name) => name.replace(/^node:/, '') in MODULES };

const { promises, ...timers } = system.timers;
const { url, ...globals } = web;
for (const [name, value] of Object.entries({ global: globalThis, console, process, Buffer, ...timers, ...text, ...globals,
  queueMicrotask: loop.queueMicrotask, crypto: crypto.webcrypto, Intl: locale.Intl })) put(globalThis, name, value);

// What depends on the language of the reader: always American English.
for (const [type, name, run] of [[String, 'localeCompare', locale.compare], [Number, 'toLocaleString', locale.number],
  [BigInt, 'toLocaleString', locale.number], [Date, 'toLocaleString', locale.dateTime],
  [Date, 'toLocaleDateString', locale.date], [Date, 'toLocaleTimeString', locale.time]]) {
  put(type.prototype, name, { [name](...args) {
    return run(this, ...args);
  } }[name]);
}

// A stack starts with what the error says, as programs expect that print it.
const head = (error) => {
  const { name = 'Error', message = '' } = error;
  return message === '' ? `${name}` : `${name}: ${message}`;
};
const { get: frames, ...accessor } = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
Object.defineProperty(Error.prototype, 'stack', {
  ...accessor,
  get() {
    const own = Reflect.apply(frames, this, []);
    return typeof own === 'string' ? `${head(this)}\n${own}`.trimEnd() : own;
  },
});

// A module as `import` takes it: source, and what its `import.meta` holds.
const load = (name) => {
  const exports = require_(name);
  const names = Object.keys(exports).filter((key) => key !== 'default').map((key) => JSON.stringify(key));
  const list = (join) => names.map((key, at) => join(key, `$${at}`)).join(', ');
  return [`export default import.meta.exports; const { ${list((key, own) => `${key}: ${own}`)} } = import.meta.exports;
    export { ${list((key, own) => `${own} as ${key}`)} };`, { exports }];
};

const NAME = '/main.js';

// As node: a script, unless only a module can be meant.
const start = (source) => {
  const program = source.startsWith('#!') ? `//${source}` : source;
  let script;
  try {
    script = host.script(`(function (exports, require, module, __filename, __dirname) { ${program}\n})`, NAME);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    try {
      return host.module(program, NAME, { url: `file://${NAME}`, filename: NAME, dirname: '/', main: true });
    } catch (other) {
      throw /^\s*(import|export)\b/m.test(program) ? other : error;
    }
  }
  const module = { exports: {}, id: '.', path: '/', filename: NAME, loaded: false, children: [], paths: [] };
  require_.main = module;
  Reflect.apply(script, module.exports, [module.exports, require_, module, NAME, '/']);
  return undefined;
};

const run = (source, args) => {
  process.argv.push(...args);
  let module;
  loop.run(() => {
    module = start(source);
  });
  const pending = module !== undefined && host.promise(module)[0] === 0;
  if (pending) host.write(2, 'Warning: Detected unsettled top-level await\n');
  loop.exit(pending ? 13 : undefined);
};

module.exports = { load, run };
