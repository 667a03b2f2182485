// `assert`, as node has it today where the package is older.
const assert = require('assert');
const { isDeepStrictEqual } = require('assert/build/internal/util/comparisons');

// What is the same is equal, as NaN is.
for (const [name, same] of [['equal', Object.is], ['deepEqual', isDeepStrictEqual]]) {
  const check = assert[name];
  assert[name] = (actual, expected, ...message) => {
    if (!same(actual, expected)) check(actual, expected, ...message);
  };
}
for (const name of ['throws', 'rejects']) {
  const check = assert[name];
  assert[name] = (run, wanted, ...message) => check(run, wanted instanceof RegExp ? (error) => {
    assert.match(`${error}`, wanted, ...message);
    return true;
  } : wanted, ...message);
  assert.strict[name] = assert[name];
}
module.exports = { assert, isDeepStrictEqual };
