// `readline`: lines of a stream.
(function (host, load) {
  const EventEmitter = load('events');
  const loop = load('loop');
  const { StringDecoder } = load('text');

  const closedError = () => Object.assign(new Error('readline was closed'), { code: 'ERR_USE_AFTER_CLOSE' });

  class Interface extends EventEmitter {
    constructor(given, output) {
      super();
      const options = typeof given?.on === 'function' ? { input: given, output } : given ?? {};
      if (typeof options.input?.on !== 'function') {
        throw Object.assign(new TypeError('The "input" argument must be a stream'), { code: 'ERR_INVALID_ARG_TYPE' });
      }
      this.terminal = false;
      this.line = '';
      this.closed = false;
      this.input = options.input;
      this.output = options.output;
      hide(this, '_prompt', options.prompt ?? '> ');
      hide(this, '_answer', undefined);
      hide(this, '_rest', '');
      const decoder = new StringDecoder('utf8');
      const data = (chunk) => this._take(typeof chunk === 'string' ? chunk : decoder.write(chunk));
      const end = () => {
        this._rest += decoder.end();
        // A last line need not end in a line break.
        const last = this._rest.replace(/\r$/, '');
        if (this._rest !== '') this._line(last);
        this._rest = '';
        this.close();
      };
      this.input.on('data', data);
      this.input.on('end', end);
      this.once('close', () => this.input.off('data', data).off('end', end));
      this.input.resume();
    }

    _take(text) {
      let from = 0;
      const all = this._rest + text;
      // A carriage return may be the first half of a line break.
      const breaks = /\r\n|\n|\r(?=[^\n])|\u2028|\u2029/g;
      const lines = [];
      for (let found = breaks.exec(all); found; found = breaks.exec(all)) {
        lines.push(all.slice(from, found.index));
        from = breaks.lastIndex;
      }
      this._rest = all.slice(from);
      for (const line of lines) this._line(line);
    }

    _line(line) {
      const answer = this._answer;
      if (!answer) {
        this.emit('line', line);
        return;
      }
      this._answer = undefined;
      this.setPrompt(this._asked);
      answer(line);
    }

    question(query, options, done) {
      const answer = typeof options === 'function' ? options : done;
      if (this.closed) throw closedError();
      if (typeof answer !== 'function') return;
      if (this._answer) {
        this.prompt();
        return;
      }
      hide(this, '_asked', this._prompt);
      this.setPrompt(query);
      this._answer = answer;
      this.prompt();
    }

    prompt() {
      if (this.closed) throw closedError();
      this.resume();
      this.output?.write(this._prompt);
    }

    setPrompt(prompt) {
      this._prompt = `${prompt}`;
    }

    getPrompt() {
      return this._prompt;
    }

    write() {}

    pause() {
      this.input.pause();
      this.emit('pause');
      return this;
    }

    resume() {
      this.input.resume();
      return this;
    }

    close() {
      if (this.closed) return;
      this.closed = true;
      this.input.pause();
      this.emit('pause');
      this.emit('close');
    }

    [Symbol.dispose]() {
      this.close();
    }

    [Symbol.asyncIterator]() {
      const lines = EventEmitter.queue(this, 'line', ['close'], ([line]) => line);
      if (this.closed) lines.end();
      const stop = lines.return;
      lines.return = () => {
        this.close();
        return stop();
      };
      return lines;
    }
  }

  const hide = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });

  class Promised extends Interface {
    question(query) {
      return new Promise((resolve, reject) => {
        if (this.closed) reject(closedError());
        else super.question(query, resolve);
      });
    }
  }

  const { promisify } = load('promisify');
  Object.defineProperty(Interface.prototype.question, promisify.custom, {
    value(query) {
      return new Promise((resolve) => {
        this.question(query, resolve);
      });
    },
  });

  const cursor = (stream, done) => {
    if (typeof done === 'function') loop.nextTick(done);
    return true;
  };

  return {
    Interface,
    createInterface: (...args) => new Interface(...args),
    clearLine: (stream, direction, done) => cursor(stream, done),
    clearScreenDown: cursor,
    cursorTo: (stream, x, y, done) => cursor(stream, typeof y === 'function' ? y : done),
    moveCursor: (stream, x, y, done) => cursor(stream, done),
    emitKeypressEvents: () => {},
    promises: { Interface: Promised, createInterface: (...args) => new Promised(...args) },
  };
})
