// What depends on the reader's language: American English, the order of the Unicode Collation
// Algorithm for what it says of Latin text.
const { Segmenter } = require('unicode-segmenter/intl-adapter');

// The order of what is no letter: spaces, punctuation, symbols, digits.
const ORDER = '\t\n\v\f\r\u2028\u2029 _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789';
const MARK = /\p{M}/u;
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/;

// A text as its letters, their marks, and their cases: compared in that order.
const keys = (text) => {
  const [letters, marks, cases] = [[], [], []];
  for (const char of text.normalize('NFD')) {
    if (MARK.test(char)) {
      const at = Math.max(letters.length - 1, 0);
      marks[at] = (marks[at] ?? 0) * 65536 + char.codePointAt(0);
    } else if (!CONTROL.test(char)) {
      const lower = char.toLowerCase();
      const at = ORDER.indexOf(char);
      letters.push(at >= 0 ? at : 1000 + lower.codePointAt(0));
      cases.push(char === lower ? 0 : 1);
    }
  }
  return [letters, Array.from(letters, (_, at) => marks[at] ?? 0), cases];
};

const ranked = (a, b) => {
  for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
  return Math.sign(a.length - b.length);
};

// Runs of digits count as numbers where that is asked for.
const numeric = (text) => text.replace(/\d+/g, (digits) => {
  const short = digits.replace(/^0+(?=\d)/, '');
  return `0${String.fromCodePoint(0xf0000 + short.length)}${short}`;
});

const compare = (text, other, locale, options = {}) => {
  const [first, second] = [`${text}`, `${other}`].map((one) => (options.numeric || /-u-.*kn/.test(`${locale}`) ? numeric(one) : one));
  if (first === second) return 0;
  const [a, b] = [keys(first), keys(second)];
  const { sensitivity = 'variant' } = options;
  const letters = ranked(a[0], b[0]);
  if (letters !== 0 || sensitivity === 'base') return letters;
  const marks = sensitivity === 'case' ? 0 : ranked(a[1], b[1]);
  if (marks !== 0 || sensitivity === 'accent') return marks;
  return ranked(a[2], b[2]) * (options.caseFirst === 'upper' ? -1 : 1);
};

// A number without exponent.
const plain = (value) => {
  const [, whole, fraction = '', exponent] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(`${value}`) ?? [];
  if (exponent === undefined) return `${value}`;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`;
};

// Rounds half away from zero on the shortest decimal form, and drops zeros beyond `least`.
const decimal = (value, least, most) => {
  const [whole, fraction = ''] = plain(value).split('.');
  const digits = BigInt(whole + fraction.slice(0, most).padEnd(most, '0')) + (Number(fraction[most] ?? 0) >= 5 ? 1n : 0n);
  const text = `${digits}`.padStart(most + 1, '0');
  const at = text.length - most;
  return [text.slice(0, at), text.slice(at).replace(/0+$/, '').padEnd(least, '0')];
};

const significant = (value, most, least) => {
  const [whole, fraction = ''] = plain(Number(value.toPrecision(most))).split('.');
  return [whole, fraction.padEnd(fraction.length + Math.max(0, least - (whole + fraction).replace(/^0+/, '').length), '0')];
};

const SYMBOLS = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩' };

const number = (value, locale, options = {}) => {
  if (Number.isNaN(value)) return 'NaN';
  const size = typeof value === 'bigint' ? (value < 0n ? -value : value) : Math.abs(value);
  const [currency, percent] = [options.style === 'currency', options.style === 'percent'];
  const usual = currency && !['JPY', 'KRW'].includes(options.currency) ? 2 : 0;
  const least = options.minimumFractionDigits ?? Math.min(usual, options.maximumFractionDigits ?? usual);
  const most = options.maximumFractionDigits ?? Math.max(least, currency ? usual : percent ? 0 : 3);
  let text = '∞';
  if (size !== Infinity) {
    const scaled = percent ? Number(size) * 100 : size;
    const { maximumSignificantDigits: many, minimumSignificantDigits: few } = options;
    const [whole, fraction] = many || few ? significant(Number(scaled), many ?? 21, few ?? 1) : decimal(scaled, least, most);
    const padded = whole.padStart(options.minimumIntegerDigits ?? 1, '0');
    text = options.useGrouping === false ? padded : padded.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
    if (fraction) text += `.${fraction}`;
  }
  const symbol = currency ? SYMBOLS[options.currency] ?? `${options.currency}\u00a0` : '';
  const negative = value < 0 || Object.is(value, -0);
  return `${negative ? '-' : ''}${symbol}${text}${percent ? '%' : ''}`;
};

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const two = (value) => `${value}`.padStart(2, '0');
const sized = (value, size) => size && (size === '2-digit' ? two(value % 100) : `${value}`);
const joined = (parts, by) => parts.filter(Boolean).join(by);

const dayText = (when, { weekday, year, month, day }) => {
  const [index, date, years] = [when.getUTCMonth(), sized(when.getUTCDate(), day), sized(when.getUTCFullYear(), year)];
  const named = (names, at, size) => size && (size === 'long' ? names[at] : names[at].slice(0, 3));
  const name = named(DAYS, when.getUTCDay(), weekday);
  if (month !== 'long' && month !== 'short') return joined([name, joined([sized(index + 1, month), date, years], '/')], ', ');
  return joined([name, joined([joined([named(MONTHS, index, month), date], ' '), years], date ? ', ' : ' ')], ', ');
};

const timeText = (when, { hour, minute, second, hour12, hourCycle }) => {
  const hours = when.getUTCHours();
  const half = hour12 ?? !['h23', 'h24'].includes(hourCycle);
  const shown = sized(half ? hours % 12 || 12 : hours, hour && !half ? '2-digit' : hour);
  const text = joined([shown, minute && two(when.getUTCMinutes()), second && two(when.getUTCSeconds())], ':');
  return text + (half && hour ? ` ${hours < 12 ? 'AM' : 'PM'}` : '');
};

const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' };
const TIME = { hour: 'numeric', minute: '2-digit', second: '2-digit' };
const STYLES = { long: { ...DATE, month: 'long' }, full: { ...DATE, month: 'long', weekday: 'long' }, medium: { ...DATE, month: 'short' }, short: { ...DATE, year: '2-digit' } };
const TIMES = { full: TIME, long: TIME, medium: TIME, short: { ...TIME, second: undefined } };

const dated = (when, options = {}, fallback = {}) => {
  if (Number.isNaN(when.getTime())) return 'Invalid Date';
  const asked = { ...options, ...STYLES[options.dateStyle], ...TIMES[options.timeStyle] };
  const all = ['weekday', ...Object.keys({ ...DATE, ...TIME })].some((key) => asked[key]) ? asked : { ...asked, ...fallback };
  return joined([dayText(when, all), timeText(when, all)], ['full', 'long'].includes(options.dateStyle) ? ' at ' : ', ');
};

const ordinal = (value) => (['one', 'two', 'few'][value % 10 - 1] && ![11, 12, 13].includes(value % 100) ? ['one', 'two', 'few'][value % 10 - 1] : 'other');
const listed = (list, word) => (list.length < 3 ? list.join(` ${word} `) : `${list.slice(0, -1).join(', ')}, ${word} ${list.at(-1)}`);

// Each type by what it does: one function that takes the locale and the options first.
const TYPES = {
  Collator: ['compare', (locale, options, a, b) => compare(a, b, locale, options)],
  NumberFormat: ['format', (locale, options, value) => number(typeof value === 'bigint' ? value : Number(value), locale, options)],
  DateTimeFormat: ['format', (locale, options, when = new Date()) => dated(new Date(when), options, DATE)],
  PluralRules: ['select', (locale, options, value) => (options?.type === 'ordinal' ? ordinal(value) : value === 1 ? 'one' : 'other')],
  ListFormat: ['format', (locale, options, list) => listed([...list], options?.type === 'disjunction' ? 'or' : 'and')],
};
const put = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true });
const Intl = Object.defineProperty({}, Symbol.toStringTag, { value: 'Intl', configurable: true });
for (const [name, [method, run]] of Object.entries(TYPES)) {
  // Some programs leave out `new`.
  const type = function (locale, options) {
    const made = Object.create(type.prototype);
    made[method] = (...args) => run(locale, options, ...args);
    return made;
  };
  put(type, 'name', name);
  type.supportedLocalesOf = (locales) => [locales].flat();
  type.prototype.resolvedOptions = () => ({ locale: 'en-US', timeZone: 'UTC' });
  put(Intl, name, type);
}
put(Intl, 'Segmenter', Segmenter);

module.exports = {
  Intl, compare, number,
  date: (when, locale, options) => dated(when, options, DATE),
  dateTime: (when, locale, options) => dated(when, options, { ...DATE, ...TIME }),
  time: (when, locale, options) => dated(when, options, TIME),
};
