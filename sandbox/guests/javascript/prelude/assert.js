// `assert`.
(function (host, load) {
  const { inspect } = load('inspect');
  const { isDeepEqual, isDeepStrictEqual } = load('equal');

  class AssertionError extends Error {
    constructor({ message, actual, expected, operator }) {
      super(message);
      this.generatedMessage = false;
      this.code = 'ERR_ASSERTION';
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
    }

    get name() {
      return 'AssertionError';
    }
  }

  const fails = (given, generated, actual, expected, operator) => {
    if (given instanceof Error) throw given;
    const error = new AssertionError({ message: given ?? generated(), actual, expected, operator });
    error.generatedMessage = given === undefined;
    throw error;
  };

  const show = (value) => inspect(value, { depth: 1000, maxArrayLength: Infinity, sorted: true });
  const compared = (words, sign) => (a, b) => () => `${words}\n\n${show(a)} ${sign} ${show(b)}\n`;

  const check = (name, holds, words) => (actual, expected, message) => {
    if (!holds(actual, expected)) fails(message, words(actual, expected), actual, expected, name);
  };

  const ok = (value, message) => {
    if (!value) fails(message, () => 'The expression evaluated to a falsy value', value, true, '==');
  };

  const matches = (error, wanted, message) => {
    if (wanted === undefined || typeof wanted === 'string') return;
    if (typeof wanted === 'function') {
      if (wanted.prototype !== undefined && error instanceof wanted) return;
      if (Error.isPrototypeOf(wanted) || wanted === Error) throw error;
      if (wanted.call({}, error) === true) return;
      fails(message, () => 'The validation function is expected to return "true"', error, wanted, 'throws');
    } else if (host.kind(wanted) === 'RegExp') {
      if (!wanted.test(`${error}`)) fails(message, () => `The input did not match the regular expression ${inspect(wanted)}. Input:\n\n${inspect(`${error}`)}\n`, error, wanted, 'throws');
    } else {
      for (const key of [...Object.keys(wanted), ...(wanted instanceof Error ? ['name', 'message'] : [])]) {
        const same = host.kind(wanted[key]) === 'RegExp' && typeof error[key] === 'string' ? wanted[key].test(error[key]) : isDeepStrictEqual(error[key], wanted[key]);
        if (!same) fails(message, () => `Expected values to be strictly deep-equal:\n\n${show(error)} should equal\n\n${show(wanted)}`, error, wanted, 'throws');
      }
    }
  };

  const missing = (kind, wanted, message) => {
    const name = typeof wanted === 'function' && wanted.name ? ` (${wanted.name})` : '.';
    const words = typeof wanted === 'string' ? wanted : message;
    fails(words instanceof Error ? words : undefined, () => `Missing expected ${kind}${name}${words ? `${name === '.' ? '' : ''}: ${words}`.replace('.:', ':') : ''}`, undefined, wanted, kind === 'exception' ? 'throws' : 'rejects');
  };

  const assert = Object.assign((value, message) => ok(value, message), {
    AssertionError,
    ok,
    fail: (message = 'Failed') => fails(message, () => message, undefined, undefined, 'fail'),
    equal: check('==', (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b)), (a, b) => () => `${show(a)} == ${show(b)}`),
    notEqual: check('!=', (a, b) => !(a == b || (Number.isNaN(a) && Number.isNaN(b))), (a, b) => () => `${show(a)} != ${show(b)}`),
    strictEqual: check('strictEqual', Object.is, compared('Expected values to be strictly equal:', '!==')),
    notStrictEqual: check('notStrictEqual', (a, b) => !Object.is(a, b), (a) => () => `Expected "actual" to be strictly unequal to: ${show(a)}`),
    deepEqual: check('deepEqual', isDeepEqual, (a, b) => () => `Expected values to be loosely deep-equal:\n\n${show(a)}\n\nshould loosely deep-equal\n\n${show(b)}`),
    notDeepEqual: check('notDeepEqual', (a, b) => !isDeepEqual(a, b), (a) => () => `Expected "actual" not to be loosely deep-equal to: ${show(a)}`),
    deepStrictEqual: check('deepStrictEqual', isDeepStrictEqual, compared('Expected values to be strictly deep-equal:', '!==')),
    notDeepStrictEqual: check('notDeepStrictEqual', (a, b) => !isDeepStrictEqual(a, b), (a) => () => `Expected "actual" not to be strictly deep-equal to: ${show(a)}`),
    match: check('match', (text, pattern) => pattern.test(text), (text, pattern) => () => `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`),
    doesNotMatch: check('doesNotMatch', (text, pattern) => !pattern.test(text), (text, pattern) => () => `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`),
    throws(run, wanted, message) {
      let thrown;
      try {
        run();
      } catch (error) {
        thrown = { error };
      }
      if (!thrown) missing('exception', wanted, message);
      matches(thrown.error, wanted, message);
    },
    doesNotThrow(run, wanted, message) {
      try {
        run();
      } catch (error) {
        const words = typeof wanted === 'string' ? wanted : message;
        fails(undefined, () => `Got unwanted exception${words ? `: ${words}` : '.'}\nActual message: "${error?.message}"`, error, wanted, 'doesNotThrow');
      }
    },
    async rejects(promise, wanted, message) {
      let thrown;
      try {
        await (typeof promise === 'function' ? promise() : promise);
      } catch (error) {
        thrown = { error };
      }
      if (!thrown) missing('rejection', wanted, message);
      matches(thrown.error, wanted, message);
    },
    async doesNotReject(promise, wanted, message) {
      try {
        await (typeof promise === 'function' ? promise() : promise);
      } catch (error) {
        fails(message, () => `Got unwanted rejection.\nActual message: "${error?.message}"`, error, wanted, 'doesNotReject');
      }
    },
    ifError(value) {
      if (value !== null && value !== undefined) throw value instanceof Error ? value : new AssertionError({ message: `ifError got unwanted exception: ${inspect(value)}`, actual: value, operator: 'ifError' });
    },
  });
  assert.strict = Object.assign((value, message) => ok(value, message), assert, {
    equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
  });
  assert.strict.strict = assert.strict;
  return assert;
})
