// `process`.
const EventEmitter = require('./events');
const loop = require('./loop');

const nanoseconds = () => BigInt(Math.round(host.now() * 1e6));
const hrtime = ([seconds, ns] = [0, 0]) => {
  const passed = nanoseconds() - BigInt(seconds) * 1000000000n - BigInt(ns);
  return [Number(passed / 1000000000n), Number(passed % 1000000000n)];
};
hrtime.bigint = nanoseconds;

class process extends EventEmitter {}
Object.defineProperty(process.prototype, Symbol.toStringTag, { value: 'process', configurable: true });
// Streams need `process`, which has them.
module.exports = Object.assign(new process(), {
  title: 'node', version: 'v22.0.0', versions: { node: '22.0.0', v8: '12.4.254.14' }, arch: 'x64', platform: 'linux',
  release: { name: 'node' }, argv: ['/usr/local/bin/node', '/main.js'], argv0: 'node', execArgv: [],
  execPath: '/usr/local/bin/node', env: {}, pid: 1, ppid: 0, exitCode: undefined, features: {}, config: {},
  abort: () => loop.exit(134), chdir: () => {}, cpuUsage: () => ({ user: Math.round(host.now() * 1e3), system: 0 }),
  cwd: () => '/', emitWarning: (warning) => host.write(2, `Warning: ${warning?.message ?? warning}\n`), exit: loop.exit,
  hrtime, kill: () => true, nextTick: loop.nextTick, umask: () => 18, uptime: () => host.now() / 1000,
  memoryUsage: Object.assign(() => ({ rss: 5e7, heapTotal: 2e7, heapUsed: 1e7, external: 1e6, arrayBuffers: 1e4 }), { rss: () => 5e7 }),
});
const { Readable, Writable } = require('readable-stream');
const { Buffer } = require('./buffer');

class Input extends Readable {
  fd = 0;

  // Gives one chunk a turn, so that what a program does between chunks comes between them.
  _read(count) {
    loop.later(() => {
      const bytes = host.read(Math.max(count, 65536));
      this.push(bytes.byteLength === 0 ? null : Buffer.from(bytes));
    });
  }
}

// Written at once, as node writes to files.
class Output extends Writable {
  constructor(fd) {
    super({ decodeStrings: false });
    this.fd = fd;
    this._type = 'pipe';
  }

  write(chunk, encoding, done) {
    const after = typeof encoding === 'function' ? encoding : done;
    if (typeof chunk !== 'string' && !ArrayBuffer.isView(chunk)) {
      const shown = require('./inspect').inspect(chunk);
      throw Object.assign(new TypeError(`The "chunk" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${shown}`), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    const coded = typeof chunk === 'string' && typeof encoding === 'string' && !/^utf-?8$/i.test(encoding);
    host.write(this.fd, coded ? Buffer.from(chunk, encoding) : chunk);
    if (typeof after === 'function') loop.nextTick(after);
    return true;
  }

  _write(chunk, encoding, done) {
    this.write(chunk, encoding, done);
  }
}

Object.assign(Output.prototype, { hasColors: () => false, getColorDepth: () => 1 });
const returned = (stream) => Object.assign(stream, { ref: () => stream, unref: () => stream });
Object.assign(module.exports, { stdin: returned(new Input()), stdout: new Output(1), stderr: new Output(2) });
loop.attach(module.exports);
