// `fs`: the standard streams, and the files that the host gives, where it gives any.
const { Readable, Writable } = require('readable-stream');
const path = require('path-browserify');
const { Buffer } = require('./buffer');
const loop = require('./loop');
const process = require('./process');

const STREAMS = { __proto__: null, '/dev/stdin': 0, '/dev/fd/0': 0, '/proc/self/fd/0': 0, '/dev/stdout': 1, '/dev/fd/1': 1, '/dev/stderr': 2, '/dev/fd/2': 2 };
const ERRORS = {
  ENOENT: [-2, 'no such file or directory'], EACCES: [-13, 'permission denied'], EBADF: [-9, 'bad file descriptor'],
  EEXIST: [-17, 'file already exists'], ENOTDIR: [-20, 'not a directory'], EISDIR: [-21, 'illegal operation on a directory'],
  EINVAL: [-22, 'invalid argument'], EMFILE: [-24, 'too many open files'], ENOSPC: [-28, 'no space left on device'],
  ENAMETOOLONG: [-36, 'name too long'], ENOTEMPTY: [-39, 'directory not empty'], ENOTSUP: [-95, 'operation not supported'],
};
// As WASI numbers them. The last one stands for a guest that has no files.
const CODES = { 2: 'EACCES', 8: 'EBADF', 20: 'EEXIST', 28: 'EINVAL', 31: 'EISDIR', 33: 'EMFILE', 37: 'ENAMETOOLONG', 44: 'ENOENT', 51: 'ENOSPC', 54: 'ENOTDIR', 55: 'ENOTEMPTY', 58: 'ENOTSUP', 76: 'ENOENT' };
const O = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000 };
const FLAGS = { r: 0, 'r+': 2, w: 0o1101, 'w+': 0o1102, a: 0o2101, 'a+': 0o2102 };

const failure = (code, syscall, name, other) => {
  const [errno, words] = ERRORS[code];
  const places = [name, other].filter((one) => one !== undefined).map((one) => `'${one}'`).join(' -> ');
  const error = new Error(`${code}: ${words}, ${syscall}${places && ` ${places}`}`);
  return Object.assign(error, { errno, code, syscall }, name === undefined ? {} : { path: `${name}` });
};

// What a call of the host gave, unless it failed.
const given = (result, syscall, name, other) => {
  if (typeof result === 'number' && result < 0) throw failure(CODES[-result] ?? 'EINVAL', syscall, name, other);
  return result;
};

const nameOf = (name) => (name?.protocol === 'file:' ? decodeURIComponent(name.pathname) : `${name}`);
const hasFiles = () => typeof host.stat('/') !== 'number';
const encodingOf = (options) => (typeof options === 'string' ? options : options?.encoding);
const bytesOf = (data, options) => (ArrayBuffer.isView(data) ? data : Buffer.from(`${data}`, encodingOf(options)));
const decoded = (bytes, options) => {
  const buffer = Buffer.from(bytes);
  const encoding = encodingOf(options);
  return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
};
const flagsOf = (flags) => {
  if (typeof flags === 'number') return flags;
  const exclusive = flags.includes('x') ? O.O_EXCL : 0;
  const known = FLAGS[flags.replace(/[xs]/g, '')];
  if (known === undefined) throw Object.assign(new TypeError(`The argument 'flags' is invalid. Received '${flags}'`), { code: 'ERR_INVALID_ARG_VALUE' });
  return known | exclusive;
};

const openSync = (name, flags) => {
  const asked = flagsOf(flags ?? 'r');
  const file = nameOf(name);
  if (STREAMS[file] !== undefined) return STREAMS[file];
  if (asked !== 0 && !hasFiles()) throw failure('EACCES', 'open', file);
  return given(host.open(file, asked), 'open', file);
};

const closeSync = (fd) => void (fd > 2 && given(host.close(fd), 'close'));

// Does something with a file that is open, or that is opened for it.
const within = (name, flags, run) => {
  if (typeof name === 'number') return run(name);
  const fd = openSync(name, flags);
  try {
    return run(fd);
  } finally {
    closeSync(fd);
  }
};

const readFileSync = (name, options) => within(name, options?.flag, (fd) => {
  if (fd === 0) return decoded(host.read(-1), options);
  if (fd <= 2) throw failure('EBADF', 'read');
  const [isFolder, size] = given(host.stat(fd), 'fstat');
  if (isFolder) throw failure('EISDIR', 'read');
  return decoded(given(host.get(fd, size, -1), 'read'), options);
});

const put = (fd, bytes, at) => (fd <= 2 ? host.write(fd, bytes) : given(host.put(fd, bytes, at ?? -1), 'write'));
const writeFileSync = (name, data, options) => within(name, options?.flag ?? 'w', (fd) => void put(fd, bytesOf(data, options)));
const appendFileSync = (name, data, options) => writeFileSync(name, data, { flag: 'a', encoding: encodingOf(options) });

const readSync = (fd, target, offset = 0, length = undefined, position = null) => {
  const asked = typeof offset === 'object' ? { offset: 0, ...offset } : { offset, length, position };
  const limit = asked.length ?? target.byteLength - asked.offset;
  if (fd === 1 || fd === 2) throw failure('EBADF', 'read');
  const bytes = new Uint8Array(fd === 0 ? host.read(limit) : given(host.get(fd, limit, Number(asked.position ?? -1)), 'read'));
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes, asked.offset);
  return bytes.length;
};

const writeSync = (fd, data, offset = undefined, length = undefined, position = undefined) => {
  if (typeof data === 'string') return put(fd, Buffer.from(data, length), offset);
  const start = offset ?? 0;
  return put(fd, data.subarray(start, length === undefined ? undefined : start + length), position);
};

class Stats {
  constructor(isFolder, size, changed, number, isStream) {
    Object.assign(this, { dev: 0, mode: isFolder ? 0o40777 : 0o100666, nlink: 1, uid: 0, gid: 0, ino: number, size });
    for (const kind of ['atime', 'mtime', 'ctime', 'birthtime']) Object.assign(this, { [`${kind}Ms`]: changed, [kind]: new Date(changed) });
    const is = { File: !isFolder && !isStream, Directory: isFolder, FIFO: isStream, SymbolicLink: false, CharacterDevice: false, BlockDevice: false, Socket: false };
    for (const [kind, value] of Object.entries(is)) Object.defineProperty(this, `is${kind}`, { value: () => value, enumerable: false });
  }
}

const stat = (syscall) => (name, options) => {
  const file = typeof name === 'number' ? name : nameOf(name);
  const stream = typeof file === 'number' ? file <= 2 : STREAMS[file] !== undefined;
  if (stream) return new Stats(false, 0, 0, 0, true);
  const found = host.stat(file);
  if (typeof found === 'number' && options?.throwIfNoEntry === false) return undefined;
  return new Stats(...given(found, syscall, typeof file === 'number' ? undefined : file), false);
};
const statSync = stat('stat');
const isFolder = (name) => statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
const existsSync = (name) => name === '/' || statSync(name, { throwIfNoEntry: false }) !== undefined;

const readdirSync = (name, options) => {
  const folder = nameOf(name);
  const names = given(host.list(folder), 'scandir', folder).sort();
  const found = names.flatMap((one) => {
    const inner = path.join(folder, one);
    const below = options?.recursive && isFolder(inner) ? readdirSync(inner, { recursive: true }).map((rest) => path.join(one, rest)) : [];
    return [one, ...below];
  });
  if (!options?.withFileTypes) return found;
  return found.map((one) => {
    const inner = path.join(folder, one);
    return Object.assign(statSync(inner), { name: path.basename(one), parentPath: path.dirname(inner), path: path.dirname(inner) });
  });
};

const alter = (what, name, other) => {
  if (!hasFiles()) throw failure(what === 'mkdir' ? 'EACCES' : 'ENOENT', what, name);
  given(host.alter(what, nameOf(name), other === undefined ? '' : nameOf(other)), what, name, other);
};

const mkdirSync = (name, options) => {
  if (!options?.recursive) return alter('mkdir', name);
  const parts = nameOf(name).split('/');
  let first;
  parts.forEach((part, at) => {
    const folder = parts.slice(0, at + 1).join('/');
    if (part === '' || isFolder(folder)) return;
    alter('mkdir', folder);
    first ??= folder;
  });
  return first;
};

const unlinkSync = (name) => alter('unlink', name);
const rmdirSync = (name, options) => (options?.recursive ? rmSync(name, options) : alter('rmdir', name));
const rmSync = (name, options) => {
  if (!existsSync(name) && options?.force) return;
  if (!isFolder(name)) return unlinkSync(name);
  if (!options?.recursive) throw Object.assign(new Error(`Path is a directory: rm returned EISDIR (is a directory) ${name}`), { code: 'ERR_FS_EISDIR' });
  for (const one of readdirSync(name)) rmSync(path.join(nameOf(name), one), options);
  alter('rmdir', name);
};

const copyFileSync = (from, to) => writeFileSync(to, readFileSync(from));
const truncateSync = (name, length = 0) => within(name, 'r+', (fd) => void given(host.truncate(fd, length), 'ftruncate'));
const mkdtempSync = (prefix) => {
  for (let at = 0; ; at += 1) {
    const name = `${prefix}${String(at).padStart(6, '0')}`;
    if (!existsSync(name)) return mkdirSync(name), name;
  }
};
const realpathSync = (name) => (statSync(name), path.resolve('/', nameOf(name)));
const nothing = () => {};

const sync = {
  accessSync: (name) => void stat('access')(name), appendFileSync, chmodSync: nothing, closeSync, copyFileSync, existsSync,
  fstatSync: stat('fstat'), fsyncSync: nothing, ftruncateSync: truncateSync, lstatSync: stat('lstat'), mkdirSync, mkdtempSync, openSync,
  readFileSync, readSync, readdirSync, realpathSync, renameSync: (from, to) => alter('rename', from, to), rmSync, rmdirSync,
  statSync, truncateSync, unlinkSync, utimesSync: nothing, writeFileSync, writeSync,
};

const callbacks = {};
const promises = {};
for (const [name, run] of Object.entries(sync)) {
  const short = name.slice(0, -4);
  promises[short] = async (...args) => run(...args);
  callbacks[short] = (...args) => {
    const done = args.pop();
    loop.later(() => {
      let result;
      try {
        result = run(...args);
      } catch (error) {
        return done(error);
      }
      return short === 'exists' ? done(result) : done(null, result);
    });
  };
}

const createReadStream = (name, options) => {
  const encoding = encodingOf(options);
  if (STREAMS[`${name}`] === 0 || options?.fd === 0) return encoding ? process.stdin.setEncoding(encoding) : process.stdin;
  let at = 0;
  let bytes;
  const stream = new Readable({
    read(count) {
      loop.later(() => {
        try {
          bytes ??= readFileSync(options?.fd ?? name).subarray(options?.start ?? 0, (options?.end ?? Infinity) + 1);
        } catch (error) {
          return this.destroy(error);
        }
        const part = bytes.subarray(at, at + Math.max(count, 65536));
        at += part.length;
        return this.push(part.length === 0 ? null : part);
      });
    },
  });
  return Object.assign(encoding ? stream.setEncoding(encoding) : stream, { path: name });
};

const createWriteStream = (name, options) => {
  const fd = options?.fd ?? openSync(name, options?.flags ?? options?.flag ?? 'w');
  if (fd <= 2) return fd === 2 ? process.stderr : process.stdout;
  const stream = new Writable({
    write(chunk, encoding, done) {
      try {
        put(fd, bytesOf(chunk, encoding));
      } catch (error) {
        return done(error);
      }
      stream.bytesWritten += chunk.length;
      return done();
    },
    final(done) {
      closeSync(fd);
      done();
    },
  });
  return Object.assign(stream, { path: name, bytesWritten: 0 });
};

module.exports = { ...sync, ...callbacks, promises, createReadStream, createWriteStream, Stats, constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, ...O } };
