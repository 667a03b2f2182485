// `buffer`, with UTF-8 as the host reads and writes it.
const buffer = require('buffer/');

const { Buffer } = buffer;
const { toString } = Buffer.prototype;
const { from, byteLength } = Buffer;
const isUtf8 = (encoding) => encoding === undefined || encoding === null || /^utf-?8$/i.test(encoding);
const encode = (text) => new Uint8Array(host.encode(text));

Buffer.prototype.toString = function (encoding, start = 0, end = this.length) {
  if (!isUtf8(encoding)) return Reflect.apply(toString, this, [encoding, start, end]);
  return host.decode(new Uint8Array(this.buffer, this.byteOffset, this.length).subarray(start, end), false);
};
Buffer.prototype[Symbol.for('nodejs.util.inspect.custom')] = function () {
  const hex = this.toString('hex', 0, 50).replace(/../g, ' $&');
  const more = this.length - 50;
  return `<Buffer${hex}${more > 0 ? ` ... ${more} more byte${more > 1 ? 's' : ''}` : ''}>`;
};
Buffer.from = (value, encoding, length) => (typeof value === 'string' && isUtf8(encoding)
  ? Object.setPrototypeOf(encode(value), Buffer.prototype) : from(value, encoding, length));
Buffer.byteLength = (value, encoding) => (typeof value === 'string' && isUtf8(encoding) ? encode(value).length : byteLength(value, encoding));

module.exports = { ...buffer, Buffer, atob: globalThis.atob, btoa: globalThis.btoa, encode };
