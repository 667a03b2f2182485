// MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4).
(function () {
  const rotate = (word, by) => (word << by) | (word >>> (32 - by));

  // The message in blocks of 64 bytes: a one bit, zeros, and its length in bits.
  const padded = (bytes, littleEndian) => {
    const blocks = (bytes.length + 72) >>> 6;
    const view = new DataView(new ArrayBuffer(blocks * 64));
    new Uint8Array(view.buffer).set(bytes);
    view.setUint8(bytes.length, 0x80);
    view.setBigUint64(blocks * 64 - 8, BigInt(bytes.length) * 8n, littleEndian);
    return view;
  };

  const run = (bytes, littleEndian, start, mix) => {
    const view = padded(bytes, littleEndian);
    let state = start;
    for (let at = 0; at < view.byteLength; at += 64) {
      const words = Array.from({ length: 16 }, (_, word) => view.getInt32(at + 4 * word, littleEndian));
      state = mix(state, words).map((word, index) => (word + state[index]) | 0);
    }
    const out = new DataView(new ArrayBuffer(4 * state.length));
    state.forEach((word, index) => out.setInt32(4 * index, word, littleEndian));
    return new Uint8Array(out.buffer);
  };

  const SHIFTS = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
  const SINES = Array.from({ length: 64 }, (_, at) => Math.floor(Math.abs(Math.sin(at + 1)) * 2 ** 32) | 0);

  const md5 = (bytes) => run(bytes, true, [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476], ([a, b, c, d], words) => {
    for (let at = 0; at < 64; at++) {
      const round = at >> 4;
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round];
      const from = [at, 5 * at + 1, 3 * at + 5, 7 * at][round] % 16;
      const sum = (a + mixed + SINES[at] + words[from]) | 0;
      [a, d, c, b] = [d, c, b, (b + rotate(sum, SHIFTS[round][at % 4])) | 0];
    }
    return [a, b, c, d];
  });

  const sha1 = (bytes) => run(bytes, false, [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0], ([a, b, c, d, e], words) => {
    for (let at = 0; at < 80; at++) {
      if (at >= 16) words[at] = rotate(words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16], 1);
      const round = Math.floor(at / 20);
      const mixed = [(b & c) | (~b & d), b ^ c ^ d, (b & c) | (b & d) | (c & d), b ^ c ^ d][round];
      const constant = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6][round];
      [e, d, c, b, a] = [d, c, rotate(b, 30), a, (rotate(a, 5) + mixed + e + constant + words[at]) | 0];
    }
    return [a, b, c, d, e];
  });

  // The first 32 bits of the fractions of roots of primes.
  const primes = [];
  for (let at = 2; primes.length < 64; at++) if (primes.every((prime) => at % prime !== 0)) primes.push(at);
  const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
  const CUBES = primes.map((prime) => fraction(Math.cbrt(prime)));
  const SQUARES = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

  const sha256 = (bytes) => run(bytes, false, SQUARES, ([a, b, c, d, e, f, g, h], words) => {
    for (let at = 0; at < 64; at++) {
      if (at >= 16) {
        const [early, late] = [words[at - 15], words[at - 2]];
        const s0 = rotate(early, 25) ^ rotate(early, 14) ^ (early >>> 3);
        const s1 = rotate(late, 15) ^ rotate(late, 13) ^ (late >>> 10);
        words[at] = (words[at - 16] + s0 + words[at - 7] + s1) | 0;
      }
      const s1 = rotate(e, 26) ^ rotate(e, 21) ^ rotate(e, 7);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + CUBES[at] + words[at]) | 0;
      const s0 = rotate(a, 30) ^ rotate(a, 19) ^ rotate(a, 10);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    return [a, b, c, d, e, f, g, h];
  });

  return { md5, sha1, sha256 };
})
