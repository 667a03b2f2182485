// `fs`: there are no files but the standard streams.
const { Readable } = require('readable-stream');
const { Buffer } = require('./buffer');
const loop = require('./loop');
const process = require('./process');

const FDS = { __proto__: null, '/dev/stdin': 0, '/dev/fd/0': 0, '/proc/self/fd/0': 0, '/dev/stdout': 1, '/dev/fd/1': 1, '/dev/stderr': 2, '/dev/fd/2': 2 };
const ERRORS = { ENOENT: [-2, 'no such file or directory'], EACCES: [-13, 'permission denied'], EBADF: [-9, 'bad file descriptor'] };

const failure = (code, syscall, path) => {
  const [errno, words] = ERRORS[code];
  const error = new Error(`${code}: ${words}, ${syscall}${path === undefined ? '' : ` '${path}'`}`);
  return Object.assign(error, { errno, code, syscall }, path === undefined ? {} : { path: `${path}` });
};

const fdOf = (path, syscall = 'open') => {
  const fd = typeof path === 'number' ? path : FDS[`${path}`];
  if (fd === undefined) throw failure('ENOENT', syscall, path);
  if (fd > 2) throw failure('EBADF', syscall);
  return fd;
};

const encodingOf = (options) => (typeof options === 'string' ? options : options?.encoding);

const readFileSync = (path, options) => {
  if (fdOf(path) !== 0) throw failure('EBADF', 'read');
  const buffer = Buffer.from(host.read(-1));
  const encoding = encodingOf(options);
  return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
};

const writeFileSync = (path, data, options) => {
  if (typeof path !== 'number' && FDS[`${path}`] === undefined) throw failure('EACCES', 'open', path);
  host.write(fdOf(path), typeof data === 'string' ? Buffer.from(data, encodingOf(options)) : data);
};

const readSync = (fd, target, offset = 0, length = undefined) => {
  if (fdOf(fd, 'read') !== 0) throw failure('EBADF', 'read');
  const given = typeof offset === 'object' ? { offset: 0, ...offset } : { offset, length };
  const bytes = new Uint8Array(host.read(given.length ?? target.byteLength - given.offset));
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes, given.offset);
  return bytes.length;
};

const writeSync = (fd, data, offset = 0, length = undefined) => host.write(fdOf(fd, 'write'), typeof data === 'string' ? data
  : data.subarray(offset, length === undefined ? undefined : offset + length));

const stat = (syscall) => (path) => {
  fdOf(path, syscall);
  return { size: 0, isFile: () => false, isDirectory: () => false, isFIFO: () => true, isCharacterDevice: () => false };
};

const unable = (syscall) => (path) => {
  throw failure(FDS[`${path}`] === undefined ? 'ENOENT' : 'EACCES', syscall, path);
};

const sync = {
  accessSync: (path) => void fdOf(path, 'access'), appendFileSync: writeFileSync, closeSync: () => {},
  existsSync: (path) => FDS[`${path}`] !== undefined || path === '/', fstatSync: stat('fstat'), fsyncSync: () => {},
  lstatSync: stat('lstat'), mkdirSync: unable('mkdir'), openSync: (path) => fdOf(path), readFileSync, readSync,
  readdirSync: unable('scandir'), rmSync: unable('rm'), statSync: stat('stat'), unlinkSync: unable('unlink'),
  writeFileSync, writeSync,
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

const createReadStream = (path, options) => {
  if (FDS[`${path}`] === 0 || options?.fd === 0) {
    const encoding = encodingOf(options);
    return encoding ? process.stdin.setEncoding(encoding) : process.stdin;
  }
  const missing = new Readable();
  loop.later(() => missing.destroy(failure('ENOENT', 'open', path)));
  return missing;
};

const createWriteStream = (path, options) => (fdOf(options?.fd ?? path) === 2 ? process.stderr : process.stdout);

module.exports = { ...sync, ...callbacks, promises, createReadStream, createWriteStream, constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, O_RDONLY: 0 } };
