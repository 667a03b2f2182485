// The tables of `console.table`.
const { inspect, width } = require('./inspect');

const VALUES = Symbol('Values');
const isObject = (value) => typeof value === 'object' && value !== null;

const cell = (value) => inspect(value, {
  maxArrayLength: 3,
  breakLength: Infinity,
  depth: isObject(value) && !Array.isArray(value) && Object.keys(value).length > 2 ? -1 : 0,
});

const draw = (rows) => {
  const rooms = rows[0].map((_, at) => Math.max(...rows.map((row) => width(row[at]))) + 2);
  const rule = (left, middle, right) => left + rooms.map((room) => '─'.repeat(room)).join(middle) + right;
  const padded = (text, room) => ` ${text}${' '.repeat(room - width(text) - 1)}`;
  const [head, ...lines] = rows.map((row) => `│${rooms.map((room, at) => padded(row[at], room)).join('│')}│`);
  return [rule('┌', '┬', '┐'), head, rule('├', '┼', '┤'), ...lines, rule('└', '┴', '┘')].join('\n');
};

// What names each row, and its cells by column.
const rowsOf = (data, wanted) => {
  if (data instanceof Map) return [...data].map(([key, value], at) => [at, { Key: cell(key), Values: cell(value) }]);
  if (data instanceof Set) return [...data].map((value, at) => [at, { Values: cell(value) }]);
  return Object.entries(data).map(([key, row]) => [key, isObject(row)
    ? Object.fromEntries((wanted ?? Object.keys(row)).filter((name) => Object.hasOwn(row, name)).map((name) => [name, cell(row[name])]))
    : { [VALUES]: cell(row) }]);
};

const table = (data, wanted) => {
  if (!isObject(data)) return undefined;
  const rows = rowsOf(data, wanted);
  const columns = [...new Set([...(wanted ?? []), ...rows.flatMap(([, row]) => Object.keys(row))])];
  if (rows.some(([, row]) => VALUES in row)) columns.push(VALUES);
  const index = data instanceof Map || data instanceof Set ? '(iteration index)' : '(index)';
  return draw([[index, ...columns.map((name) => name.description ?? name)],
    ...rows.map(([name, row]) => [`${name}`, ...columns.map((column) => row[column] ?? '')])]);
};

module.exports = { table };
