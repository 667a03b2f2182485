// The event loop, on the guest's own clock: a sleep takes no time, and the same program sees the
// same order of events on every machine.
const { default: Queue } = require('tinyqueue');

const ticks = [];
const rejections = new Set();
const immediates = new Map();
const io = [];
let last = 0;
let referenced = 0;
let exiting = false;
// Set by `process`, which needs the loop.
let process;
// One time for all that happens in one turn of the loop, in whole milliseconds, as in node. It
// stays a millisecond behind the clock, so that nobody who measures a wait finds it too short.
let now = 0;

// What is due: the timer that is due first, and of those the one that was set first. An entry whose
// timer has another by now, or none, is passed over.
let queue = new Queue([], (a, b) => a.due - b.due || a.id - b.id);
const known = new Map();

const first = () => {
  while (queue.length > 0 && queue.peek().timer.entry !== queue.peek()) queue.pop();
  return queue.peek();
};

const remove = (timer) => {
  if (timer.entry && timer.counts) referenced -= 1;
  timer.entry = undefined;
};

const insert = (timer) => {
  remove(timer);
  timer.entry = { timer, due: now + timer.wait, id: ++last };
  queue.push(timer.entry);
  if (timer.counts) referenced += 1;
  if (last % 65536 === 0) queue = new Queue(queue.data.filter((entry) => entry.timer.entry === entry), queue.compare);
};

class Timeout {
  #timer;

  constructor(run, delay, args, repeats) {
    const ms = Number(delay);
    const wait = ms >= 1 && ms <= 2147483647 ? Math.trunc(ms) : 1;
    this.#timer = { run, args, wait, repeats, counts: true, entry: undefined, self: this };
    insert(this.#timer);
  }

  ref() {
    return this.#count(true);
  }

  unref() {
    return this.#count(false);
  }

  #count(counts) {
    const timer = this.#timer;
    if (timer.entry) referenced += Number(counts) - Number(timer.counts);
    timer.counts = counts;
    return this;
  }

  hasRef() {
    return this.#timer.counts;
  }

  refresh() {
    if (this.#timer.run) insert(this.#timer);
    return this;
  }

  close() {
    remove(this.#timer);
    this.#timer.run = undefined;
    known.delete(this.#timer.key);
    return this;
  }

  // A timer may be kept as a number.
  [Symbol.toPrimitive]() {
    this.#timer.key ??= ++last;
    known.set(this.#timer.key, this);
    return this.#timer.key;
  }
}

class Immediate {
  ref() {
    return this;
  }

  unref() {
    return this;
  }
}

const needFunction = (value) => {
  if (typeof value === 'function') return;
  const shown = require('./inspect').inspect(value);
  throw Object.assign(new TypeError(`The "callback" argument must be of type function. Received ${shown}`), { code: 'ERR_INVALID_ARG_TYPE' });
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
  const immediate = new Immediate();
  immediates.set(immediate, () => run(...args));
  return immediate;
};

const clearTimeout = (timeout) => {
  (timeout instanceof Timeout ? timeout : known.get(Number(timeout)))?.close();
};

const clearImmediate = (immediate) => void immediates.delete(immediate);

// Runs what belongs to the program, which may throw.
const guarded = (run, self, args) => {
  try {
    Reflect.apply(run, self, args);
  } catch (error) {
    fatal(error);
  }
};

const fulfilled = Promise.resolve();
const { then } = Promise.prototype;
const queueMicrotask = (run) => {
  needFunction(run);
  Reflect.apply(then, fulfilled, [() => guarded(run, undefined, [])]);
};

const nextTick = (run, ...args) => {
  needFunction(run);
  ticks.push([run, args]);
};

// Ends the program. The listeners of `exit` may still change the code.
function exit(code) {
  if (code !== undefined) process.exitCode = code;
  if (!exiting) {
    exiting = true;
    guarded(process.emit, process, ['exit', process.exitCode ?? 0]);
  }
  host.exit(Number(process.exitCode ?? 0));
}

function fatal(error, origin = 'uncaughtException') {
  if (!exiting && process.listenerCount('uncaughtException') > 0) {
    try {
      process.emit('uncaughtException', error, origin);
      return;
    } catch (other) {
      error = other;
    }
  }
  let text = 'error';
  try {
    text = require('./inspect').inspect(error);
  } catch {}
  host.write(2, `Uncaught ${text}\n`);
  exit(1);
}

host.rejections((promise, reason, handled) => {
  if (handled) rejections.delete(promise);
  else rejections.add(promise);
});

const report = () => {
  for (const promise of [...rejections]) {
    rejections.delete(promise);
    const [, reason] = host.promise(promise);
    if (process.listenerCount('unhandledRejection') > 0) process.emit('unhandledRejection', reason, promise);
    else fatal(reason, 'unhandledRejection');
  }
};

// What must happen before anything else does: ticks first, then promises.
const settle = () => {
  do {
    while (ticks.length > 0) for (const [run, args] of ticks.splice(0)) guarded(run, undefined, args);
    guarded(host.jobs, undefined, []);
    if (ticks.length === 0 && rejections.size > 0) report();
  } while (ticks.length > 0);
};

const call = (run) => {
  guarded(run, undefined, []);
  settle();
};

// Calls back when input is looked for.
const later = (run) => {
  io.push(run);
};

const expire = () => {
  for (let entry = first(); entry && entry.due <= now; entry = first()) {
    const { timer } = queue.pop();
    remove(timer);
    guarded(timer.run, timer.self, timer.args);
    if (timer.repeats && timer.run && !timer.entry) insert(timer);
    settle();
  }
};

const alive = () => referenced > 0 || io.length > 0 || immediates.size > 0;

const turn = () => {
  expire();
  for (const run of io.splice(0)) call(run);
  for (const immediate of [...immediates.keys()]) {
    const run = immediates.get(immediate);
    immediates.delete(immediate);
    if (run) call(run);
  }
};

const run = (start) => {
  now = Math.floor(host.now());
  call(start);
  // A timer of one millisecond is due before the loop first looks at anything else.
  now += 1;
  do {
    while (alive()) {
      turn();
      const due = io.length === 0 && immediates.size === 0 && referenced > 0 ? first().due : 0;
      const wait = due === 0 ? 0 : due + 1 - host.now();
      if (wait > 0) host.sleep(wait);
      now = Math.max(now, due, Math.floor(host.now()) - 1);
    }
    process.emit('beforeExit', process.exitCode ?? 0);
    settle();
  } while (alive());
};

module.exports = { attach: (it) => { process = it; }, exit, later, nextTick, queueMicrotask, run, setTimeout, setInterval, setImmediate,
  clearTimeout, clearInterval: clearTimeout, clearImmediate };
