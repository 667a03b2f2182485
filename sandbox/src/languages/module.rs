//! Any program that was compiled to WASI: a `wasm32-wasi` command that the user brings.

use assay_verifiers::{BuildError, Digest, Files};

use crate::Sandbox;
use crate::runtime::{Program, Run, Start, Stop};

/// A command of the user's. Cheap to clone.
#[derive(Clone)]
pub struct Module(Program);

impl Module {
    /// Compiles the module that the setting called `setting` names. It may be in the text form.
    ///
    /// # Errors
    /// A file that cannot be read, or is no module with `_start` that asks for WASI alone.
    pub fn new(
        sandbox: &Sandbox,
        files: &dyn Files,
        setting: &str,
        path: &str,
    ) -> Result<Self, BuildError> {
        let refused = |why: String| BuildError::new(setting, why);
        let bytes = files.read(path).map_err(refused)?;
        let wasm = binary(path, &bytes).map_err(refused)?;
        let program = Program::load(&sandbox.runtime()?, path, &wasm);
        program.map(Self).map_err(|error| refused(error.to_string()))
    }

    /// SHA-256 of the module.
    pub fn digest(&self) -> Digest {
        self.0.digest()
    }

    /// Runs the module in a fresh instance. The first argument is the name of the program.
    ///
    /// # Errors
    /// [`Stop::Internal`] where it could not be started at all.
    pub async fn run(&self, start: Start) -> Result<Run, Stop> {
        let args = std::iter::once("module".to_owned()).chain(start.args).collect();
        self.0.run(Start { args, ..start }).await
    }
}

/// WebAssembly in its binary form, from either form.
pub(crate) fn binary(name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let wasm = wat::parse_bytes(bytes).map_err(|error| format!("file \"{name}\": {error}"))?;
    Ok(wasm.into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::runtime::drive;

    struct Text(&'static str);

    impl Files for Text {
        fn read(&self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    fn module(text: &'static str) -> Result<Module, BuildError> {
        Module::new(&Arc::new(Sandbox::default()), &Text(text), "path", "m.wat")
    }

    #[test]
    fn a_module_in_the_text_form_runs() {
        let exit = r#"(module
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1)
            (func (export "_start") (call $exit (i32.const 3))))"#;
        let run = drive(module(exit).unwrap().run(Start::default()), &mut || false).unwrap();
        assert_eq!(run.end, Ok(3));
    }

    #[test]
    fn what_is_no_command_is_refused_at_its_setting() {
        for text in ["(module (import \"env\" \"f\" (func)))", "(component)", "garbage"] {
            let error = module(text).err().unwrap();
            assert_eq!(error.setting, "path", "{text}: {error}");
        }
    }
}
