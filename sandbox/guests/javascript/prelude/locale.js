// What depends on the reader's language: American English, the order of the Unicode Collation
// Algorithm for what it says of Latin text.
(function () {
  // The order of what is no letter: spaces, punctuation, symbols, digits.
  const ORDER = '\t\n\v\f\r\u2028\u2029 _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789';

  const primary = (char) => {
    const at = ORDER.indexOf(char);
    return at >= 0 ? at : 1000 + char.toLowerCase().codePointAt(0);
  };

  const MARK = /\p{M}/u;

  // A text as its letters, their marks, and their cases: compared in that order.
  const keys = (text) => {
    const letters = [];
    const marks = [];
    const cases = [];
    for (const char of text.normalize('NFD')) {
      if (MARK.test(char)) {
        marks[Math.max(letters.length - 1, 0)] = (marks[Math.max(letters.length - 1, 0)] ?? 0) * 65536 + char.codePointAt(0);
      } else if (!/[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/.test(char)) {
        letters.push(primary(char));
        cases.push(char === char.toLowerCase() ? 0 : 1);
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
    return String.fromCodePoint(0x30) + String.fromCodePoint(0xf0000 + short.length) + short;
  });

  const compare = (text, other, locale, options = {}) => {
    const [first, second] = [`${text}`, `${other}`].map((one) => (options.numeric || /-u-.*kn/.test(`${locale}`) ? numeric(one) : one));
    if (first === second) return 0;
    const [a, b] = [keys(first), keys(second)];
    const sensitivity = options.sensitivity ?? 'variant';
    const letters = ranked(a[0], b[0]);
    if (letters !== 0 || sensitivity === 'base') return letters;
    const marks = sensitivity === 'case' ? 0 : ranked(a[1], b[1]);
    if (marks !== 0 || sensitivity === 'accent') return marks;
    return ranked(a[2], b[2]) * (options.caseFirst === 'upper' ? -1 : 1);
  };

  const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

  // Rounds half away from zero on the shortest decimal form, and drops zeros beyond `least`.
  const decimal = (value, least, most) => {
    const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(plain(value));
    let digits = BigInt(whole + fraction.slice(0, most).padEnd(most, '0'));
    if (Number(fraction[most] ?? 0) >= 5) digits += 1n;
    const text = digits.toString().padStart(most + 1, '0');
    const rest = most === 0 ? '' : text.slice(-most).replace(/0+$/, '').padEnd(least, '0');
    return [most === 0 ? text : text.slice(0, -most), rest];
  };

  // A number without exponent.
  const plain = (value) => {
    const [, whole, fraction = '', exponent] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(`${value}`) ?? [];
    if (exponent === undefined) return `${value}`;
    const shift = Number(exponent);
    const digits = whole + fraction;
    const point = whole.length + shift;
    if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
    return point >= digits.length ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`;
  };

  const SYMBOLS = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩' };

  const significant = (value, most, least) => {
    const [, fraction = ''] = plain(Number(value.toPrecision(most))).split('.');
    const text = plain(Number(value.toPrecision(most)));
    const have = text.replace('.', '').replace(/^0+/, '').length;
    return [text.split('.')[0], fraction.padEnd(fraction.length + Math.max(0, least - have), '0')];
  };

  const number = (value, locale, options = {}) => {
    const negative = value < 0 || Object.is(value, -0);
    if (Number.isNaN(value)) return 'NaN';
    const size = typeof value === 'bigint' ? (value < 0n ? -value : value) : Math.abs(value);
    const currency = options.style === 'currency';
    const percent = options.style === 'percent';
    const usual = currency ? (options.currency === 'JPY' || options.currency === 'KRW' ? 0 : 2) : 0;
    const least = options.minimumFractionDigits ?? Math.min(usual, options.maximumFractionDigits ?? usual);
    const most = options.maximumFractionDigits ?? Math.max(least, currency ? usual : percent ? 0 : 3);
    let text = '∞';
    if (size !== Infinity) {
      const scaled = percent ? Number(size) * 100 : size;
      const { maximumSignificantDigits: many, minimumSignificantDigits: few } = options;
      const [whole, fraction] = many || few ? significant(Number(scaled), many ?? 21, few ?? 1) : decimal(scaled, least, most);
      const padded = whole.padStart(options.minimumIntegerDigits ?? 1, '0');
      text = (options.useGrouping === false ? padded : grouped(padded)) + (fraction ? `.${fraction}` : '');
    }
    const symbol = currency ? SYMBOLS[options.currency] ?? `${options.currency}\u00a0` : '';
    const zero = !/[1-9∞]/.test(text);
    return (negative && (!zero || typeof value === 'number') ? '-' : '') + symbol + text + (percent ? '%' : '');
  };

  const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const two = (value) => `${value}`.padStart(2, '0');

  const dayText = (when, options) => {
    const { weekday, year, month, day } = options;
    const month0 = when.getUTCMonth();
    const number1 = day === '2-digit' ? two(when.getUTCDate()) : day && `${when.getUTCDate()}`;
    const years = year === '2-digit' ? two(when.getUTCFullYear() % 100) : year && `${when.getUTCFullYear()}`;
    const name = weekday && (weekday === 'long' ? DAYS[when.getUTCDay()] : DAYS[when.getUTCDay()].slice(0, 3));
    if (month === 'long' || month === 'short') {
      const named = month === 'long' ? MONTHS[month0] : MONTHS[month0].slice(0, 3);
      const monthDay = number1 ? `${named} ${number1}` : named;
      const dated = [monthDay, years].filter(Boolean).join(number1 ? ', ' : ' ');
      return [name, dated].filter(Boolean).join(', ');
    }
    const shown = month === '2-digit' ? two(month0 + 1) : month && `${month0 + 1}`;
    return [name, [shown, number1, years].filter(Boolean).join('/')].filter(Boolean).join(', ');
  };

  const timeText = (when, options) => {
    const hours = when.getUTCHours();
    const half = options.hour12 ?? !['h23', 'h24'].includes(options.hourCycle);
    const shown = half ? hours % 12 || 12 : hours;
    const padded = options.hour === '2-digit' || !half ? two(shown) : `${shown}`;
    const parts = [options.hour && padded, options.minute && two(when.getUTCMinutes()), options.second && two(when.getUTCSeconds())];
    return parts.filter(Boolean).join(':') + (half && options.hour ? ` ${hours < 12 ? 'AM' : 'PM'}` : '');
  };

  const DATE = { year: 'numeric', month: 'numeric', day: 'numeric' };
  const TIME = { hour: 'numeric', minute: '2-digit', second: '2-digit' };
  const STYLES = { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } };
  const TIMES = { full: TIME, long: TIME, medium: TIME, short: { hour: 'numeric', minute: '2-digit' } };

  const dated = (when, options = {}, fallback = {}) => {
    if (Number.isNaN(when.getTime())) return 'Invalid Date';
    const asked = { ...options, ...STYLES[options.dateStyle], ...TIMES[options.timeStyle] };
    const has = ['weekday', 'year', 'month', 'day', 'hour', 'minute', 'second'].some((key) => asked[key]);
    const all = has ? asked : { ...asked, ...fallback };
    const day = dayText(when, all);
    const clock = timeText(when, all);
    const joiner = options.dateStyle === 'full' || options.dateStyle === 'long' ? ' at ' : ', ';
    return [day, clock].filter(Boolean).join(joiner);
  };

  class Collator {
    #options;

    constructor(locale, options) {
      this.#options = options;
      this.compare = (a, b) => compare(a, b, locale, options);
    }

    resolvedOptions() {
      return { locale: 'en-US', ...this.#options };
    }
  }

  class NumberFormat {
    #options;

    constructor(locale, options) {
      this.#options = options;
      this.format = (value) => number(typeof value === 'bigint' ? value : Number(value), locale, options);
    }

    resolvedOptions() {
      return { locale: 'en-US', ...this.#options };
    }
  }

  class DateTimeFormat {
    #options;

    constructor(locale, options) {
      this.#options = options;
      this.format = (when = new Date()) => dated(new Date(when), options, DATE);
    }

    resolvedOptions() {
      return { locale: 'en-US', timeZone: 'UTC', ...this.#options };
    }
  }

  class PluralRules {
    constructor(locale, options) {
      this.select = (value) => {
        if (options?.type !== 'ordinal') return value === 1 ? 'one' : 'other';
        const [ten, hundred] = [value % 10, value % 100];
        return ten === 1 && hundred !== 11 ? 'one' : ten === 2 && hundred !== 12 ? 'two' : ten === 3 && hundred !== 13 ? 'few' : 'other';
      };
    }
  }

  class ListFormat {
    constructor(locale, options) {
      const word = options?.type === 'disjunction' ? 'or' : 'and';
      this.format = (given) => {
        const list = [...given];
        return list.length < 3 ? list.join(` ${word} `) : `${list.slice(0, -1).join(', ')}, ${word} ${list.at(-1)}`;
      };
    }
  }

  // Characters as a reader counts them, for the joined forms that programs meet.
  class Segmenter {
    #words;

    constructor(locale, options) {
      this.#words = options?.granularity === 'word';
    }

    segment(input) {
      const parts = this.#words ? /[\p{L}\p{N}_]+(?:['’.][\p{L}\p{N}_]+)*|\s+|./gsu
        : /\r\n|\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\ufe0f|\u20e3|[\u{e0020}-\u{e007f}]|\u200d\p{Emoji})+|.(?:\p{M}|\u200d)*/gsu;
      return [...`${input}`.matchAll(parts)].map((found) => ({ segment: found[0], index: found.index, input, ...(this.#words && { isWordLike: /[\p{L}\p{N}]/u.test(found[0]) }) }));
    }
  }

  const Intl = {};
  for (const type of [Collator, NumberFormat, DateTimeFormat, PluralRules, ListFormat, Segmenter]) {
    // Some programs leave out `new`.
    const made = function (...args) {
      return new type(...args);
    };
    Object.defineProperty(made, 'name', { value: type.name });
    made.prototype = type.prototype;
    made.supportedLocalesOf = (locales) => [locales].flat();
    Object.defineProperty(Intl, type.name, { value: made, writable: true, configurable: true });
  }
  Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  Object.defineProperty(Intl, 'getCanonicalLocales', { value: (locales) => [locales ?? []].flat(), writable: true, configurable: true });

  return {
    Intl,
    compare,
    number,
    date: (when, locale, options) => dated(when, options, DATE),
    dateTime: (when, locale, options) => dated(when, options, { ...DATE, ...TIME }),
    time: (when, locale, options) => dated(when, options, TIME),
  };
})
