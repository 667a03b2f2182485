// TypeScript as node takes it: the types are removed, enumerations and parameter properties become code, and nothing is checked.
const { transform } = require('sucrase');

const isTyped = (file) => /\.[cm]?ts$/.test(file);
const OPTIONS = { transforms: ['typescript'], disableESTransforms: true };

// A source without its types; lines keep their numbers.
const untyped = (source, file) => isTyped(file) ? transform(source, { ...OPTIONS, filePath: file }).code : source;

module.exports = { untyped };
