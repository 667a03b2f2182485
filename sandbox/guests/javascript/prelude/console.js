// `console`: values as node prints them.
const { format, inspect } = require('./inspect');
const { table } = require('./table');

let indent = '';
const counts = new Map();
const timers = new Map();

const PLAIN = new Set(['string', 'number', 'boolean', 'undefined']);

// Most lines are one text, or a few primitive values, which need no formatting.
const formatted = (args) => {
  const [first] = args;
  if (args.length === 1 && typeof first === 'string') return first;
  const isPlain = args.every((value) => PLAIN.has(typeof value) && !Object.is(value, -0));
  return isPlain && !(typeof first === 'string' && first.includes('%')) ? args.map(String).join(' ') : format(...args);
};

const line = (fd, args) => {
  const text = formatted(args);
  host.write(fd, `${indent === '' ? text : indent + text.replaceAll('\n', `\n${indent}`)}\n`);
};

const elapsed = (label) => {
  const ms = host.now() - timers.get(label);
  return `${label}: ${ms >= 1000 ? `${(ms / 1000).toFixed(3)}s` : `${Number(ms.toFixed(3))}ms`}`;
};

const console = {
  log(...args) {
    line(1, args);
  },
  warn(...args) {
    line(2, args);
  },
  dir(value, options) {
    line(1, [inspect(value, { customInspect: false, ...options })]);
  },
  time(label = 'default') {
    timers.set(`${label}`, host.now());
  },
  timeEnd(label = 'default') {
    console.timeLog(label);
    timers.delete(`${label}`);
  },
  timeLog(label = 'default', ...args) {
    if (timers.has(`${label}`)) line(1, [elapsed(`${label}`), ...args]);
  },
  trace(...args) {
    line(2, [`Trace: ${format(...args)}\n${new Error().stack.split('\n').slice(2).join('\n')}`]);
  },
  assert(holds, ...args) {
    if (holds) return;
    if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift('Assertion failed');
    line(2, args);
  },
  count(label = 'default') {
    counts.set(`${label}`, (counts.get(`${label}`) ?? 0) + 1);
    line(1, [`${label}: ${counts.get(`${label}`)}`]);
  },
  countReset(label = 'default') {
    counts.delete(`${label}`);
  },
  group(...args) {
    if (args.length > 0) line(1, args);
    indent += '  ';
  },
  groupEnd() {
    indent = indent.slice(2);
  },
  table(data, columns) {
    line(1, [table(data, columns) ?? data]);
  },
};
console.debug = console.log;
console.info = console.log;
console.dirxml = console.log;
console.error = console.warn;
console.groupCollapsed = console.group;
console.clear = () => {};
module.exports = console;
