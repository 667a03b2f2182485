// `crypto`: random numbers from the guest's own source, and the digests that programs compute.
const { md5, sha1 } = require('@noble/hashes/legacy.js');
const { sha224, sha256, sha384, sha512 } = require('@noble/hashes/sha2.js');
const { hmac } = require('@noble/hashes/hmac.js');
const { Buffer } = require('./buffer');
const loop = require('./loop');

const DIGESTS = { __proto__: null, md5, sha1, sha224, sha256, sha384, sha512 };

const digestOf = (name) => {
  const digest = DIGESTS[`${name}`.toLowerCase().replace('-', '')];
  if (!digest) throw new Error('Digest method not supported');
  return digest;
};

class Hash {
  #state;

  constructor(state) {
    this.#state = state;
  }

  update(data, encoding) {
    this.#state.update(new Uint8Array(Buffer.from(data, encoding)));
    return this;
  }

  digest(encoding) {
    const bytes = Buffer.from(this.#state.digest());
    return encoding ? bytes.toString(encoding) : bytes;
  }
}

const answer = (done, value) => (typeof done === 'function' ? loop.nextTick(done, null, value) : value);
const random = (count) => Buffer.from(host.random(count));

const randomInt = (low, high, done) => {
  const [from, to] = typeof high === 'number' ? [low, high] : [0, low];
  const value = from + Number(new DataView(host.random(8)).getBigUint64(0) % BigInt(to - from));
  return answer(typeof high === 'function' ? high : done, value);
};

const randomUUID = () => {
  const bytes = random(16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const getRandomValues = (target) => {
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(random(target.byteLength));
  return target;
};

module.exports = {
  createHash: (name) => new Hash(digestOf(name).create()),
  createHmac: (name, key) => new Hash(hmac.create(digestOf(name), new Uint8Array(Buffer.from(key)))),
  getHashes: () => Object.keys(DIGESTS), getRandomValues, randomFillSync: getRandomValues, randomInt, randomUUID,
  randomBytes: (count, done) => answer(done, random(count)),
  timingSafeEqual: (a, b) => Buffer.compare(a, b) === 0,
  webcrypto: { getRandomValues, randomUUID },
};
