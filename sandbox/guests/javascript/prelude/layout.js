// How the parts of a value are laid out in lines, as node does.
(function () {
  const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
  const NONE = /[\p{Mn}\p{Me}\p{Cf}\u0000-\u001f\u007f-\u009f]/u;

  // The columns that a text takes in a terminal.
  const width = (text) => {
    if (/^[\x20-\x7e]*$/.test(text)) return text.length;
    let columns = 0;
    for (const char of text.normalize('NFC')) columns += NONE.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
    return columns;
  };

  // Many short entries stand in columns; what is said of further entries keeps a line of its own.
  const group = (ctx, entries, value) => {
    const rest = ctx.maxArrayLength < entries.length ? entries.slice(-1) : [];
    const items = rest.length > 0 ? entries.slice(0, -1) : entries;
    const widths = items.map(width);
    const total = widths.reduce((sum, one) => sum + one + 2, 0);
    const longest = Math.max(0, ...widths);
    const room = longest + 2;
    const fits = room * 3 + ctx.indent < ctx.breakLength && (total / room > 5 || longest <= 6);
    if (!fits) return entries;
    // About square, seen that a character is 2.5 times as high as wide, and less wide the more
    // the lengths differ.
    const biased = Math.max(room - 3 - Math.sqrt(room - total / entries.length), 1);
    const columns = Math.min(
      Math.round(Math.sqrt(2.5 * biased * items.length) / biased),
      Math.floor((ctx.breakLength - ctx.indent) / room), ctx.compact * 4, 15);
    if (columns <= 1) return entries;
    const rooms = [];
    for (let column = 0; column < columns; column++) {
      let most = 0;
      for (let at = column; at < items.length; at += columns) most = Math.max(most, widths[at]);
      rooms.push(most + 2);
    }
    const numeric = value !== undefined && value.every((one) => typeof one === 'number' || typeof one === 'bigint');
    const lines = [];
    for (let from = 0; from < items.length; from += columns) {
      const to = Math.min(from + columns, items.length);
      let line = '';
      for (let at = from; at < to; at++) {
        const final = at === to - 1;
        const text = final ? items[at] : `${items[at]}, `;
        const padding = ' '.repeat(Math.max(rooms[at - from] - widths[at] - 2, 0));
        line += numeric ? padding + text : final ? text : text + padding;
      }
      lines.push(line);
    }
    return [...lines, ...rest];
  };

  // One line where there is little in it and it fits, else one line an entry.
  const join = (ctx, given, base, [open, close], isList, level, value) => {
    const entries = isList && given.length > 6 && ctx.compact >= 1 ? group(ctx, given, value) : given;
    const head = base ? `${base} ` : '';
    if (ctx.deepest - level < ctx.compact && entries === given) {
      const start = entries.length + ctx.indent + open.length + base.length + 10;
      const long = entries.reduce((sum, one) => sum + one.length, entries.length + start);
      if (long <= ctx.breakLength && !base.includes('\n')) {
        const text = entries.join(', ');
        if (!text.includes('\n')) return `${head}${open} ${text} ${close}`;
      }
    }
    const line = `\n${' '.repeat(ctx.indent)}`;
    return `${head}${open}${line}  ${entries.join(`,${line}  `)}${line}${close}`;
  };

  return { join, width };
})
