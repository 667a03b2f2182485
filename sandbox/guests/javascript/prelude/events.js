// `events`: listeners, called in the order in which they came.
(function (host, load) {
  class EventEmitter {
    static defaultMaxListeners = 10;

    static once(emitter, name) {
      return new Promise((resolve, reject) => {
        const failed = (error) => {
          emitter.off(name, done);
          reject(error);
        };
        const done = (...args) => {
          emitter.off('error', failed);
          resolve(args);
        };
        emitter.once(name, done);
        if (name !== 'error') emitter.once('error', failed);
      });
    }

    static on(emitter, name, options) {
      return queue(emitter, name, options?.close ?? [], (args) => args);
    }

    static listenerCount(emitter, name) {
      return emitter.listenerCount(name);
    }

    on(name, listener) {
      return add(this, name, listener, false);
    }

    prependListener(name, listener) {
      return add(this, name, listener, true);
    }

    once(name, listener) {
      return this.on(name, onceOnly(this, name, listener));
    }

    prependOnceListener(name, listener) {
      return this.prependListener(name, onceOnly(this, name, listener));
    }

    off(name, listener) {
      const list = this._events?.[name];
      const at = list ? list.findLastIndex((one) => one === listener || one.listener === listener) : -1;
      if (at < 0) return this;
      this._events[name] = list.toSpliced(at, 1);
      if (this._events[name].length === 0) delete this._events[name];
      if (this._events.removeListener) this.emit('removeListener', name, listener);
      return this;
    }

    removeAllListeners(name) {
      if (name === undefined) setEvents(this);
      else if (this._events) delete this._events[name];
      return this;
    }

    emit(name, ...args) {
      const list = this._events?.[name];
      if (!list) {
        if (name !== 'error') return false;
        throw args[0] instanceof Error ? args[0]
          : Object.assign(new Error(`Unhandled error. (${load('inspect').inspect(args[0])})`), { code: 'ERR_UNHANDLED_ERROR', context: args[0] });
      }
      for (const listener of list) Reflect.apply(listener, this, args);
      return true;
    }

    listenerCount(name) {
      return this._events?.[name]?.length ?? 0;
    }

    listeners(name) {
      return (this._events?.[name] ?? []).map((one) => one.listener ?? one);
    }

    rawListeners(name) {
      return [...(this._events?.[name] ?? [])];
    }

    eventNames() {
      return Reflect.ownKeys(this._events ?? {});
    }

    setMaxListeners() {
      return this;
    }

    getMaxListeners() {
      return EventEmitter.defaultMaxListeners;
    }
  }

  const prototype = EventEmitter.prototype;
  for (const [name, same] of [['addListener', 'on'], ['removeListener', 'off']]) {
    Object.defineProperty(prototype, name, { value: prototype[same], writable: true, configurable: true });
  }

  const setEvents = (emitter) =>
    Object.defineProperty(emitter, '_events', { value: { __proto__: null }, writable: true, configurable: true, enumerable: false });

  const add = (emitter, name, listener, first) => {
    if (typeof listener !== 'function') {
      throw Object.assign(new TypeError('The "listener" argument must be of type function. Received ' + load('inspect').inspect(listener)), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    if (!emitter._events) setEvents(emitter);
    if (emitter._events.newListener) emitter.emit('newListener', name, listener.listener ?? listener);
    const list = emitter._events[name] ?? [];
    emitter._events[name] = first ? [listener, ...list] : [...list, listener];
    return emitter;
  };

  const onceOnly = (emitter, name, listener) => {
    if (typeof listener !== 'function') return listener;
    const wrapped = (...args) => {
      emitter.off(name, wrapped);
      return Reflect.apply(listener, emitter, args);
    };
    wrapped.listener = listener;
    return wrapped;
  };

  // What an emitter says from now on, as an async iterator that ends with one of `ends`.
  const queue = (emitter, name, ends, of) => {
    const values = [];
    const waiting = [];
    let ended = false;
    let failure;
    const settle = () => {
      while (waiting.length > 0) {
        const [resolve, reject] = waiting[0];
        if (values.length > 0) resolve({ value: values.shift(), done: false });
        else if (failure) reject(failure.error);
        else if (ended) resolve({ value: undefined, done: true });
        else return;
        waiting.shift();
      }
    };
    const take = (...args) => {
      values.push(of(args));
      settle();
    };
    const fail = (error) => {
      failure = { error };
      settle();
    };
    const end = () => {
      ended = true;
      settle();
    };
    const stop = () => {
      emitter.off(name, take).off('error', fail);
      for (const one of ends) emitter.off(one, end);
      end();
      return Promise.resolve({ value: undefined, done: true });
    };
    emitter.on(name, take).on('error', fail);
    for (const one of ends) emitter.on(one, end);
    return {
      end,
      next: () => new Promise((resolve, reject) => {
        waiting.push([resolve, reject]);
        settle();
      }),
      return: stop,
      throw: (error) => stop().then(() => Promise.reject(error)),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };

  // Old programs inherit from it as from a function.
  function Emitter() {}
  Emitter.prototype = prototype;
  Object.setPrototypeOf(Emitter, EventEmitter);
  Object.defineProperty(prototype, 'constructor', { value: Emitter, writable: true, configurable: true });
  Object.defineProperty(Emitter, 'name', { value: 'EventEmitter' });
  for (const key of ['once', 'on', 'listenerCount', 'defaultMaxListeners']) Emitter[key] = EventEmitter[key];
  Emitter.EventEmitter = Emitter;
  Emitter.queue = queue;
  Object.defineProperty(Emitter, 'queue', { enumerable: false });
  return Emitter;
})
