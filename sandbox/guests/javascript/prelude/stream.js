// `stream`: as much of it as programs use that read, change and write text.
(function (host, load) {
  const EventEmitter = load('events');
  const loop = load('loop');
  const { StringDecoder } = load('text');

  class Readable extends EventEmitter {
    constructor(options = {}) {
      super();
      this.readable = true;
      this.readableEnded = false;
      this.readableFlowing = null;
      this.destroyed = false;
      this.readableObjectMode = Boolean(options.objectMode || options.readableObjectMode);
      hide(this, '_state', { chunks: [], ended: false, asked: false, decoder: undefined, scheduled: false });
      if (options.encoding) this.setEncoding(options.encoding);
      if (typeof options.read === 'function') this._read = options.read;
    }

    static from(values) {
      const readable = new Readable({ objectMode: true });
      const fill = async () => {
        try {
          for await (const value of typeof values === 'string' ? [values] : values) readable.push(value);
          readable.push(null);
        } catch (error) {
          readable.destroy(error);
        }
      };
      readable._read = () => {
        readable._read = () => {};
        fill();
      };
      return readable;
    }

    setEncoding(encoding) {
      const state = this._state;
      state.decoder = new StringDecoder(encoding);
      this.readableEncoding = state.decoder.encoding;
      state.chunks = state.chunks.map((chunk) => (typeof chunk === 'string' ? chunk : state.decoder.write(chunk)));
      return this;
    }

    push(chunk) {
      const state = this._state;
      state.asked = false;
      if (chunk === null) {
        const rest = state.decoder?.end();
        if (rest) state.chunks.push(rest);
        state.ended = true;
      } else if (this.readableObjectMode) {
        state.chunks.push(chunk);
      } else {
        const bytes = typeof chunk === 'string' && state.decoder ? chunk : typeof chunk === 'string' ? load('buffer').Buffer.from(chunk) : chunk;
        const text = state.decoder && typeof bytes !== 'string' ? state.decoder.write(bytes) : bytes;
        if (text.length > 0) state.chunks.push(text);
      }
      schedule(this);
      return !state.ended;
    }

    read(count) {
      const state = this._state;
      if (state.chunks.length === 0) {
        ask(this);
        if (state.ended) finish(this);
        return null;
      }
      let chunk = state.chunks.shift();
      if (!this.readableObjectMode && count !== undefined && count < chunk.length) {
        state.chunks.unshift(chunk.slice(count));
        chunk = chunk.slice(0, count);
      } else if (!this.readableObjectMode && count === undefined && state.chunks.length > 0) {
        const all = [chunk, ...state.chunks.splice(0)];
        chunk = typeof chunk === 'string' ? all.join('') : load('buffer').Buffer.concat(all);
      }
      this.emit('data', chunk);
      return chunk;
    }

    on(name, listener) {
      super.on(name, listener);
      if (name === 'data' && this.readableFlowing !== false) this.resume();
      if (name === 'readable') {
        this.readableFlowing = false;
        schedule(this);
      }
      return this;
    }

    resume() {
      this.readableFlowing = true;
      schedule(this);
      return this;
    }

    pause() {
      this.readableFlowing = false;
      return this;
    }

    isPaused() {
      return this.readableFlowing === false;
    }

    pipe(target) {
      this.on('data', (chunk) => target.write(chunk));
      this.once('end', () => {
        if (target !== loop.process?.stdout && target !== loop.process?.stderr) target.end();
      });
      target.emit('pipe', this);
      return target;
    }

    unpipe() {
      this.removeAllListeners('data');
      return this.pause();
    }

    destroy(error) {
      if (this.destroyed) return this;
      this.destroyed = true;
      this.readable = false;
      this._state.chunks = [];
      this._state.ended = true;
      loop.nextTick(() => {
        if (error) this.emit('error', error);
        this.emit('close');
      });
      return this;
    }

    ref() {
      return this;
    }

    unref() {
      return this;
    }

    [Symbol.asyncIterator]() {
      const values = EventEmitter.queue(this, 'data', ['end', 'close'], ([chunk]) => chunk);
      if (this.readableEnded || this.destroyed) values.end();
      return values;
    }
  }
  Object.defineProperty(Readable.prototype, 'addListener', { value: Readable.prototype.on, writable: true, configurable: true });

  const hide = (target, name, value) => Object.defineProperty(target, name, { value, writable: true, enumerable: false });

  const ask = (readable) => {
    const state = readable._state;
    if (state.asked || state.ended || !readable._read) return;
    state.asked = true;
    readable._read(65536);
  };

  const finish = (readable) => {
    if (readable.readableEnded) return;
    readable.readableEnded = true;
    readable.readable = false;
    loop.nextTick(() => {
      readable.emit('end');
      if (!readable.destroyed) loop.nextTick(() => readable.emit('close'));
      readable.destroyed = true;
    });
  };

  // Gives one chunk a turn, so that what a program does between chunks comes between them.
  const schedule = (readable) => {
    const state = readable._state;
    if (state.scheduled || readable.destroyed) return;
    const listens = readable.readableFlowing === true || readable.listenerCount('readable') > 0;
    if (!listens || readable.readableEnded) return;
    state.scheduled = true;
    loop.later(() => {
      state.scheduled = false;
      advance(readable);
    });
  };

  const advance = (readable) => {
    const state = readable._state;
    if (readable.destroyed) return;
    if (state.chunks.length === 0) ask(readable);
    if (readable.readableFlowing === true) {
      if (state.chunks.length > 0) readable.emit('data', state.chunks.shift());
      else if (state.ended) return finish(readable);
      else return undefined;
      return schedule(readable);
    }
    if (readable.listenerCount('readable') > 0 && !readable.readableEnded && (state.chunks.length > 0 || state.ended)) {
      readable.emit('readable');
      if (state.ended && state.chunks.length === 0) return finish(readable);
      if (!state.ended) schedule(readable);
    }
    return undefined;
  };

  class Writable extends EventEmitter {
    constructor(options = {}) {
      super();
      this.writable = true;
      this.writableEnded = false;
      this.writableFinished = false;
      hide(this, '_options', options);
      hide(this, '_pending', []);
      hide(this, '_busy', false);
      if (typeof options.write === 'function') this._write = options.write;
      if (typeof options.final === 'function') this._final = options.final;
    }

    write(chunk, encoding, done) {
      if (typeof encoding === 'function') [encoding, done] = [undefined, encoding];
      const { objectMode, decodeStrings } = this._options;
      const isText = typeof chunk === 'string';
      const given = isText && !objectMode && decodeStrings !== false ? load('buffer').Buffer.from(chunk, encoding) : chunk;
      this._pending.push([given, isText ? encoding ?? 'utf8' : 'buffer', done]);
      work(this);
      return true;
    }

    end(chunk, encoding, done) {
      if (typeof chunk === 'function') [chunk, done] = [undefined, chunk];
      if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
      if (typeof done === 'function') this.once('finish', done);
      this.writableEnded = true;
      this.writable = false;
      work(this);
      return this;
    }

    cork() {}

    uncork() {}

    setDefaultEncoding() {
      return this;
    }

    destroy(error) {
      loop.nextTick(() => {
        if (error) this.emit('error', error);
        this.emit('close');
      });
      return this;
    }
  }

  const work = (writable) => {
    if (writable._busy) return;
    if (writable._pending.length === 0) {
      if (!writable.writableEnded || writable.writableFinished) return;
      writable.writableFinished = true;
      const finished = (error) => loop.nextTick(() => (error ? writable.emit('error', error) : writable.emit('finish')));
      if (writable._final) writable._final(finished);
      else finished();
      return;
    }
    const [chunk, encoding, done] = writable._pending.shift();
    writable._busy = true;
    writable._write(chunk, encoding, (error) => {
      writable._busy = false;
      if (error) writable.emit('error', error);
      else if (done) loop.nextTick(done);
      work(writable);
    });
  };

  // A readable to which one writes.
  class Duplex extends Readable {
    constructor(options = {}) {
      super(options);
      const inner = new Writable({ ...options, objectMode: options.objectMode || options.writableObjectMode });
      hide(this, '_inner', inner);
      inner._write = (...args) => this._write(...args);
      inner._final = (done) => (this._final ? this._final(done) : done());
      inner.on('finish', () => this.emit('finish'));
      inner.on('error', (error) => this.emit('error', error));
      if (typeof options.write === 'function') this._write = options.write;
      if (typeof options.final === 'function') this._final = options.final;
    }

    write(...args) {
      return this._inner.write(...args);
    }

    end(...args) {
      this._inner.end(...args);
      return this;
    }
  }

  class Transform extends Duplex {
    constructor(options = {}) {
      super(options);
      if (typeof options.transform === 'function') this._transform = options.transform;
      if (typeof options.flush === 'function') this._flush = options.flush;
    }

    _write(chunk, encoding, done) {
      this._transform(chunk, encoding, (error, value) => {
        if (value !== undefined && value !== null) this.push(value);
        done(error);
      });
    }

    _final(done) {
      const end = (error, value) => {
        if (value !== undefined && value !== null) this.push(value);
        this.push(null);
        done(error);
      };
      if (this._flush) this._flush(end);
      else end();
    }
  }

  class PassThrough extends Transform {
    _transform(chunk, encoding, done) {
      done(null, chunk);
    }
  }

  const finished = (stream, done) => {
    const end = () => done();
    stream.once('end', end).once('finish', end).once('error', done);
  };

  const pipeline = (...streams) => {
    const done = typeof streams.at(-1) === 'function' && !streams.at(-1).write ? streams.pop() : () => {};
    const [first, ...others] = streams;
    const source = typeof first.pipe === 'function' ? first : Readable.from(first);
    let failed = false;
    const fail = (error) => {
      if (!failed) done(error);
      failed = true;
    };
    for (const one of [source, ...others]) one.on('error', fail);
    others.at(-1).once('finish', () => failed || done());
    return others.reduce((from, to) => from.pipe(to), source);
  };

  const promises = {
    pipeline: (...streams) => new Promise((resolve, reject) => {
      pipeline(...streams, (error) => (error ? reject(error) : resolve()));
    }),
    finished: (stream) => new Promise((resolve, reject) => {
      finished(stream, (error) => (error ? reject(error) : resolve()));
    }),
  };

  class Stream extends EventEmitter {}
  return Object.assign(Stream, { Stream, Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished, promises });
})
