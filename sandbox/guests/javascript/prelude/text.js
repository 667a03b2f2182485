// `TextEncoder` and `TextDecoder`.
const { StringDecoder } = require('string_decoder');
const { Buffer, encode } = require('./buffer');

class TextEncoder {
  get encoding() {
    return 'utf-8';
  }

  encode(text = '') {
    return encode(`${text}`);
  }
}

const LABELS = { __proto__: null, utf8: 'utf-8', 'utf-8': 'utf-8', 'unicode-1-1-utf-8': 'utf-8', 'utf-16le': 'utf-16le',
  'utf-16': 'utf-16le', ascii: 'windows-1252', latin1: 'windows-1252', 'iso-8859-1': 'windows-1252', 'windows-1252': 'windows-1252' };
const DECODERS = { 'utf-8': 'utf8', 'utf-16le': 'utf16le', 'windows-1252': 'latin1' };

class TextDecoder {
  #decoder;
  #started = false;

  constructor(label = 'utf-8', options = {}) {
    this.encoding = LABELS[`${label}`.trim().toLowerCase()];
    if (!this.encoding) throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: 'ERR_ENCODING_NOT_SUPPORTED' });
    this.fatal = Boolean(options?.fatal);
    this.ignoreBOM = Boolean(options?.ignoreBOM);
  }

  decode(input = new Uint8Array(), options = {}) {
    const isView = ArrayBuffer.isView(input);
    if (!isView && !['ArrayBuffer', 'SharedArrayBuffer'].includes(host.kind(input))) throw new TypeError('The "input" argument must be an instance of ArrayBuffer or ArrayBufferView');
    const bytes = isView ? Buffer.from(input.buffer, input.byteOffset, input.byteLength) : Buffer.from(input);
    if (this.fatal && this.encoding === 'utf-8' && !options?.stream) host.decode(bytes, true);
    this.#decoder ??= new StringDecoder(DECODERS[this.encoding]);
    const text = options?.stream ? this.#decoder.write(bytes) : this.#decoder.write(bytes) + this.#decoder.end();
    if (!options?.stream) this.#decoder = undefined;
    const marked = !this.#started && !this.ignoreBOM && text.startsWith('\ufeff');
    this.#started = Boolean(options?.stream) && (this.#started || text !== '');
    return marked ? text.slice(1) : text;
  }
}

module.exports = { TextDecoder, TextEncoder };
