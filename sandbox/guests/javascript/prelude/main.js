// The start of every program: what is global, how modules are found, how the program is run.
// The parts beside this file are loaded when they are first asked for.
(function (host) {
  const parts = { __proto__: null };
  const load = (name) => (parts[name] ??= host.part(name)(host, load));

  const put = (target, name, value) =>
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });

  // A property that is made when it is first read.
  const lazy = (target, name, make) =>
    Object.defineProperty(target, name, {
      configurable: true,
      enumerable: false,
      get() {
        const value = make();
        put(target, name, value);
        return value;
      },
      set(value) {
        put(target, name, value);
      },
    });

  const loop = load('loop');

  // Modules by name; a second name after the colon takes a property of the part.
  const MODULES = {
    __proto__: null,
    assert: 'assert', 'assert/strict': 'assert:strict', buffer: 'buffer', console: 'console',
    crypto: 'crypto', events: 'events', fs: 'fs', 'fs/promises': 'fs:promises', module: 'module',
    os: 'os', path: 'path', 'path/posix': 'path', perf_hooks: 'performance', process: 'process',
    punycode: 'text', readline: 'readline', 'readline/promises': 'readline:promises',
    stream: 'stream', string_decoder: 'text', timers: 'timers', 'timers/promises': 'timers:promises',
    tty: 'os', url: 'url', util: 'util', 'util/types': 'util:types', worker_threads: 'os:threads',
  };

  const require = (name) => {
    if (typeof name !== 'string') {
      const error = new TypeError('The "id" argument must be of type string');
      error.code = 'ERR_INVALID_ARG_TYPE';
      throw error;
    }
    const found = MODULES[name.startsWith('node:') ? name.slice(5) : name];
    if (found === undefined) {
      const error = new Error(`Cannot find module '${name}'\nRequire stack:\n- /main.js`);
      error.code = 'MODULE_NOT_FOUND';
      error.requireStack = ['/main.js'];
      throw error;
    }
    const [part, property] = found.split(':');
    return property ? load(part)[property] : load(part);
  };
  require.cache = { __proto__: null };
  require.resolve = (name) => name;

  parts.module = { builtinModules: Object.keys(MODULES), createRequire: () => require, isBuiltin: (name) => name.replace(/^node:/, '') in MODULES };

  put(globalThis, 'global', globalThis);
  put(globalThis, 'console', load('console'));
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval',
    'clearImmediate', 'queueMicrotask']) put(globalThis, name, loop[name]);
  for (const [name, part, property] of [
    ['process', 'process'], ['Buffer', 'buffer', 'Buffer'], ['TextEncoder', 'text', 'TextEncoder'],
    ['TextDecoder', 'text', 'TextDecoder'], ['structuredClone', 'clone', 'structuredClone'],
    ['performance', 'performance', 'performance'], ['crypto', 'crypto', 'webcrypto'],
    ['URL', 'url', 'URL'], ['URLSearchParams', 'url', 'URLSearchParams'], ['Intl', 'locale', 'Intl'],
    ['Event', 'target', 'Event'], ['EventTarget', 'target', 'EventTarget'],
    ['AbortController', 'target', 'AbortController'], ['AbortSignal', 'target', 'AbortSignal'],
  ]) lazy(globalThis, name, () => (property ? load(part)[property] : load(part)));

  // What depends on the language of the reader: always American English.
  const localize = (prototype, name, called) => put(prototype, name, {
    [name](...args) {
      return load('locale')[called](this, ...args);
    },
  }[name]);
  localize(String.prototype, 'localeCompare', 'compare');
  localize(Number.prototype, 'toLocaleString', 'number');
  localize(BigInt.prototype, 'toLocaleString', 'number');
  localize(Date.prototype, 'toLocaleString', 'dateTime');
  localize(Date.prototype, 'toLocaleDateString', 'date');
  localize(Date.prototype, 'toLocaleTimeString', 'time');

  // A stack starts with what the error says, as programs expect that print it.
  const { get: frames, ...stack } = Object.getOwnPropertyDescriptor(Error.prototype, 'stack');
  Object.defineProperty(Error.prototype, 'stack', {
    ...stack,
    get() {
      const text = Reflect.apply(frames, this, []);
      return typeof text === 'string' ? `${load('bases').head(this, null)}\n${text}`.trimEnd() : text;
    },
  });

  const NAME = '/main.js';

  // As node: a script, unless only a module can be meant.
  const start = (source) => {
    const text = source.startsWith('#!') ? `//${source}` : source;
    let script;
    try {
      script = host.script(
        `(function (exports, require, module, __filename, __dirname) { ${text}\n})`, NAME);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      let module;
      try {
        module = host.module(text, NAME);
      } catch (other) {
        throw /^\s*(import|export)\b/m.test(text) ? other : error;
      }
      return module;
    }
    const module = { exports: {}, id: '.', path: '/', filename: NAME, loaded: false, children: [], paths: [] };
    require.main = module;
    Reflect.apply(script, module.exports, [module.exports, require, module, NAME, '/']);
    return undefined;
  };

  const run = (source, args) => {
    loop.args = args;
    loop.refresh();
    let module;
    loop.call(() => {
      module = start(source);
    });
    loop.run();
    const pending = module !== undefined && host.promise(module)[0] === 0;
    if (pending) host.write(2, 'Warning: Detected unsettled top-level await\n');
    loop.exit(pending ? 13 : undefined);
  };

  return { require, run };
})
