//! A language whose interpreter the user brings: a `wasm32-wasi` command that is handed the
//! program.

use assay_verifiers::code::Code;
use assay_verifiers::prelude::*;

use super::ready::{Ready, Unready};
use crate::runtime::{Program, Runtime};

/// An interpreter of yours, and how it is handed a program. It sees no files, so the program is an
/// argument, or it is before the input.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// The module, in the binary form or as text: a `wasm32-wasi` command.
    pub file: String,
    /// How the language is named on the blocks of an answer, such as `lua`.
    pub tags: Vec<String>,
    /// Its arguments beyond its own name. `{source}` stands for the program; where none does, the
    /// program comes by standard input, before the input and `separator`.
    #[serde(default)]
    pub args: Vec<String>,
    /// What ends a program that comes by standard input. A NUL where nothing is said; a program
    /// that holds it is none.
    #[serde(default = "nul")]
    pub separator: String,
}

/// The placeholder of the program among the arguments.
const SOURCE: &str = "{source}";

fn nul() -> String {
    "\0".to_owned()
}

/// The interpreter, once it is loaded.
pub(crate) struct Interpreter {
    module: Module,
    runtime: Runtime,
    program: Option<Program>,
}

impl Interpreter {
    pub(crate) fn new(module: Module, runtime: Runtime) -> Self {
        Self { module, runtime, program: None }
    }

    /// Compiles the module. `setting` names where its settings are.
    pub(crate) fn load(&mut self, files: &dyn Files, setting: &str) -> Result<(), BuildError> {
        let refused = |key: &str, why: String| BuildError::new(format!("{setting}.{key}"), why);
        let Module { file, tags, separator, .. } = &self.module;
        if tags.iter().all(|tag| tag.trim().is_empty()) {
            let why = "expected how the language is named on blocks, such as \"lua\"";
            return Err(refused("tags", why.to_owned()));
        }
        if separator.is_empty() {
            return Err(refused("separator", "expected at least one character".to_owned()));
        }
        let in_file = |why| refused("file", why);
        let bytes = files.read(file).map_err(|why| in_file(why).code(Code::UnreadableFile))?;
        let wasm = binary(file, &bytes).map_err(in_file)?;
        let program = Program::load(&self.runtime, file, &wasm);
        self.program = Some(program.map_err(|error| in_file(error.to_string()))?);
        Ok(())
    }

    /// A source with the interpreter before it.
    pub(crate) fn ready(&self, source: &str) -> Result<Ready<'static>, Unready> {
        let unset = || Unready::Fault(Fault::internal("the interpreter was not loaded"));
        let program = self.program.clone().ok_or_else(unset)?;
        let Module { file, args, separator, .. } = &self.module;
        let by_argument = args.iter().any(|arg| arg.contains(SOURCE));
        let end = if by_argument { "\0" } else { separator };
        if source.contains(end) {
            let why = format!("the program holds {end:?}, which ends it");
            return Err(Unready::Refused("no-program", why));
        }
        let args = args.iter().map(|arg| arg.replace(SOURCE, source));
        let args = std::iter::once(file.clone()).chain(args).collect();
        let head = if by_argument { String::new() } else { format!("{source}{separator}") };
        Ok(Ready::Program { program, args, head: head.into_bytes() })
    }
}

/// The longest text of WebAssembly, in bytes: reading one takes twenty times its size.
const TEXT_BYTES_MAX: usize = 2 << 20;

/// WebAssembly in its binary form, from either form.
pub(crate) fn binary(name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    if bytes.len() > TEXT_BYTES_MAX && !bytes.starts_with(b"\0asm") {
        let found = bytes.len();
        return Err(format!(
            "file \"{name}\": a text of {found} bytes; at most {TEXT_BYTES_MAX} are read: give the binary form"
        ));
    }
    let wasm = wat::parse_bytes(bytes).map_err(|error| format!("file \"{name}\": {error}"))?;
    Ok(wasm.into_owned())
}

#[cfg(test)]
mod tests {
    use assay_verifiers::Meter;

    use super::*;
    use crate::Sandbox;
    use crate::runtime::Limits;

    struct Text(&'static str);

    impl Files for Text {
        fn read(&self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    fn loaded(text: &'static str, settings: &str) -> Result<Interpreter, BuildError> {
        let module: Module = toml::from_str(settings).unwrap();
        let runtime = Sandbox::default().serial_runtime().unwrap();
        let mut interpreter = Interpreter::new(module, runtime);
        interpreter.load(&Text(text), "language.wasm").map(|()| interpreter)
    }

    const LUA: &str = "file = 'lua.wat'\ntags = ['lua']\n";

    #[test]
    fn a_module_in_the_text_form_runs() {
        let exit = r#"(module
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (func (export "_start") (call $exit (i32.const 3))))"#;
        let interpreter = loaded(exit, LUA).unwrap();
        let Ok(ready) = interpreter.ready("x") else { panic!("refused") };
        assert_eq!(ready.run("", &Limits::default(), &Meter::default()).end, Ok(3));
    }

    #[test]
    fn what_is_no_command_is_refused_at_its_setting() {
        for text in ["(module (import \"env\" \"f\" (func)))", "(component)", "garbage"] {
            let error = loaded(text, LUA).err().unwrap();
            assert_eq!(error.setting, "language.wasm.file", "{text}: {error}");
        }
        let settings = [("file = ''\ntags = [' ']", "tags"), ("separator = ''", "separator")];
        for (settings, key) in settings {
            let settings =
                if key == "tags" { settings.to_owned() } else { format!("{LUA}{settings}") };
            let error = loaded("(module)", &settings).err().unwrap();
            assert_eq!(error.setting, format!("language.wasm.{key}"), "{error}");
        }
    }

    fn handed(settings: &str, source: &str) -> Option<(Vec<String>, String)> {
        let command = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
        match loaded(command, &format!("{LUA}{settings}")).unwrap().ready(source) {
            Ok(Ready::Program { args, head, .. }) => Some((args, String::from_utf8(head).unwrap())),
            _ => None,
        }
    }

    #[test]
    fn a_program_is_an_argument_or_stands_before_the_input() {
        let texts = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>();
        let argument = handed("args = ['-e', 'x={source}']", "1").unwrap();
        assert_eq!(argument, (texts(&["lua.wat", "-e", "x=1"]), String::new()));
        assert_eq!(handed("", "1").unwrap(), (texts(&["lua.wat"]), "1\0".to_owned()));
        assert_eq!(handed("separator = '!'", "1").unwrap().1, "1!");
    }

    #[test]
    fn a_program_that_ends_itself_is_none() {
        assert_eq!(handed("args = ['-e', '{source}']", "1\0"), None);
        assert_eq!(handed("separator = '!'", "1!2"), None);
    }
}
