// `crypto`: random numbers from the guest's own source, and the digests that programs compute.
(function (host, load) {
  const { sha1, sha256, md5 } = load('digests');
  const DIGESTS = { __proto__: null, md5, sha1, sha256 };
  const encoded = (bytes, encoding) => {
    const { Buffer } = load('buffer');
    return encoding ? Buffer.from(bytes).toString(encoding) : Buffer.from(bytes);
  };

  class Hash {
    #chunks = [];
    #run;

    constructor(name) {
      this.#run = DIGESTS[`${name}`.toLowerCase().replace('-', '')];
      if (!this.#run) throw new Error('Digest method not supported');
    }

    update(data, encoding) {
      this.#chunks.push(load('buffer').Buffer.from(data, encoding));
      return this;
    }

    digest(encoding) {
      return encoded(this.#run(load('buffer').Buffer.concat(this.#chunks)), encoding);
    }
  }

  const hmac = (name, key) => {
    const { Buffer } = load('buffer');
    const run = (bytes) => new Hash(name).update(bytes).digest();
    const short = Buffer.from(key).length > 64 ? run(Buffer.from(key)) : Buffer.from(key);
    const padded = Buffer.concat([short], 64);
    const chunks = [padded.map((byte) => byte ^ 0x36)];
    return {
      update(data, encoding) {
        chunks.push(Buffer.from(data, encoding));
        return this;
      },
      digest: (encoding) => encoded(run(Buffer.concat([padded.map((byte) => byte ^ 0x5c), run(Buffer.concat(chunks))])), encoding),
    };
  };

  const randomBytes = (count, done) => {
    const bytes = load('buffer').Buffer.from(host.random(count));
    return typeof done === 'function' ? load('loop').nextTick(done, null, bytes) : bytes;
  };

  const randomInt = (low, high, done) => {
    const [from, to] = high === undefined || typeof high === 'function' ? [0, low] : [low, high];
    const whole = new DataView(host.random(8)).getBigUint64(0);
    const value = from + Number(whole % BigInt(to - from));
    const after = typeof high === 'function' ? high : done;
    return typeof after === 'function' ? load('loop').nextTick(after, null, value) : value;
  };

  const randomUUID = () => {
    const bytes = new Uint8Array(host.random(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  };

  const getRandomValues = (target) => {
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(new Uint8Array(host.random(target.byteLength)));
    return target;
  };

  return {
    createHash: (name) => new Hash(name), createHmac: hmac, getHashes: () => Object.keys(DIGESTS), getRandomValues, randomBytes, randomInt, randomUUID,
    randomFillSync: getRandomValues,
    timingSafeEqual: (a, b) => load('buffer').Buffer.compare(a, b) === 0,
    webcrypto: { getRandomValues, randomUUID },
  };
})
