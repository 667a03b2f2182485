// `Buffer`: bytes with the encodings that node knows.
(function (host, load) {
  const ENCODINGS = { __proto__: null, utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url',
    ascii: 'ascii', latin1: 'latin1', binary: 'latin1', ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le' };
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

  const encodingOf = (name = 'utf8') => {
    const encoding = ENCODINGS[`${name}`.toLowerCase()];
    if (!encoding) throw Object.assign(new TypeError(`Unknown encoding: ${name}`), { code: 'ERR_UNKNOWN_ENCODING' });
    return encoding;
  };

  const fromBase64 = (text) => {
    const bytes = [];
    let held = 0;
    let bits = 0;
    for (const char of text.replaceAll('-', '+').replaceAll('_', '/')) {
      if (char === '=') break;
      const six = ALPHABET.indexOf(char);
      if (six < 0) continue;
      held = ((held << 6) | six) & 0xffff;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        bytes.push((held >> bits) & 0xff);
      }
    }
    return bytes;
  };

  const toBase64 = (bytes) => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 3) {
      const three = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      const left = bytes.length - at;
      text += ALPHABET[three >> 18] + ALPHABET[(three >> 12) & 63] + (left > 1 ? ALPHABET[(three >> 6) & 63] : '=') + (left > 2 ? ALPHABET[three & 63] : '=');
    }
    return text;
  };

  const encode = (text, encoding) => {
    switch (encodingOf(encoding)) {
      case 'utf8': return new Uint8Array(host.encode(text));
      case 'hex': {
        const valid = /^([0-9a-f]{2})*/i.exec(text)[0];
        return Uint8Array.from({ length: valid.length / 2 }, (_, at) => Number.parseInt(valid.slice(2 * at, 2 * at + 2), 16));
      }
      case 'base64':
      case 'base64url': return Uint8Array.from(fromBase64(text));
      case 'utf16le': return Uint8Array.from({ length: 2 * text.length }, (_, at) => (text.charCodeAt(at >> 1) >> (8 * (at & 1))) & 0xff);
      default: return Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) & 0xff);
    }
  };

  const decode = (bytes, encoding) => {
    const { narrow, wide } = load('text');
    switch (encodingOf(encoding)) {
      case 'utf8': return host.decode(bytes, false);
      case 'hex': return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      case 'base64': return toBase64(bytes);
      case 'base64url': return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
      case 'utf16le': return wide(bytes, 'le');
      case 'ascii': return narrow(Uint8Array.from(bytes, (byte) => byte & 0x7f));
      default: return narrow(bytes);
    }
  };

  class Bytes extends Uint8Array {
    toString(encoding, start = 0, end = this.length) {
      return decode(Uint8Array.prototype.subarray.call(this, start, end), encoding);
    }

    toLocaleString(...args) {
      return this.toString(...args);
    }

    toJSON() {
      return { type: 'Buffer', data: Array.from(this) };
    }

    slice(start, end) {
      return this.subarray(start, end);
    }

    equals(other) {
      return Buffer.compare(this, other) === 0;
    }

    compare(other) {
      return Buffer.compare(this, other);
    }

    copy(target, at = 0, start = 0, end = this.length) {
      const part = this.subarray(start, Math.min(end, start + target.length - at));
      target.set(part, at);
      return part.length;
    }

    write(text, offset = 0, length = undefined, encoding = undefined) {
      const [at, count, code] = typeof offset === 'string' ? [0, undefined, offset]
        : typeof length === 'string' ? [offset, undefined, length] : [offset, length, encoding];
      const bytes = encode(text, code).subarray(0, Math.min(count ?? Infinity, this.length - at));
      this.set(bytes, at);
      return bytes.length;
    }

    fill(value, start = 0, end = this.length, encoding = undefined) {
      if (typeof value === 'number') return super.fill(value, start, end);
      const bytes = typeof value === 'string' ? encode(value, typeof start === 'string' ? start : encoding) : value;
      const from = typeof start === 'number' ? start : 0;
      for (let at = from; at < end; at++) this[at] = bytes.length > 0 ? bytes[(at - from) % bytes.length] : 0;
      return this;
    }

    indexOf(value, from = 0, encoding = undefined) {
      if (typeof value === 'number') return super.indexOf(value & 0xff, from);
      const bytes = typeof value === 'string' ? encode(value, encoding) : value;
      for (let at = from < 0 ? Math.max(0, this.length + from) : from; at + bytes.length <= this.length; at++) {
        if (bytes.every((byte, offset) => this[at + offset] === byte)) return at;
      }
      return -1;
    }

    includes(value, from, encoding) {
      return this.indexOf(value, from, encoding) >= 0;
    }

    [Symbol.for('nodejs.util.inspect.custom')]() {
      const shown = Array.from(Uint8Array.prototype.subarray.call(this, 0, 50), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
      const more = this.length - 50;
      return `<Buffer${shown && ` ${shown}`}${more > 0 ? ` ... ${more} more byte${more > 1 ? 's' : ''}` : ''}>`;
    }
  }

  // Numbers, in all the widths.
  for (const [name, type, size] of [['UInt8', 'Uint8', 1], ['Int8', 'Int8', 1], ['UInt16', 'Uint16', 2], ['Int16', 'Int16', 2],
    ['UInt32', 'Uint32', 4], ['Int32', 'Int32', 4], ['Float', 'Float32', 4], ['Double', 'Float64', 8], ['BigInt64', 'BigInt64', 8], ['BigUInt64', 'BigUint64', 8]]) {
    for (const order of size === 1 ? [''] : ['LE', 'BE']) {
      const view = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const methods = {
        [`read${name}${order}`](offset = 0) {
          return view(this)[`get${type}`](offset, order === 'LE');
        },
        [`write${name}${order}`](value, offset = 0) {
          view(this)[`set${type}`](offset, value, order === 'LE');
          return offset + size;
        },
      };
      for (const [key, value] of Object.entries(methods)) {
        for (const alias of [key, key.replace('UInt', 'Uint')]) {
          Object.defineProperty(Bytes.prototype, alias, { value, writable: true, configurable: true, enumerable: false });
        }
      }
    }
  }

  // Old programs call it as a function, with `new` or without.
  function Buffer(value, encoding, length) {
    return typeof value === 'number' ? Buffer.alloc(value) : Buffer.from(value, encoding, length);
  }
  Object.setPrototypeOf(Buffer, Uint8Array);
  Buffer.prototype = Bytes.prototype;
  Object.defineProperty(Bytes.prototype, 'constructor', { value: Buffer, writable: true, configurable: true });

  const compare = (a, b) => {
    for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at] < b[at] ? -1 : 1;
    return Math.sign(a.length - b.length);
  };

  Object.assign(Buffer, {
    from(value, encoding, length) {
      if (typeof value === 'string') return new Bytes(encode(value, encoding).buffer);
      if (value instanceof ArrayBuffer) return new Bytes(value, encoding, length);
      if (value?.type === 'Buffer' && Array.isArray(value.data)) return new Bytes(value.data);
      if (value !== null && typeof value === 'object') return typeof value.valueOf() === 'string' ? Buffer.from(value.valueOf(), encoding) : new Bytes(value);
      throw Object.assign(new TypeError(`The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${load('inspect').inspect(value)}`), { code: 'ERR_INVALID_ARG_TYPE' });
    },
    alloc: (size, value, encoding) => (value === undefined ? new Bytes(size) : new Bytes(size).fill(value, encoding)),
    allocUnsafe: (size) => new Bytes(size),
    allocUnsafeSlow: (size) => new Bytes(size),
    byteLength: (value, encoding) => (typeof value === 'string' ? encode(value, encoding).length : value.byteLength),
    compare,
    concat(list, length = list.reduce((sum, one) => sum + one.length, 0)) {
      const whole = new Bytes(length);
      let at = 0;
      for (const one of list) {
        whole.set(at + one.length > length ? one.subarray(0, length - at) : one, at);
        at += one.length;
        if (at >= length) break;
      }
      return whole;
    },
    isBuffer: (value) => value instanceof Bytes,
    isEncoding: (name) => ENCODINGS[`${name}`.toLowerCase()] !== undefined,
    poolSize: 8192,
  });

  return { Buffer, encodingOf, atob: globalThis.atob, btoa: globalThis.btoa, constants: { MAX_LENGTH: 4294967296, MAX_STRING_LENGTH: 536870888 }, kMaxLength: 4294967296 };
})
