// `util.inspect`: a value as node shows it.
(function (host, load) {
  const { join } = load('layout');
  const { quote, functionBase, errorBase } = load('bases');
  const custom = Symbol.for('nodejs.util.inspect.custom');
  const DEFAULTS = {
    showHidden: false, depth: 2, colors: false, customInspect: true, showProxy: false,
    maxArrayLength: 100, maxStringLength: 10000, breakLength: 80, compact: 3, sorted: false,
    getters: false, numericSeparator: false,
  };
  const getterOf = (prototype, name) => Object.getOwnPropertyDescriptor(prototype, name).get;
  const typedTag = getterOf(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);

  const number = (value) => (Object.is(value, -0) ? '-0' : `${value}`);

  const primitive = (ctx, value) => {
    switch (typeof value) {
      case 'string': return string(ctx, value);
      case 'number': return number(value);
      case 'bigint': return `${value}n`;
      case 'symbol': return Symbol.prototype.toString.call(value);
      default: return `${value}`;
    }
  };

  // Long texts of several lines are shown line by line.
  const string = (ctx, value) => {
    const more = value.length - ctx.maxStringLength;
    const rest = more > 0 ? `... ${more} more character${more > 1 ? 's' : ''}` : '';
    const text = more > 0 ? value.slice(0, ctx.maxStringLength) : value;
    const splits = text.length > 16 && text.length > ctx.breakLength - ctx.indent - 4;
    if (!splits) return quote(text) + rest;
    return text.split(/(?<=\n)/).map(quote).join(` +\n${' '.repeat(ctx.indent + 2)}`) + rest;
  };

  // The class of an object, by the first prototype that says; null where none does.
  const className = (value) => {
    for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
      const made = Object.getOwnPropertyDescriptor(at, 'constructor');
      if (typeof made?.value !== 'function' || made.value.name === '') continue;
      const { prototype } = made.value;
      const is = prototype !== null && prototype !== undefined && Object.prototype.isPrototypeOf.call(prototype, value);
      if (is) return `${made.value.name}`;
    }
    return null;
  };

  const prefix = (name, tag, fallback, size = '') => {
    const base = name === null ? `[${fallback}${size}: null prototype] ` : `${name}${size} `;
    return tag !== '' && name !== tag ? `${base}[${tag}] ` : base;
  };

  const keysOf = (ctx, value) => {
    if (ctx.showHidden) return Reflect.ownKeys(value);
    const shown = (key) => Object.prototype.propertyIsEnumerable.call(value, key);
    return [...Object.keys(value), ...Object.getOwnPropertySymbols(value).filter(shown)];
  };

  const isIndex = (key) => typeof key === 'string' && /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 4294967295;

  const indented = (ctx, by, make) => {
    ctx.indent += by;
    const text = make();
    ctx.indent -= by;
    return text;
  };

  const more = (count) => `... ${count} more item${count > 1 ? 's' : ''}`;

  const limited = (ctx, total, entries) => {
    if (total > entries.length) entries.push(more(total - entries.length));
    return entries;
  };

  const arrayEntries = (ctx, value, level) => {
    const entries = [];
    let at = 0;
    for (; at < value.length && entries.length < ctx.maxArrayLength; at++) {
      if (Object.hasOwn(value, at)) {
        entries.push(property(ctx, value, level, at, 'element'));
        continue;
      }
      const from = at;
      while (at + 1 < value.length && !Object.hasOwn(value, at + 1)) at++;
      entries.push(`<${at + 1 - from} empty item${at > from ? 's' : ''}>`);
    }
    if (at < value.length) entries.push(more(value.length - at));
    return entries;
  };

  const typedEntries = (ctx, value, level) => {
    const shown = Math.min(value.length, ctx.maxArrayLength);
    const entries = [];
    for (let at = 0; at < shown; at++) entries.push(primitive(ctx, value[at]));
    return limited(ctx, value.length, entries);
  };

  const items = (ctx, values, level) => indented(ctx, 2, () => limited(ctx, values.length,
    values.slice(0, ctx.maxArrayLength).map((one) => format(ctx, one, level))));

  const setEntries = (ctx, value, level) => items(ctx, [...Set.prototype.values.call(value)], level);

  const mapEntries = (ctx, value, level) => indented(ctx, 2, () => {
    const all = [...Map.prototype.entries.call(value)];
    return limited(ctx, all.length, all.slice(0, ctx.maxArrayLength)
      .map(([key, held]) => `${format(ctx, key, level)} => ${format(ctx, held, level)}`));
  });

  const iteratorEntries = (ctx, value, level) => {
    const left = host.remaining(value);
    if (!host.pairs(value)) return items(ctx, left, level);
    const entries = [];
    for (let at = 0; at < left.length; at += 2) {
      const pair = indented(ctx, 2, () => [format(ctx, left[at], level), format(ctx, left[at + 1], level)]);
      entries.push(join(ctx, pair, '', ['[', ']'], true, level));
    }
    return entries;
  };

  const promiseEntries = (ctx, value, level) => {
    const [state, result] = host.promise(value);
    if (state === 0) return ['<pending>'];
    const text = indented(ctx, 2, () => format(ctx, result, level));
    return [state === 1 ? text : `<rejected> ${text}`];
  };

  const bufferEntries = (ctx, value) => {
    const bytes = new Uint8Array(value);
    const shown = Math.min(ctx.maxArrayLength, bytes.length);
    let hex = Array.from(bytes.subarray(0, shown), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
    if (bytes.length > shown) hex += ` ... ${bytes.length - shown} more byte${bytes.length - shown > 1 ? 's' : ''}`;
    return [`[Uint8Contents]: <${hex}>`, `byteLength: ${bytes.length}`];
  };

  const BOXED = { Number: Number.prototype, String: String.prototype, Boolean: Boolean.prototype,
    BigInt: BigInt.prototype, Symbol: Symbol.prototype };

  const boxed = (ctx, value, kind, name, tag) => {
    const held = BOXED[kind].valueOf.call(value);
    let type = kind;
    if (name !== kind) type += name === null ? ' (null prototype)' : ` (${name})`;
    const text = `[${type}: ${primitive({ ...ctx, breakLength: Infinity }, held)}]`;
    return tag !== '' && tag !== name ? `${text} [${tag}]` : text;
  };

  const none = () => [];

  // What is shown of a value besides its own properties: a base before the braces, the braces,
  // and entries. `whole` values are nothing but their base where they have no properties.
  const shape = (ctx, value, keys, name, tag) => {
    const kind = host.kind(value);
    const sized = (fallback, size) => prefix(name, tag, fallback, `(${size})`);
    const braces = (head) => [`${head}{`, '}'];
    const whole = (base) => ({ base, whole: true, braces: braces(''), entries: none });
    if (Array.isArray(value)) {
      const head = name !== 'Array' || tag !== '' ? sized('Array', value.length) : '';
      return { list: true, braces: [`${head}[`, ']'], entries: arrayEntries };
    }
    const typed = ArrayBuffer.isView(value) ? typedTag.call(value) : undefined;
    if (typed !== undefined) {
      return { list: true, braces: [`${sized(typed, value.length)}[`, ']'], entries: typedEntries };
    }
    const plain = (head, entries) => ({ braces: braces(head), entries });
    switch (kind) {
      case 'Set': return plain(sized('Set', value.size), setEntries);
      case 'Map': return plain(sized('Map', value.size), mapEntries);
      case 'Map Iterator':
      case 'Set Iterator': {
        const what = host.pairs(value) ? kind.replace('Iterator', 'Entries') : kind;
        return { braces: braces(`[${what}] `), entries: iteratorEntries, full: true };
      }
      case 'Arguments': return plain('[Arguments] ', none);
      case 'RegExp': {
        const text = RegExp.prototype.toString.call(value);
        const head = prefix(name, tag, 'RegExp');
        return whole(head === 'RegExp ' ? text : head + text);
      }
      case 'Date': {
        const time = Date.prototype.getTime.call(value);
        const text = Number.isNaN(time) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
        const head = prefix(name, tag, 'Date');
        return whole(head === 'Date ' ? text : head + text);
      }
      case 'Promise': return plain(prefix(name, tag, 'Promise'), promiseEntries);
      case 'WeakSet':
      case 'WeakMap': return plain(prefix(name, tag, kind), () => ['<items unknown>']);
      case 'WeakRef': return plain(prefix(name, tag, kind), (...at) => items(at[0], [WeakRef.prototype.deref.call(value)], at[2]));
      case 'ArrayBuffer':
      case 'SharedArrayBuffer': return plain(prefix(name, tag, kind), bufferEntries);
      case 'DataView': return plain(prefix(name, tag, kind), (inner, view, level) =>
        ['byteLength', 'byteOffset', 'buffer'].map((key) => `${key}: ${indented(inner, 2, () => format(inner, view[key], level))}`));
      case 'Module': return plain(prefix(null, '', 'Module').replace(/^.*$/, '[Module: null prototype] '), none);
      case 'Generator':
      case 'AsyncGenerator': return plain(`Object [${kind}] `, none);
      case 'Number': case 'String': case 'Boolean': case 'BigInt': case 'Symbol':
        return whole(boxed(ctx, value, kind, name, tag));
      default:
    }
    if (kind === 'Error' || value instanceof Error) return whole(errorBase(ctx, value, keys, name, tag));
    if (typeof value === 'function') return whole(functionBase(value, name, tag));
    if (name === 'Object') return plain(tag !== '' ? prefix(name, tag, 'Object') : '', none);
    return plain(prefix(name, tag, 'Object'), none);
  };

  const tagOf = (value, name) => {
    const tag = value[Symbol.toStringTag];
    return typeof tag === 'string' && tag !== '' && tag !== name ? tag : '';
  };

  const ownKeys = (ctx, value) => {
    const keys = keysOf(ctx, value);
    const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView)) ||
      host.kind(value) === 'String';
    return isList ? keys.filter((key) => !isIndex(key) && (key !== 'length' || ctx.showHidden)) : keys;
  };

  const raw = (ctx, value, level) => {
    const name = className(value);
    const tag = tagOf(value, name);
    const keys = ownKeys(ctx, value);
    const { base = '', whole = false, full = false, list = false, braces, entries } = shape(ctx, value, keys, name, tag);
    const empty = whole ? keys.length === 0
      : keys.length === 0 && !full && (entries === none || (list && value.length === 0) || value.size === 0);
    if (empty) return whole ? base : braces[0] + braces[1];
    if (level > ctx.depth && ctx.depth !== null) {
      const shown = prefix(name, tag, Array.isArray(value) ? 'Array' : 'Object').slice(0, -1);
      return list && Array.isArray(value) && name !== null ? `[${name}]` : `[${shown}]`.replace(/^\[\[(.*)\]\]$/, '[$1]');
    }
    ctx.seen.push(value);
    ctx.deepest = level;
    const shown = entries(ctx, value, level + 1);
    for (const key of keys) shown.push(property(ctx, value, level + 1, key, list ? 'extra' : 'own'));
    ctx.seen.pop();
    const at = ctx.circular?.get(value);
    let head = base;
    if (at !== undefined) {
      const mark = `<ref *${at}>`;
      if (ctx.compact === true || base !== '') head = base === '' ? mark : `${mark} ${base}`;
      else braces[0] = `${mark} ${braces[0]}`;
    }
    if (ctx.sorted) shown.sort(ctx.sorted === true ? undefined : ctx.sorted);
    return join(ctx, shown, head, braces, list, level, list ? value : undefined);
  };

  const named = (descriptor, key) => {
    if (typeof key === 'symbol') return `[${Symbol.prototype.toString.call(key)}]`;
    if (key === '__proto__') return "['__proto__']";
    if (descriptor.enumerable === false) return `[${key}]`;
    return /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quote(key);
  };

  const accessor = (ctx, value, descriptor, key, level) => {
    if (descriptor.get === undefined) return descriptor.set ? '[Setter]' : 'undefined';
    const label = descriptor.set ? 'Getter/Setter' : 'Getter';
    if (!ctx.getters) return `[${label}]`;
    const held = descriptor.get.call(value);
    return typeof held === 'object' && held !== null ? `[${label}] ${format(ctx, held, level)}` : `[${label}: ${primitive(ctx, held)}]`;
  };

  const property = (ctx, value, level, key, type) => {
    const descriptor = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], configurable: true, enumerable: true };
    const held = () => ('value' in descriptor ? format(ctx, descriptor.value, level) : accessor(ctx, value, descriptor, key, level));
    const text = indented(ctx, ctx.compact === true || type !== 'own' ? 2 : 3 - 1, held);
    return type === 'element' ? text : `${named(descriptor, key)}: ${text}`;
  };

  const customized = (ctx, value, level) => {
    const inspector = value[custom];
    if (typeof inspector !== 'function' || inspector === inspect) return undefined;
    const depth = ctx.depth === null ? null : ctx.depth - level;
    const options = { ...ctx.options, depth, stylize: (text) => `${text}` };
    const shown = inspector.call(value, depth, options, inspect);
    if (shown === value) return undefined;
    return typeof shown === 'object' && shown !== null ? format(ctx, shown, level)
      : typeof shown === 'string' ? shown.replaceAll('\n', `\n${' '.repeat(ctx.indent)}`) : primitive(ctx, shown);
  };

  const format = (ctx, value, level) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return primitive(ctx, value);
    const target = host.target(value);
    if (target !== undefined) return format(ctx, target, level);
    const own = ctx.customInspect ? customized(ctx, value, level) : undefined;
    if (own !== undefined) return own;
    if (!ctx.seen.includes(value)) return raw(ctx, value, level);
    ctx.circular ??= new Map();
    if (!ctx.circular.has(value)) ctx.circular.set(value, ctx.circular.size + 1);
    return `[Circular *${ctx.circular.get(value)}]`;
  };

  const inspect = (value, given, ...old) => {
    const options = typeof given === 'object' && given !== null ? given
      : { ...(given !== undefined && { showHidden: given }), ...(old[0] !== undefined && { depth: old[0] }) };
    const settings = { ...DEFAULTS, ...options };
    if (settings.compact === false) settings.compact = 0;
    if (settings.maxArrayLength === null) settings.maxArrayLength = Infinity;
    if (settings.maxStringLength === null) settings.maxStringLength = Infinity;
    if (settings.depth === undefined) settings.depth = 2;
    return format({ ...settings, options: settings, indent: 0, deepest: 0, seen: [], circular: undefined }, value, 0);
  };
  inspect.custom = custom;
  inspect.defaultOptions = DEFAULTS;

  return { inspect, number };
})
