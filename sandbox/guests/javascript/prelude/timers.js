// `timers`, and its promises.
(function (host, load) {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = load('loop');
  const promises = {
    setTimeout: (ms, value) => new Promise((resolve) => {
      setTimeout(resolve, ms, value);
    }),
    setImmediate: (value) => new Promise((resolve) => {
      setImmediate(resolve, value);
    }),
    async *setInterval(ms, value) {
      for (;;) yield promises.setTimeout(ms, value);
    },
    scheduler: { wait: (ms) => promises.setTimeout(ms), yield: () => promises.setImmediate() },
  };
  return { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, promises };
})
