// `path`, as on any Unix.
(function () {
  const parts = (text, absolute) => {
    const kept = [];
    for (const part of text.split('/')) {
      if (part === '' || part === '.') continue;
      if (part !== '..') kept.push(part);
      else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
      else if (!absolute) kept.push('..');
    }
    return kept;
  };

  const normalize = (text) => {
    if (text === '') return '.';
    const absolute = text.startsWith('/');
    const kept = parts(text, absolute).join('/');
    const end = text.endsWith('/') && kept !== '' ? '/' : '';
    return (absolute ? `/${kept}${end}` : `${kept}${end}`) || '.';
  };

  const join = (...some) => normalize(some.filter((part) => part !== '').join('/'));

  const resolve = (...some) => {
    let whole = '';
    for (const part of some.toReversed()) {
      if (part === '') continue;
      whole = whole === '' ? part : `${part}/${whole}`;
      if (part.startsWith('/')) break;
    }
    return `/${parts(whole, true).join('/')}`;
  };

  const trimmed = (text) => text.replace(/(?<=[^/])\/+$/, '');

  const basename = (text, suffix = '') => {
    const base = trimmed(text).replace(/^.*\//s, '');
    return suffix !== '' && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
  };

  const dirname = (text) => {
    const short = trimmed(text);
    const at = short.lastIndexOf('/');
    if (at < 0) return '.';
    return at === 0 ? '/' : trimmed(short.slice(0, at)) || '/';
  };

  const extname = (text) => /[^/.][^/]*(\.[^./]*)$/.exec(basename(text))?.[1] ?? '';

  const relative = (from, to) => {
    const [a, b] = [from, to].map((text) => parts(resolve(text), true));
    let same = 0;
    while (same < a.length && same < b.length && a[same] === b[same]) same++;
    return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/');
  };

  const parse = (text) => {
    const base = basename(text);
    const ext = extname(text);
    const root = text.startsWith('/') ? '/' : '';
    const dir = text.includes('/') ? dirname(text) : '';
    return { root, dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
  };

  const format = ({ dir, root = '', base, name = '', ext = '' }) => {
    const last = base ?? name + (ext && !ext.startsWith('.') ? `.${ext}` : ext);
    return dir ? (dir === root ? dir + last : `${dir}/${last}`) : root + last;
  };

  const path = { sep: '/', delimiter: ':', normalize, join, resolve, basename, dirname, extname, relative, parse, format, isAbsolute: (text) => text.startsWith('/') };
  path.posix = path;
  return path;
})
