// The event loop, on the guest's own clock: a sleep takes no time, and the same program sees the
// same order of events on every machine.
(function (host, load) {
  const ticks = [];
  const broken = new Set();
  let immediates = [];
  let io = [];
  let last = 0;
  // One time for all that happens in one turn of the loop, in whole milliseconds, as in node. It
  // stays a millisecond behind the clock, so that nobody who measures a wait finds it too short.
  let now = Math.floor(host.now());

  // A heap of timers: the one that is due first, and of those the one that was set first.
  const heap = [];
  let referenced = 0;

  const before = (a, b) => a.due < b.due || (a.due === b.due && a.id < b.id);

  const swap = (i, j) => {
    [heap[i], heap[j]] = [heap[j], heap[i]];
    heap[i].at = i;
    heap[j].at = j;
  };

  const up = (at) => {
    for (let i = at; i > 0 && before(heap[i], heap[(i - 1) >> 1]); i = (i - 1) >> 1) swap(i, (i - 1) >> 1);
  };

  const down = (at) => {
    for (let i = at; ;) {
      let first = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < heap.length && before(heap[child], heap[first])) first = child;
      }
      if (first === i) return;
      swap(i, first);
      i = first;
    }
  };

  const insert = (timer) => {
    timer.id = ++last;
    timer.at = heap.length;
    heap.push(timer);
    referenced += timer.counts ? 1 : 0;
    up(timer.at);
  };

  const remove = (timer) => {
    const at = timer.at;
    if (at < 0) return;
    const moved = heap.pop();
    if (moved !== timer) {
      heap[at] = moved;
      moved.at = at;
      up(at);
      down(moved.at);
    }
    timer.at = -1;
    referenced -= timer.counts ? 1 : 0;
  };

  const known = new Map();

  class Timeout {
    #timer;

    constructor(run, delay, args, repeats) {
      const ms = Number(delay);
      const wait = ms >= 1 && ms <= 2147483647 ? Math.trunc(ms) : 1;
      this.#timer = { run, args, wait, repeats, counts: true, at: -1, due: now + wait, self: this };
      insert(this.#timer);
    }

    static stop(timeout) {
      remove(timeout.#timer);
      timeout.#timer.run = undefined;
      known.delete(timeout.#timer.key);
    }

    ref() {
      return this.#count(true);
    }

    unref() {
      return this.#count(false);
    }

    #count(counts) {
      const timer = this.#timer;
      if (timer.at >= 0) referenced += Number(counts) - Number(timer.counts);
      timer.counts = counts;
      return this;
    }

    hasRef() {
      return this.#timer.counts;
    }

    refresh() {
      const timer = this.#timer;
      remove(timer);
      timer.due = now + timer.wait;
      if (timer.run) insert(timer);
      return this;
    }

    close() {
      Timeout.stop(this);
      return this;
    }

    // A timer may be kept as a number.
    [Symbol.toPrimitive]() {
      this.#timer.key ??= this.#timer.id;
      known.set(this.#timer.key, this);
      return this.#timer.key;
    }
  }

  class Immediate {
    constructor(run, args) {
      this._run = run;
      this._args = args;
      for (const name of ['_run', '_args']) Object.defineProperty(this, name, { enumerable: false });
    }

    ref() {
      return this;
    }

    unref() {
      return this;
    }

    hasRef() {
      return true;
    }
  }

  const needFunction = (value) => {
    if (typeof value === 'function') return;
    const error = new TypeError(`The "callback" argument must be of type function. Received ${load('inspect').inspect(value)}`);
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  };

  const setTimeout = (run, delay, ...args) => {
    needFunction(run);
    return new Timeout(run, delay, args, false);
  };

  const setInterval = (run, delay, ...args) => {
    needFunction(run);
    return new Timeout(run, delay, args, true);
  };

  const setImmediate = (run, ...args) => {
    needFunction(run);
    const immediate = new Immediate(run, args);
    immediates.push(immediate);
    return immediate;
  };

  const clearTimeout = (timeout) => {
    const found = timeout instanceof Timeout ? timeout : known.get(Number(timeout));
    if (found) Timeout.stop(found);
  };

  const clearImmediate = (immediate) => {
    if (immediate instanceof Immediate) immediate._run = undefined;
  };

  const kept = Promise.resolve();
  const then = Promise.prototype.then;
  const queueMicrotask = (run) => {
    needFunction(run);
    Reflect.apply(then, kept, [() => {
      try {
        run();
      } catch (error) {
        fatal(error);
      }
    }]);
  };

  const nextTick = (run, ...args) => {
    needFunction(run);
    ticks.push([run, args]);
  };

  const refresh = () => {
    now = Math.floor(host.now());
  };

  const self = { call, exit, fatal, nextTick, refresh, run, later, setTimeout, setInterval, setImmediate,
    clearTimeout, clearInterval: clearTimeout, clearImmediate, queueMicrotask, process: undefined,
    args: [] };

  // Ends the program. The listeners of `exit` may still change the code.
  let exiting = false;
  function exit(code) {
    const process = self.process;
    if (process) {
      if (code !== undefined) process.exitCode = code;
      if (!exiting) {
        exiting = true;
        try {
          process.emit('exit', process.exitCode ?? 0);
        } catch (error) {
          fatal(error);
        }
      }
      code = process.exitCode;
    }
    host.exit(Number(code ?? 0));
  }

  function fatal(error, origin = 'uncaughtException') {
    const process = self.process;
    if (process && !exiting && process.listenerCount('uncaughtException') > 0) {
      try {
        process.emit('uncaughtException', error, origin);
        return;
      } catch (other) {
        error = other;
      }
    }
    let text;
    try {
      text = load('inspect').inspect(error);
    } catch {
      text = 'error';
    }
    host.write(2, `Uncaught ${text}\n`);
    exit(1);
  }

  host.rejections((promise, reason, handled) => {
    if (handled) broken.delete(promise);
    else broken.add(promise);
  });

  const report = () => {
    for (const promise of [...broken]) {
      broken.delete(promise);
      const [, reason] = host.promise(promise);
      const process = self.process;
      if (process && process.listenerCount('unhandledRejection') > 0) {
        process.emit('unhandledRejection', reason, promise);
      } else {
        fatal(reason, 'unhandledRejection');
      }
    }
  };

  // What must happen before anything else does: ticks first, then promises.
  const settle = () => {
    do {
      while (ticks.length > 0) {
        for (const [run, args] of ticks.splice(0)) {
          try {
            Reflect.apply(run, undefined, args);
          } catch (error) {
            fatal(error);
          }
        }
      }
      try {
        host.jobs();
      } catch (error) {
        fatal(error);
      }
      if (ticks.length === 0 && broken.size > 0) report();
    } while (ticks.length > 0);
  };

  function call(run, ...args) {
    try {
      Reflect.apply(run, undefined, args);
    } catch (error) {
      fatal(error);
    }
    settle();
  }

  // Calls back when input is looked for.
  function later(run) {
    io.push(run);
  }

  const expire = () => {
    while (heap.length > 0 && heap[0].due <= now) {
      const timer = heap[0];
      remove(timer);
      try {
        Reflect.apply(timer.run, timer.self, timer.args);
      } catch (error) {
        fatal(error);
      }
      if (timer.repeats && timer.run && timer.at < 0) {
        timer.due = now + timer.wait;
        insert(timer);
      }
      settle();
    }
  };

  const alive = () => referenced > 0 || io.length > 0 || immediates.some((one) => one._run);

  const turn = () => {
    expire();
    for (const run of io.splice(0)) call(run);
    for (const { _run: first, _args: args } of immediates.splice(0)) {
      if (first) call(first, ...args);
    }
  };

  function run() {
    // A timer of one millisecond is due before the loop first looks at anything else.
    now += 1;
    for (;;) {
      while (alive()) {
        turn();
        const idle = io.length === 0 && immediates.length === 0 && heap.length > 0 && referenced > 0;
        const wait = idle ? heap[0].due + 1 - host.now() : 0;
        if (wait > 0) host.sleep(wait);
        now = Math.max(now, idle ? heap[0].due : 0, Math.floor(host.now()) - 1);
      }
      self.process?.emit('beforeExit', self.process.exitCode ?? 0);
      settle();
      if (!alive()) return;
    }
  }

  return self;
})
