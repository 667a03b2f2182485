// `URLSearchParams`, and addresses of the common form.
(function (host, load) {
  const escape = (text) => encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const unescape = (text) => {
    const bytes = load('buffer').Buffer.from(text.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, (_, hex) => `\u{10fffe}${hex}`));
    const marked = bytes.toString('latin1').replace(/\xf4\x8f\xbf\xbe([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    return load('buffer').Buffer.from(marked, 'latin1').toString();
  };

  class URLSearchParams {
    #pairs = [];
    #changed;

    constructor(init = '', changed = () => {}) {
      this.#changed = changed;
      if (typeof init === 'string') {
        for (const part of init.replace(/^\?/, '').split('&')) {
          if (part === '') continue;
          const at = part.indexOf('=');
          this.#pairs.push(at < 0 ? [unescape(part), ''] : [unescape(part.slice(0, at)), unescape(part.slice(at + 1))]);
        }
      } else {
        const pairs = typeof init?.[Symbol.iterator] === 'function' ? init : Object.entries(init ?? {});
        for (const [key, value] of pairs) this.#pairs.push([`${key}`, `${value}`]);
      }
    }

    get size() {
      return this.#pairs.length;
    }

    append(key, value) {
      this.#pairs.push([`${key}`, `${value}`]);
      this.#changed();
    }

    delete(key) {
      this.#pairs = this.#pairs.filter(([have]) => have !== `${key}`);
      this.#changed();
    }

    get(key) {
      return this.#pairs.find(([have]) => have === `${key}`)?.[1] ?? null;
    }

    getAll(key) {
      return this.#pairs.filter(([have]) => have === `${key}`).map(([, value]) => value);
    }

    has(key) {
      return this.#pairs.some(([have]) => have === `${key}`);
    }

    set(key, value) {
      const at = this.#pairs.findIndex(([have]) => have === `${key}`);
      if (at < 0) this.#pairs.push([`${key}`, `${value}`]);
      else this.#pairs = this.#pairs.filter(([have], index) => index <= at || have !== `${key}`).with(at, [`${key}`, `${value}`]);
      this.#changed();
    }

    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }

    forEach(run, self) {
      for (const [key, value] of this.#pairs) run.call(self, value, key, this);
    }

    *entries() {
      for (const pair of this.#pairs) yield [...pair];
    }

    *keys() {
      for (const [key] of this.#pairs) yield key;
    }

    *values() {
      for (const [, value] of this.#pairs) yield value;
    }

    [Symbol.iterator]() {
      return this.entries();
    }

    toString() {
      return this.#pairs.map(([key, value]) => `${escape(key)}=${escape(value)}`).join('&');
    }

    [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
      const pairs = this.#pairs.map(([key, value]) => `${inspect(key)} => ${inspect(value)}`).join(', ');
      return pairs ? `URLSearchParams { ${pairs} }` : 'URLSearchParams {}';
    }
  }

  const PORTS = { 'http:': '80', 'https:': '443', 'ftp:': '21', 'ws:': '80', 'wss:': '443' };
  const invalid = (input) => Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input });
  const encoded = (text) => text.replace(/[^\x21-\x7e]|["<>`{}]/gu, (char) => encodeURIComponent(char));

  const against = (input, base) => {
    const of = new URL(base);
    if (input.startsWith('//')) return of.protocol + input;
    if (input.startsWith('/')) return of.origin + input;
    if (input.startsWith('?')) return of.origin + of.pathname + input;
    if (input.startsWith('#')) return of.origin + of.pathname + of.search + input;
    return of.origin + of.pathname.replace(/[^/]*$/, '') + input;
  };

  class URL {
    static canParse(input, base) {
      try {
        return Boolean(new URL(input, base));
      } catch {
        return false;
      }
    }

    constructor(given, base) {
      const input = `${given}`.trim();
      const whole = /^[a-z][a-z0-9+.-]*:/i.test(input) ? input : base === undefined ? undefined : against(input, `${base}`);
      if (whole === undefined) throw invalid(input);
      const [, scheme, authority, path, search = '', hash = ''] = /^([a-z][a-z0-9+.-]*:)(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(whole) ?? [];
      this.protocol = scheme.toLowerCase();
      const special = this.protocol in PORTS;
      if (special && !authority) throw invalid(input);
      const [, user = '', secret = '', name = '', port = ''] = /^(?:([^:@]*)(?::([^@]*))?@)?(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(authority ?? '') ?? [];
      if (special && name === '') throw invalid(input);
      this.username = user;
      this.password = secret;
      this.hostname = special ? name.toLowerCase() : name;
      this.port = port === PORTS[this.protocol] ? '' : port;
      const trailing = /(^|\/)\.{0,2}$/.test(path) ? '/' : '';
      const clean = load('path').resolve(`/${path}`);
      this.pathname = special ? encoded(clean === '/' ? '/' : clean + (trailing && path !== '' ? '/' : '')) : encoded(path);
      this.hash = hash === '#' ? '' : encoded(hash);
      let query = search === '?' ? '' : encoded(search);
      const params = new URLSearchParams(query, () => {
        query = params.size > 0 ? `?${params}` : '';
      });
      Object.defineProperty(this, 'searchParams', { value: params, enumerable: true });
      Object.defineProperty(this, 'search', { get: () => query, enumerable: true });
    }

    get host() {
      return this.port === '' ? this.hostname : `${this.hostname}:${this.port}`;
    }

    get origin() {
      return this.protocol in PORTS ? `${this.protocol}//${this.host}` : 'null';
    }

    get href() {
      const secret = this.password === '' ? '' : `:${this.password}`;
      const user = this.username === '' ? '' : `${this.username}${secret}@`;
      return `${this.protocol}${this.hostname === '' && !(this.protocol in PORTS) && this.protocol !== 'file:' ? '' : '//'}${user}${this.host}${this.pathname}${this.search}${this.hash}`;
    }

    toString() {
      return this.href;
    }

    toJSON() {
      return this.href;
    }
  }

  return { URL, URLSearchParams, fileURLToPath: (url) => new URL(url).pathname, pathToFileURL: (path) => new URL(`file://${load('path').resolve(path)}`) };
})
