// `util.promisify`, and its way back.
(function (host, load) {
  const custom = Symbol.for('nodejs.util.promisify.custom');

  const promisify = (original) => {
    if (typeof original !== 'function') {
      throw Object.assign(new TypeError('The "original" argument must be of type function'), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    if (original[custom]) return original[custom];
    const wait = (ms, value) => new Promise((resolve) => {
      original(resolve, ms, value);
    });
    const loop = load('loop');
    if (original === loop.setTimeout) return wait;
    if (original === loop.setImmediate) return (value) => new Promise((resolve) => {
      original(resolve, value);
    });
    return function promised(...args) {
      return new Promise((resolve, reject) => {
        Reflect.apply(original, this, [...args, (error, value) => (error ? reject(error) : resolve(value))]);
      });
    };
  };
  promisify.custom = custom;

  const callbackify = (original) => function called(...args) {
    const done = args.pop();
    Reflect.apply(original, this, args).then((value) => load('loop').nextTick(done, null, value),
      (error) => load('loop').nextTick(done, error ?? new Error('falsy rejection')));
  };

  return { callbackify, promisify };
})
