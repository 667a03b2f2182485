// Text and bytes: encoders, decoders, and the decoder of streams.
(function (host, load) {
  const viewOf = (bytes) => {
    if (bytes instanceof ArrayBuffer || bytes instanceof SharedArrayBufferOrNone) return new Uint8Array(bytes);
    if (!ArrayBuffer.isView(bytes)) throw new TypeError('The "input" argument must be an instance of ArrayBuffer or ArrayBufferView');
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const SharedArrayBufferOrNone = globalThis.SharedArrayBuffer ?? class {};

  class TextEncoder {
    get encoding() {
      return 'utf-8';
    }

    encode(text = '') {
      return new Uint8Array(host.encode(`${text}`));
    }

    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const char of `${text}`) {
        const bytes = new Uint8Array(host.encode(char));
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += char.length;
      }
      return { read, written };
    }
  }

  const wide = (view, unit) => {
    let text = '';
    for (let at = 0; at + 1 < view.length; at += 2) text += String.fromCharCode(view[at + (unit === 'be' ? 1 : 0)] | (view[at + (unit === 'be' ? 0 : 1)] << 8));
    return text;
  };

  const narrow = (view) => {
    let text = '';
    for (let from = 0; from < view.length; from += 8192) text += String.fromCharCode(...view.subarray(from, from + 8192));
    return text;
  };

  const LABELS = { __proto__: null, utf8: 'utf-8', 'utf-8': 'utf-8', 'unicode-1-1-utf-8': 'utf-8',
    'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', 'utf-16be': 'utf-16be', ascii: 'windows-1252',
    latin1: 'windows-1252', 'iso-8859-1': 'windows-1252', 'windows-1252': 'windows-1252' };

  class TextDecoder {
    #rest = new Uint8Array();
    #started = false;

    constructor(label = 'utf-8', options = {}) {
      const encoding = LABELS[`${label}`.trim().toLowerCase()];
      if (!encoding) throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: 'ERR_ENCODING_NOT_SUPPORTED' });
      this.encoding = encoding;
      this.fatal = Boolean(options?.fatal);
      this.ignoreBOM = Boolean(options?.ignoreBOM);
    }

    decode(input = new Uint8Array(), options = {}) {
      const bytes = viewOf(input);
      const all = new Uint8Array(this.#rest.length + bytes.length);
      all.set(this.#rest);
      all.set(bytes, this.#rest.length);
      const open = !options?.stream ? 0 : this.encoding === 'utf-8' ? host.unfinished(all) : this.encoding.startsWith('utf-16') ? all.length % 2 : 0;
      const whole = all.subarray(0, all.length - open);
      this.#rest = all.slice(all.length - open);
      let text = this.encoding === 'utf-8' ? host.decode(whole, this.fatal)
        : this.encoding.startsWith('utf-16') ? wide(whole, this.encoding.slice(-2)) : narrow(whole);
      if (!this.#started && !this.ignoreBOM && text.startsWith('\ufeff')) text = text.slice(1);
      this.#started = Boolean(options?.stream) && (this.#started || text !== '');
      return text;
    }
  }

  // Holds back the start of a character whose end is in the next chunk.
  class StringDecoder {
    #rest = new Uint8Array();

    constructor(encoding = 'utf8') {
      this.encoding = load('buffer').encodingOf(encoding);
    }

    write(chunk) {
      if (typeof chunk === 'string') return chunk;
      const { Buffer } = load('buffer');
      const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const open = this.encoding === 'utf8' ? host.unfinished(all) : this.encoding === 'utf16le' ? all.length % 2 : this.encoding === 'base64' ? all.length % 3 : 0;
      this.#rest = all.subarray(all.length - open);
      return all.subarray(0, all.length - open).toString(this.encoding);
    }

    end(chunk) {
      const text = chunk ? this.write(chunk) : '';
      const rest = load('buffer').Buffer.from(this.#rest).toString(this.encoding);
      this.#rest = new Uint8Array();
      return text + rest;
    }
  }

  return { StringDecoder, TextDecoder, TextEncoder, narrow, viewOf, wide };
})
