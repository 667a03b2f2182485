// `fs`: there are no files but the standard streams.
(function (host, load) {
  const loop = load('loop');
  const FDS = { __proto__: null, '/dev/stdin': 0, '/dev/fd/0': 0, '/proc/self/fd/0': 0, '/dev/stdout': 1, '/dev/fd/1': 1, '/dev/stderr': 2, '/dev/fd/2': 2 };
  const ERRORS = { ENOENT: [-2, 'no such file or directory'], EACCES: [-13, 'permission denied'], EBADF: [-9, 'bad file descriptor'] };

  const failure = (code, syscall, path) => {
    const [errno, words] = ERRORS[code];
    const at = path === undefined ? '' : ` '${path}'`;
    const error = new Error(`${code}: ${words}, ${syscall}${at}`);
    return Object.assign(error, { errno, code, syscall }, path === undefined ? {} : { path: `${path}` });
  };

  const fdOf = (path, syscall = 'open') => {
    const fd = typeof path === 'number' ? path : FDS[`${path}`];
    if (fd === undefined) throw failure('ENOENT', syscall, path);
    if (fd > 2) throw failure('EBADF', syscall);
    return fd;
  };

  const decoded = (bytes, options) => {
    const encoding = typeof options === 'string' ? options : options?.encoding;
    if (/^utf-?8$/i.test(encoding ?? '')) return host.decode(bytes, false);
    const buffer = load('buffer').Buffer.from(bytes);
    return encoding && encoding !== 'buffer' ? buffer.toString(encoding) : buffer;
  };

  const bytesOf = (data, encoding) => (typeof data === 'string' ? load('buffer').Buffer.from(data, encoding) : data);

  const readFileSync = (path, options) => {
    if (fdOf(path) !== 0) throw failure('EBADF', 'read');
    return decoded(host.read(-1), options);
  };

  const writeFileSync = (path, data, options) => {
    const fd = typeof path === 'number' || FDS[`${path}`] !== undefined ? fdOf(path) : undefined;
    if (fd === undefined) throw failure('EACCES', 'open', path);
    host.write(fd, bytesOf(data, typeof options === 'string' ? options : options?.encoding));
  };

  const readSync = (fd, target, offset = 0, length = undefined) => {
    if (fdOf(fd, 'read') !== 0) throw failure('EBADF', 'read');
    const at = typeof offset === 'object' ? offset?.offset ?? 0 : offset;
    const count = (typeof offset === 'object' ? offset?.length : length) ?? target.byteLength - at;
    const bytes = new Uint8Array(host.read(count));
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes, at);
    return bytes.length;
  };

  const writeSync = (fd, data, offset, length) => {
    const view = typeof data === 'string' ? data : data.subarray(offset ?? 0, length === undefined ? undefined : (offset ?? 0) + length);
    return host.write(fdOf(fd, 'write'), view);
  };

  const stat = (path, syscall) => {
    fdOf(path, syscall);
    return { size: 0, isFile: () => false, isDirectory: () => false, isFIFO: () => true, isCharacterDevice: () => false };
  };

  const unable = (syscall) => (path) => {
    throw failure(FDS[`${path}`] === undefined ? 'ENOENT' : 'EACCES', syscall, path);
  };

  const sync = {
    accessSync: (path) => void fdOf(path, 'access'),
    appendFileSync: writeFileSync,
    closeSync: () => {},
    existsSync: (path) => FDS[`${path}`] !== undefined || path === '/',
    fstatSync: (fd) => stat(fd, 'fstat'),
    fsyncSync: () => {},
    lstatSync: (path) => stat(path, 'lstat'),
    mkdirSync: unable('mkdir'),
    openSync: (path) => fdOf(path),
    readFileSync,
    readSync,
    readdirSync: unable('scandir'),
    rmSync: unable('rm'),
    statSync: (path) => stat(path, 'stat'),
    unlinkSync: unable('unlink'),
    writeFileSync,
    writeSync,
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
      const input = load('process').stdin;
      const encoding = typeof options === 'string' ? options : options?.encoding;
      return encoding ? input.setEncoding(encoding) : input;
    }
    const { Readable } = load('stream');
    const missing = new Readable();
    loop.later(() => missing.destroy(failure('ENOENT', 'open', path)));
    return missing;
  };

  const createWriteStream = (path, options) => {
    const { stdout, stderr } = load('process');
    return fdOf(options?.fd ?? path) === 2 ? stderr : stdout;
  };

  return { ...sync, ...callbacks, promises, createReadStream, createWriteStream, constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, O_RDONLY: 0 } };
})
