// `util.format`: the text of what `console.log` is given.
(function (host, load) {
  const { inspect, number } = load('inspect');

  const hasOwnText = (value) => {
    if (typeof value.toString !== 'function') return false;
    for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
      if (!Object.hasOwn(at, 'toString')) continue;
      return ![Object.prototype, Array.prototype, Error.prototype, Function.prototype].includes(at)
        && !/\[native code\]/.test(Function.prototype.toString.call(at.toString)) || at === Date.prototype;
    }
    return false;
  };

  const text = (value) => {
    switch (typeof value) {
      case 'number': return number(value);
      case 'bigint': return `${value}n`;
      case 'object':
        if (value === null) return 'null';
        if (value instanceof Error && !hasOwnText(value)) return inspect(value, { depth: 0 });
        return hasOwnText(value) ? String(value) : inspect(value, { depth: 0, colors: false, compact: 3 });
      default: return String(value);
    }
  };

  const numeric = (value, parse) => {
    if (typeof value === 'bigint') return `${value}n`;
    return typeof value === 'symbol' ? 'NaN' : number(parse(value));
  };

  const json = (value) => {
    try {
      return JSON.stringify(value);
    } catch (error) {
      if (/circular/i.test(`${error?.message}`)) return '[Circular]';
      throw error;
    }
  };

  const DIRECTIVES = {
    s: text,
    d: (value) => (typeof value === 'object' && value !== null ? number(Number(value)) : numeric(value, Number)),
    i: (value) => (typeof value === 'object' ? 'NaN' : numeric(value, Number.parseInt)),
    f: (value) => (typeof value === 'symbol' ? 'NaN' : number(Number.parseFloat(value))),
    j: json,
    o: (value) => inspect(value, { showHidden: true, showProxy: true, depth: 4 }),
    O: (value) => inspect(value),
    c: () => '',
  };

  const format = (...args) => {
    const [first] = args;
    if (args.length === 1) return typeof first === 'string' ? first : inspect(first);
    let used = 0;
    let start = '';
    if (typeof first === 'string') {
      used = 1;
      start = first.replace(/%([sdifjoOc%])/g, (whole, directive) => {
        if (directive === '%') return '%';
        return used < args.length ? DIRECTIVES[directive](args[used++]) : whole;
      });
    }
    const rest = args.slice(used).map((one) => (typeof one === 'string' ? one : inspect(one)));
    return typeof first === 'string' ? [start, ...rest].join(' ') : rest.join(' ');
  };

  return { format };
})
