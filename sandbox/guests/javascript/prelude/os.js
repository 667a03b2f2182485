// `os`, and what programs ask of `tty` and `worker_threads`: one machine, one thread, no terminal.
(function () {
  const NAMES = { arch: 'x64', endianness: 'LE', homedir: '/', hostname: 'localhost', platform: 'linux', release: '6.0.0', tmpdir: '/tmp', type: 'Linux', version: '' };
  const os = {};
  for (const [name, value] of Object.entries(NAMES)) os[name] = () => value;
  const threads = { isMainThread: true, parentPort: null, workerData: null, threadId: 0, Worker: class Worker {
    constructor() {
      throw new Error('threads are not available');
    }
  } };
  return { ...os, EOL: '\n', cpus: () => [], freemem: () => 2 ** 28, totalmem: () => 2 ** 29, loadavg: () => [0, 0, 0], networkInterfaces: () => ({}), uptime: () => 0, userInfo: () => ({ username: 'user', homedir: '/' }), constants: { signals: {} }, isatty: () => false, threads };
})
