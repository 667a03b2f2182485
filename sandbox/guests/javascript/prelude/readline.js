// `readline`: lines of a stream.
const { StringDecoder } = require('string_decoder');
const EventEmitter = require('./events');
const loop = require('./loop');
const { promisify } = require('./util');

// Line breaks but the usual one. A carriage return at the end may be the first half of one.
const BREAK = /\r\n|\r(?=[^\n])|\u2028|\u2029/g;
const closedError = () => Object.assign(new Error('readline was closed'), { code: 'ERR_USE_AFTER_CLOSE' });

class Interface extends EventEmitter {
  #prompt;
  #query;
  #answer;
  #rest = '';
  terminal = false;
  line = '';
  closed = false;

  constructor(given, output) {
    super();
    const options = typeof given?.on === 'function' ? { input: given, output } : given ?? {};
    if (typeof options.input?.on !== 'function') {
      throw Object.assign(new TypeError('The "input" argument must be a stream'), { code: 'ERR_INVALID_ARG_TYPE' });
    }
    this.input = options.input;
    this.output = options.output;
    this.#prompt = options.prompt ?? '> ';
    const decoder = new StringDecoder('utf8');
    const data = (chunk) => this.#take(typeof chunk === 'string' ? chunk : decoder.write(chunk));
    const end = () => {
      // A last line need not end in a line break.
      const rest = this.#rest + decoder.end();
      this.#rest = '';
      if (rest !== '') this.#line(rest.replace(/\r$/, ''));
      this.close();
    };
    this.input.on('data', data);
    this.input.on('end', end);
    this.once('close', () => this.input.off('data', data).off('end', end));
    this.input.resume();
  }

  #take(text) {
    const lines = (this.#rest + text).replace(BREAK, '\n').split('\n');
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line);
  }

  #line(line) {
    const answer = this.#answer;
    if (!answer) {
      this.emit('line', line);
      return;
    }
    this.#answer = undefined;
    this.#query = undefined;
    answer(line);
  }

  question(query, options, done = options) {
    if (this.closed) throw closedError();
    if (typeof done !== 'function') return;
    if (!this.#answer) {
      this.#query = `${query}`;
      this.#answer = done;
    }
    this.prompt();
  }

  prompt() {
    if (this.closed) throw closedError();
    this.resume();
    this.output?.write(this.getPrompt());
  }

  setPrompt(prompt) {
    this.#prompt = `${prompt}`;
  }

  getPrompt() {
    return this.#query ?? this.#prompt;
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
    this.pause();
    this.emit('close');
  }

  [Symbol.asyncIterator]() {
    const lines = EventEmitter.queue(this, 'line', ['close'], ([line]) => line, () => this.close());
    if (this.closed) lines.end();
    return lines;
  }
}

class Promised extends Interface {
  question(query) {
    return new Promise((resolve, reject) => {
      if (this.closed) reject(closedError());
      else super.question(query, resolve);
    });
  }
}

Object.defineProperty(Interface.prototype.question, promisify.custom, { value: Promised.prototype.question });

// There is no terminal whose cursor could be moved.
const cursor = (stream, ...args) => {
  const done = args.findLast((one) => typeof one === 'function');
  if (done) loop.nextTick(done);
  return true;
};

module.exports = {
  Interface, createInterface: (...args) => new Interface(...args), clearLine: cursor, clearScreenDown: cursor,
  cursorTo: cursor, moveCursor: cursor, emitKeypressEvents: () => {},
  promises: { Interface: Promised, createInterface: (...args) => new Promised(...args) },
};
