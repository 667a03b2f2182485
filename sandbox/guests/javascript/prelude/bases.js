// The words by which `inspect` shows texts, functions and errors.
(function () {
  const SHORT = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };

  const escaped = (text, mark) => text.replace(/[\x00-\x1f\x7f-\x9f\\'"`]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, (char) => {
    if (SHORT[char]) return SHORT[char];
    if (`'"\``.includes(char)) return char === mark ? `\\${char}` : char;
    const code = char.charCodeAt(0);
    return code > 0xff ? `\\u${code.toString(16).toUpperCase()}` : `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
  });

  // In single quotes, or in others where the text has single quotes and not those.
  const quote = (text) => {
    const other = !text.includes("'") ? "'"
      : !text.includes('"') ? '"' : !text.includes('`') && !text.includes('${') ? '`' : "'";
    return other + escaped(text, other) + other;
  };

  const isClass = (value) => /^class[\s{]/.test(Function.prototype.toString.call(value));

  const classBase = (value, name, tag) => {
    const own = Object.hasOwn(value, 'name') && value.name ? `${value.name}` : '';
    let base = own ? `class ${own}` : 'class (anonymous)';
    if (name !== 'Function' && name !== null) base += ` [${name}]`;
    if (tag !== '' && name !== tag) base += ` [${tag}]`;
    const parent = name === null ? null : Object.getPrototypeOf(value);
    if (name === null) base += ' extends null';
    else if (typeof parent === 'function' && parent.name) base += ` extends ${parent.name}`;
    return `[${base}]`;
  };

  const functionBase = (value, name, tag) => {
    if (isClass(value)) return classBase(value, name, tag);
    const type = ['AsyncFunction', 'GeneratorFunction', 'AsyncGeneratorFunction'].includes(tag || name) ? tag || name : 'Function';
    let base = `[${type}${name === null ? ' (null prototype)' : ''}`;
    base += value.name === '' ? ' (anonymous)]' : `: ${value.name}]`;
    if (name !== type && name !== null && name !== 'Function') base += ` ${name}`;
    return tag !== '' && tag !== name && tag !== type ? `${base} [${tag}]` : base;
  };

  const head = (error, className) => {
    let name = 'Error';
    let message = '';
    try {
      name = error.name === undefined || error.name === null ? 'Error' : `${error.name}`;
      message = error.message === undefined ? '' : `${error.message}`;
    } catch {
      return 'Error';
    }
    if (className !== null && name === 'Error' && className !== 'Error') name = className;
    return message === '' ? name : `${name}: ${message}`;
  };

  // An error is its stack, or stands in brackets where it has none. What the stack says already
  // is not said again among the properties.
  const errorBase = (ctx, error, keys, className) => {
    const stack = typeof error.stack === 'string' ? error.stack.replace(/\n$/, '') : '';
    const drop = (key) => {
      const at = keys.indexOf(key);
      if (at >= 0) keys.splice(at, 1);
    };
    for (const key of ['name', 'message', 'stack']) if (!ctx.showHidden) drop(key);
    if ('cause' in error && !keys.includes('cause')) keys.push('cause');
    if (Array.isArray(error.errors) && !keys.includes('errors')) keys.push('errors');
    const first = head(error, className);
    const hasFrames = /^\s+at /m.test(stack);
    const frames = hasFrames && stack.startsWith(first) ? stack.slice(first.length + 1) : stack;
    const text = hasFrames ? `${first}\n${frames.slice(frames.search(/^\s+at /m))}` : `[${first}]`;
    return ctx.indent > 0 ? text.replaceAll('\n', `\n${' '.repeat(ctx.indent)}`) : text;
  };

  return { errorBase, functionBase, head, isClass, quote };
})
