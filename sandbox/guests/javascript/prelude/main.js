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
const { untyped } = require('./types');
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

const { readFileSync } = fs;
const isFile = (name) => {
  const found = host.stat(name);
  return typeof found !== 'number' && !found[0];
};

// The file that a path names, seen from a file.
const fileOf = (from, name) => {
  if (!/^\.{0,2}\/|^\.{1,2}$/.test(name)) return undefined;
  const base = path.resolve(path.dirname(from), name);
  const ends = ['.js', '.cjs', '.mjs', '.ts', '.cts', '.mts', '.json', '/index.js', '/index.ts'];
  return [base, ...ends.map((end) => base + end), base.replace(/\.([cm]?)js$/, '.$1ts')].find(isFile);
};

const cache = { __proto__: null };
let mainModule;
const moduleOf = (file) => ({ exports: {}, id: file, path: path.dirname(file), filename: file, loaded: false, children: [], paths: [] });

// What a source does as a script of node.
const perform = (source, module) => {
  const script = host.script(`(function (exports, require, module, __filename, __dirname) { ${source}\n})`, module.filename);
  const args = [module.exports, requireFrom(module.filename), module, module.filename, module.path];
  return () => void Reflect.apply(script, module.exports, args);
};

const sourceOf = (file) => untyped(readFileSync(file, 'utf8').replace(/^\uFEFF/, '').replace(/^#!/, '//#!'), file);

const loaded = (file) => {
  if (cache[file] !== undefined) return cache[file].exports;
  const module = moduleOf(file);
  cache[file] = module;
  try {
    if (file.endsWith('.json')) module.exports = JSON.parse(sourceOf(file));
    else perform(sourceOf(file), module)();
  } catch (error) {
    delete cache[file];
    throw error;
  }
  module.loaded = true;
  return module.exports;
};

const requireFrom = (from) => {
  const require_ = (name) => {
    if (typeof name !== 'string') {
      throw Object.assign(new TypeError('The "id" argument must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    const found = MODULES[name.startsWith('node:') ? name.slice(5) : name];
    if (found !== undefined) return found;
    const file = fileOf(from, name);
    if (file !== undefined) return loaded(file);
    throw Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:\n- ${from}`),
      { code: 'MODULE_NOT_FOUND', requireStack: [from] });
  };
  put(require_, 'name', 'require');
  return Object.assign(require_, { cache, main: mainModule, resolve: (name) => fileOf(from, name) ?? name });
};
MODULES.module = { builtinModules: Object.keys(MODULES), isBuiltin: (name) => name.replace(/^node:/, '') in MODULES,
  createRequire: (from) => requireFrom(`${from?.pathname ?? from}`.replace(/^file:\/\//, '')) };

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

const isModule = (source) => /^\s*(import|export)\b/m.test(source);
const metaOf = (file) => ({ url: `file://${file}`, filename: file, dirname: path.dirname(file), main: false });

// The whole name of a module that a file imports.
const resolve = (from, name) => fileOf(from, name.replace(/^file:\/\//, '')) ?? name;

// A module as `import` takes it: source, and what its `import.meta` holds.
const load = (name) => {
  if (name.startsWith('/') && isFile(name) && !name.endsWith('.json')) {
    const source = sourceOf(name);
    if (/\.m[jt]s$/.test(name) || isModule(source)) return [source, metaOf(name)];
  }
  const exports = requireFrom('/')(name);
  const names = Object.keys(exports).filter((key) => key !== 'default').map((key) => JSON.stringify(key));
  const list = (join) => names.map((key, at) => join(key, `$${at}`)).join(', ');
  return [`export default import.meta.exports; const { ${list((key, own) => `${key}: ${own}`)} } = import.meta.exports;
    export { ${list((key, own) => `${own} as ${key}`)} };`, { exports }];
};

// As node: a script, unless only a module can be meant.
const start = (source, file) => {
  const program = untyped(source.startsWith('#!') ? `//${source}` : source, file);
  mainModule = { ...moduleOf(file), id: '.' };
  let script;
  try {
    script = perform(program, mainModule);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    try {
      return host.module(program, file, { ...metaOf(file), main: true });
    } catch (other) {
      throw isModule(program) ? other : error;
    }
  }
  cache[file] = mainModule;
  script();
  return undefined;
};

const run = (source, args, file) => {
  process.argv[1] = file;
  process.argv.push(...args);
  let module;
  loop.run(() => {
    module = start(source, file);
  });
  const pending = module !== undefined && host.promise(module)[0] === 0;
  if (pending) host.write(2, 'Warning: Detected unsettled top-level await\n');
  loop.exit(pending ? 13 : undefined);
};

module.exports = { load, resolve, run };
