// `os`, `timers` and what programs ask of `worker_threads`: one machine, one thread, no files.
const loop = require('./loop');

const NAMES = { arch: 'x64', endianness: 'LE', homedir: '/', hostname: 'localhost', platform: 'linux', release: '6.0.0', tmpdir: '/tmp', type: 'Linux', version: '' };
const os = Object.fromEntries(Object.entries(NAMES).map(([name, value]) => [name, () => value]));
Object.assign(os, { EOL: '\n', cpus: () => [], freemem: () => 2 ** 28, totalmem: () => 2 ** 29, loadavg: () => [0, 0, 0],
  networkInterfaces: () => ({}), uptime: () => 0, userInfo: () => ({ username: 'user', homedir: '/' }), constants: { signals: {} } });

const threads = { isMainThread: true, parentPort: null, workerData: null, threadId: 0, Worker: class Worker {
  constructor() {
    throw new Error('threads are not available');
  }
} };

const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = loop;
const promises = {
  setTimeout: (ms, value) => new Promise((resolve) => {
    setTimeout(resolve, ms, value);
  }),
  setImmediate: (value) => new Promise((resolve) => {
    setImmediate(resolve, value);
  }),
  async *setInterval(ms, value) {
    for (;;) yield promises.setTimeout(ms, value);
  },
};

module.exports = { os, threads, timers: { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises } };
