// `events`, with the iterator that node has beside its emitters.
const EventEmitter = require('events');

// What an emitter says from now on, until it says one of `ends`.
const queue = (emitter, name, ends, of, after = () => {}) => {
  const values = [];
  let wake = () => {};
  let over;
  const take = (...args) => {
    values.push(of(args));
    wake();
  };
  const stop = (how) => {
    over ??= how;
    wake();
  };
  const fail = (error) => stop({ error });
  const end = () => stop({});
  emitter.on(name, take).on('error', fail);
  for (const one of ends) emitter.on(one, end);
  const iterator = (async function* iterate() {
    try {
      while (!over || values.length > 0) {
        yield* values.splice(0);
        if (values.length > 0 || over) continue;
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
      if ('error' in over) throw over.error;
    } finally {
      emitter.off(name, take).off('error', fail);
      for (const one of ends) emitter.off(one, end);
      after();
    }
  })();
  return Object.assign(iterator, { end });
};

EventEmitter.on = (emitter, name, options) => queue(emitter, name, options?.close ?? [], (args) => args);
Object.defineProperty(EventEmitter, 'queue', { value: queue });
module.exports = EventEmitter;
