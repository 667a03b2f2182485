// The tables of `console.table`.
(function (host, load) {
  const { inspect } = load('inspect');
  const { width } = load('layout');

  const cell = (value) => inspect(value, {
    maxArrayLength: 3,
    breakLength: Infinity,
    depth: typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0,
  });

  const padded = (text, room) => ` ${text}${' '.repeat(room - width(text) - 1)}`;

  const draw = (head, rows) => {
    const rooms = head.map((name, at) => Math.max(width(name), ...rows.map((row) => width(row[at] ?? ''))) + 2);
    const rule = (left, middle, right) => left + rooms.map((room) => '─'.repeat(room)).join(middle) + right;
    const line = (row) => `│${rooms.map((room, at) => padded(row[at] ?? '', room)).join('│')}│`;
    return [rule('┌', '┬', '┐'), line(head), rule('├', '┼', '┤'), ...rows.map(line), rule('└', '┴', '┘')].join('\n');
  };

  // The rows of a collection: what names each row, and what it holds.
  const entries = (data) => {
    if (data instanceof Map) return [['(iteration index)', 'Key', 'Values'], [...data].map(([key, value], at) => [at, value, key])];
    if (data instanceof Set) return [['(iteration index)', 'Values'], [...data].map((value, at) => [at, value])];
    return [['(index)'], Object.keys(data).map((key) => [key, data[key]])];
  };

  const table = (data, wanted) => {
    if (data === null || typeof data !== 'object') return undefined;
    const [head, found] = entries(data);
    if (head.length > 1) {
      return draw(head, found.map(([index, value, key]) => (head.length === 3 ? [`${index}`, cell(key), cell(value)] : [`${index}`, cell(value)])));
    }
    const columns = wanted ? [...wanted] : [];
    let plain = false;
    for (const [, row] of found) {
      if (row === null || typeof row !== 'object') plain = true;
      else if (!wanted) for (const key of Object.keys(row)) if (!columns.includes(key)) columns.push(key);
    }
    const rows = found.map(([index, row]) => {
      const isRow = row !== null && typeof row === 'object';
      const cells = columns.map((key) => (isRow && Object.hasOwn(row, key) ? cell(row[key]) : ''));
      return [`${index}`, ...cells, ...(plain ? [isRow ? '' : cell(row)] : [])];
    });
    return draw([...head, ...columns, ...(plain ? ['Values'] : [])], rows);
  };

  return { table };
})
