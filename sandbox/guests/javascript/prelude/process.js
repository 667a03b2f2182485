// `process`.
(function (host, load) {
  const EventEmitter = load('events');
  const loop = load('loop');
  const { Readable, Writable } = load('stream');

  class Input extends Readable {
    fd = 0;

    _read(count) {
      const bytes = host.read(count);
      this.push(bytes.byteLength === 0 ? null : load('buffer').Buffer.from(bytes));
    }
  }

  // Written at once, as node writes to files.
  class Sink extends Writable {
    constructor(fd) {
      super();
      this.fd = fd;
      this._type = 'pipe';
    }

    write(chunk, encoding, done) {
      const after = typeof encoding === 'function' ? encoding : done;
      if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) {
        const error = new TypeError(`The "chunk" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${load('inspect').inspect(chunk)}`);
        throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
      }
      const coded = typeof chunk === 'string' && typeof encoding === 'string' && !/^utf-?8$/i.test(encoding);
      host.write(this.fd, coded ? load('buffer').Buffer.from(chunk, encoding) : chunk);
      if (typeof after === 'function') loop.nextTick(after);
      return true;
    }

    getColorDepth() {
      return 1;
    }

    hasColors() {
      return false;
    }
  }

  class Process extends EventEmitter {
    title = 'node';
    version = 'v22.0.0';
    versions = { node: '22.0.0', v8: '12.4.254.14' };
    arch = 'x64';
    platform = 'linux';
    release = { name: 'node' };
    argv = ['/usr/local/bin/node', '/main.js', ...loop.args];
    argv0 = 'node';
    execArgv = [];
    execPath = '/usr/local/bin/node';
    env = {};
    pid = 1;
    ppid = 0;
    exitCode = undefined;
    features = {};
    config = {};
  }

  const process = new Process();
  const hrtime = (since) => {
    const ns = BigInt(Math.round(host.now() * 1e6)) - (since ? BigInt(since[0]) * 1000000000n + BigInt(since[1]) : 0n);
    return [Number(ns / 1000000000n), Number(ns % 1000000000n)];
  };
  hrtime.bigint = () => BigInt(Math.round(host.now() * 1e6));

  const methods = {
    abort: () => loop.exit(134),
    chdir: () => {},
    cpuUsage: () => ({ user: Math.round(host.now() * 1e3), system: 0 }),
    cwd: () => '/',
    emitWarning: (warning) => host.write(2, `Warning: ${warning?.message ?? warning}\n`),
    exit: (code) => loop.exit(code),
    hrtime,
    kill: () => true,
    memoryUsage: Object.assign(() => ({ rss: 5e7, heapTotal: 2e7, heapUsed: 1e7, external: 1e6, arrayBuffers: 1e4 }), { rss: () => 5e7 }),
    nextTick: loop.nextTick,
    umask: () => 18,
    uptime: () => host.now() / 1000,
  };
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(Process.prototype, name, { value, writable: true, configurable: true, enumerable: false });
  }

  // Standard streams are made when they are first used.
  for (const [name, make] of [['stdin', () => new Input()], ['stdout', () => new Sink(1)], ['stderr', () => new Sink(2)]]) {
    let stream;
    Object.defineProperty(process, name, { get: () => (stream ??= make()), configurable: true, enumerable: true });
  }
  Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true });
  Object.defineProperty(Process, 'name', { value: 'process' });
  loop.process = process;
  return process;
})
