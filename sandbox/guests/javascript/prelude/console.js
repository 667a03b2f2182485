// `console`: values as node prints them.
(function (host, load) {
  let indent = '';
  const counts = new Map();
  const timers = new Map();

  // One text needs no formatting, and most lines are one.
  const line = (fd, args) => {
    const [first] = args;
    let text = args.length === 1 && typeof first === 'string' ? first : load('format').format(...args);
    if (indent !== '') text = indent + text.replaceAll('\n', `\n${indent}`);
    host.write(fd, `${text}\n`);
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
      line(1, [load('inspect').inspect(value, { customInspect: false, ...options })]);
    },
    time(label = 'default') {
      timers.set(`${label}`, host.now());
    },
    timeEnd(label = 'default') {
      if (timers.has(`${label}`)) line(1, [elapsed(`${label}`)]);
      timers.delete(`${label}`);
    },
    timeLog(label = 'default', ...args) {
      if (timers.has(`${label}`)) line(1, [elapsed(`${label}`), ...args]);
    },
    trace(...args) {
      const stack = new Error().stack.split('\n').slice(1).join('\n');
      line(2, [`Trace: ${load('format').format(...args)}\n${stack}`]);
    },
    assert(holds, ...args) {
      if (holds) return;
      if (typeof args[0] === 'string') args[0] = `Assertion failed: ${args[0]}`;
      else args.unshift('Assertion failed');
      line(2, args);
    },
    clear() {},
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
      line(1, [load('table').table(data, columns) ?? data]);
    },
  };
  console.debug = console.log;
  console.info = console.log;
  console.dirxml = console.log;
  console.error = console.warn;
  console.groupCollapsed = console.group;
  return console;
})
