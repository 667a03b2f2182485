//! Programs of several files as one: the sandbox has no files, so the others travel inside of the main one,
//! which finds them beside it. Python imports and opens them, JavaScript requires and reads them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::super::error::ApiError;

/// The longest name of a file.
const NAME_BYTES_MAX: usize = 255;

/// A file of a program.
#[derive(Debug)]
pub(super) struct ProgramFile {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

/// What finds the files of a Python program. `FILES` has them by their paths, as base64.
const PYTHON: &str = r#"
import binascii, builtins, importlib.abc, importlib.machinery, io, os, sys

FILES = {name: binascii.a2b_base64(text) for name, text in FILES.items()}


class Loader(importlib.abc.SourceLoader):
    def __init__(self, path):
        self.path = path

    def get_filename(self, name):
        return self.path

    def get_data(self, path):
        if path not in FILES:
            raise OSError(path)
        return FILES[path]


class Finder(importlib.abc.MetaPathFinder):
    @staticmethod
    def find_spec(name, path=None, target=None):
        base = name.replace(".", "/")
        for place, is_package in ((base + "/__init__.py", True), (base + ".py", False)):
            if place in FILES:
                spec = importlib.machinery.ModuleSpec(name, Loader(place), origin=place, is_package=is_package)
                spec.has_location = True
                return spec
        if any(file.startswith(base + "/") for file in FILES):
            return importlib.machinery.ModuleSpec(name, None, is_package=True)
        return None


def found(file):
    if not isinstance(file, (str, os.PathLike)):
        return None
    name = os.path.normpath(os.fspath(file)).removeprefix("/")
    return FILES.get(name)


plain = io.open


def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    content = found(file) if set(mode) <= set("rbt") else None
    if content is None:
        return plain(file, mode, buffering, encoding, errors, newline, closefd, opener)
    raw = io.BytesIO(content)
    return raw if "b" in mode else io.TextIOWrapper(raw, encoding or "utf-8", errors, newline)


opened.__name__ = opened.__qualname__ = "open"
builtins.open = io.open = opened
sys.meta_path.insert(-1, Finder())
"#;

/// What finds the files of a JavaScript program, and runs its main one. `FILES` has them by their paths, as
/// base64.
const JAVASCRIPT: &str = r"
  const path = require('path'), fs = require('fs');
  const has = (name) => Object.prototype.hasOwnProperty.call(FILES, name);
  const bytes = (name) => Buffer.from(FILES[name], 'base64');
  const plainName = (name) => path.join('/', String(name)).slice(1);
  const made = Object.create(null);
  const find = (from, id) => {
    const base = plainName(id.startsWith('/') ? id : path.join(path.dirname(from), id)).replace(/\/$/, '');
    return [base, `${base}.js`, `${base}.cjs`, `${base}.json`, `${base}/index.js`].find(has);
  };
  const requireFrom = (from) => Object.assign((id) => {
    const name = /^\.{0,2}\//.test(String(id)) ? find(from, id) : undefined;
    return name === undefined ? require(id) : load(name);
  }, { cache: made, resolve: (id) => id, main: made[MAIN] });
  const load = (name) => {
    if (name in made) return made[name].exports;
    const module = { exports: {}, id: name === MAIN ? '.' : name, filename: `/${name}`, loaded: false, children: [], paths: [] };
    made[name] = module;
    if (name.endsWith('.json')) {
      module.exports = JSON.parse(bytes(name).toString('utf8'));
    } else {
      const source = bytes(name).toString('utf8').replace(/^#!/, '//');
      const run = new Function('exports', 'require', 'module', '__filename', '__dirname', source);
      Reflect.apply(run, module.exports, [module.exports, requireFrom(name), module, `/${name}`, path.dirname(`/${name}`)]);
    }
    module.loaded = true;
    return module.exports;
  };
  const read = fs.readFileSync, exists = fs.existsSync;
  const isOurs = (name) => typeof name === 'string' && has(plainName(name));
  fs.readFileSync = (name, options) => {
    if (!isOurs(name)) return read(name, options);
    const encoding = typeof options === 'string' ? options : options?.encoding;
    const content = bytes(plainName(name));
    return encoding && encoding !== 'buffer' ? content.toString(encoding) : content;
  };
  fs.existsSync = (name) => isOurs(name) || exists(name);
  load(MAIN);
";

/// A Python program of several files, the main one first.
pub(super) fn python(files: Vec<ProgramFile>) -> Result<String, ApiError> {
    let Bundle { main, source, others } = Bundle::of(files)?;
    let (finder, main, others) = (json!(PYTHON), json!(main), json!(others));
    let source = Value::String(source);
    Ok(format!(
        "exec(compile({finder}, '<files>', 'exec', dont_inherit=True), {{'FILES': {others}, '__name__': '<files>'}})\n\
         __file__ = {main}\n\
         exec(compile({source}, {main}, 'exec', dont_inherit=True))\n"
    ))
}

/// A JavaScript program of several files, the main one first.
pub(super) fn javascript(files: Vec<ProgramFile>) -> Result<String, ApiError> {
    let Bundle { main, source, mut others } = Bundle::of(files)?;
    others.insert(main.clone(), STANDARD.encode(source));
    let (main, others) = (json!(main), json!(others));
    Ok(format!("{{\n  const FILES = {others}, MAIN = {main};{JAVASCRIPT}}}\n"))
}

/// The main file, and the others as base64 by their paths.
struct Bundle {
    main: String,
    source: String,
    others: BTreeMap<String, String>,
}

impl Bundle {
    fn of(files: Vec<ProgramFile>) -> Result<Self, ApiError> {
        let mut files = files.into_iter().enumerate();
        let Some((_, first)) = files.next() else {
            return Err(ApiError::bad_request("expected a file").at("files"));
        };
        let main = path(&first.name, 0)?;
        let source = String::from_utf8(first.content);
        let source = source
            .map_err(|_| ApiError::bad_request("expected UTF-8 text").at("files[0].content"))?;
        let mut others = BTreeMap::new();
        for (at, file) in files {
            let name = path(&file.name, at)?;
            if name == main || others.contains_key(&name) {
                let message = format!("two files are called {name}");
                return Err(ApiError::bad_request(message).at(format!("files[{at}].name")));
            }
            others.insert(name, STANDARD.encode(file.content));
        }
        Ok(Self { main, source, others })
    }
}

/// The path of a file below the folder of the program.
fn path(name: &str, at: usize) -> Result<String, ApiError> {
    if name.is_empty() {
        return Ok(format!("file{at}.code"));
    }
    let refused = || {
        let message = "expected a path below the folder of the program";
        ApiError::bad_request(message).at(format!("files[{at}].name"))
    };
    let parts: Vec<&str> = name.split('/').filter(|part| *part != ".").collect();
    let is_odd = |part: &&str| part.is_empty() || *part == ".." || part.contains(['\0', '\\']);
    if name.len() > NAME_BYTES_MAX || parts.is_empty() || parts.iter().any(is_odd) {
        return Err(refused());
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> ProgramFile {
        ProgramFile { name: name.to_owned(), content: content.as_bytes().to_vec() }
    }

    #[test]
    fn names_stay_below_the_folder_of_the_program() {
        assert_eq!(path("./a/./b.py", 1).unwrap(), "a/b.py");
        assert_eq!(path("", 3).unwrap(), "file3.code");
        for odd in
            ["../a", "a/../../b", "/etc/passwd", "a//b", ".", "a\\b", "a\0", &"a".repeat(300)]
        {
            let error = path(odd, 2).unwrap_err();
            assert_eq!(error.field.as_deref(), Some("files[2].name"), "{odd}");
        }
    }

    #[test]
    fn no_file_stands_for_another() {
        for names in [["a.py", "./a.py"], ["a.py", "a.py"]] {
            let files = names.map(|name| file(name, "1"));
            let error = python(files.into()).unwrap_err();
            assert!(error.message.contains("two files are called a.py"), "{}", error.message);
        }
    }

    #[test]
    fn what_ends_a_text_ends_no_program() {
        let odd = "'''\"\"\"\\\n`${1}`</script>\u{2028}";
        let bundled = python(vec![file("a.py", odd), file("b.py", odd)]).unwrap();
        assert_eq!(bundled.lines().count(), 3, "{bundled}");
        let bundled = javascript(vec![file("a.js", odd), file("b.js", odd)]).unwrap();
        assert!(!bundled.contains(odd), "{bundled}");
    }
}
