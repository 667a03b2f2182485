// Events as the web has them, and the signals that abort.
(function (host, load) {
  class Event {
    defaultPrevented = false;

    constructor(type, options = {}) {
      this.type = `${type}`;
      this.cancelable = Boolean(options.cancelable);
      this.target = null;
      this.timeStamp = host.now();
    }

    preventDefault() {
      this.defaultPrevented = this.cancelable;
    }

    stopImmediatePropagation() {
      this._stopped = true;
    }

    stopPropagation() {}
  }

  class EventTarget {
    #listeners = new Map();

    addEventListener(type, listener, options) {
      const list = this.#listeners.get(type) ?? [];
      if (!list.some((one) => one.listener === listener)) list.push({ listener, once: Boolean(options?.once) });
      this.#listeners.set(type, list);
    }

    removeEventListener(type, listener) {
      this.#listeners.set(type, (this.#listeners.get(type) ?? []).filter((one) => one.listener !== listener));
    }

    dispatchEvent(event) {
      event.target = this;
      event.currentTarget = this;
      for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
        if (once) this.removeEventListener(event.type, listener);
        try {
          if (typeof listener === 'function') listener.call(this, event);
          else listener.handleEvent(event);
        } catch (error) {
          load('loop').nextTick(() => {
            throw error;
          });
        }
        if (event._stopped) break;
      }
      return !event.defaultPrevented;
    }
  }

  const aborted = () => new DOMException('This operation was aborted', 'AbortError');

  class AbortSignal extends EventTarget {
    aborted = false;
    reason = undefined;
    onabort = null;

    static abort(reason) {
      const signal = new AbortSignal();
      raise(signal, reason);
      return signal;
    }

    static timeout(ms) {
      const signal = new AbortSignal();
      load('loop').setTimeout(() => raise(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms).unref();
      return signal;
    }

    throwIfAborted() {
      if (this.aborted) throw this.reason;
    }
  }

  const raise = (signal, reason = aborted()) => {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason;
    const event = new Event('abort');
    signal.onabort?.(event);
    signal.dispatchEvent(event);
  };

  class AbortController {
    signal = new AbortSignal();

    abort(reason) {
      raise(this.signal, reason);
    }
  }

  return { AbortController, AbortSignal, Event, EventTarget };
})
