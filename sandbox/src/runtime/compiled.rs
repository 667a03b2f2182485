//! Compiled guests, kept between processes: compiling `CPython` takes many seconds, mapping it in
//! takes a few milliseconds.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use assay_verifiers::{Digest, canonical};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::Runtime;
use super::link::link;

/// Raised with every change of what is done to a guest before it is compiled.
const FORM: u8 = 1;

/// What is compiled.
trait Compiled: Sized {
    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self>;
    fn to_bytes(&self) -> wasmtime::Result<Vec<u8>>;
    fn map(engine: &Engine, path: &Path) -> wasmtime::Result<Self>;
}

impl Compiled for Component {
    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        match link(wasm) {
            Ok(linked) => Self::from_binary(engine, &linked),
            // Modules that cannot be joined run as they are, and slower.
            Err(_) => Self::from_binary(engine, wasm),
        }
    }

    fn to_bytes(&self) -> wasmtime::Result<Vec<u8>> {
        self.serialize()
    }

    #[expect(unsafe_code, reason = "the file is ours alone; see `own`")]
    fn map(engine: &Engine, path: &Path) -> wasmtime::Result<Self> {
        // SAFETY: `own` checked that nobody but this user can have written the file, which holds
        // what `serialize` gave. The engine refuses forms of other versions and settings.
        unsafe { Self::deserialize_file(engine, path) }
    }
}

impl Compiled for Module {
    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        Self::from_binary(engine, wasm)
    }

    fn to_bytes(&self) -> wasmtime::Result<Vec<u8>> {
        self.serialize()
    }

    #[expect(unsafe_code, reason = "the file is ours alone; see `own`")]
    fn map(engine: &Engine, path: &Path) -> wasmtime::Result<Self> {
        // SAFETY: as for components.
        unsafe { Self::deserialize_file(engine, path) }
    }
}

pub(super) fn component(
    runtime: &Runtime,
    wasm: &[u8],
    digest: &Digest,
) -> wasmtime::Result<Component> {
    load(runtime, wasm, digest)
}

pub(super) fn module(runtime: &Runtime, wasm: &[u8], digest: &Digest) -> wasmtime::Result<Module> {
    load(runtime, wasm, digest)
}

fn load<C: Compiled>(runtime: &Runtime, wasm: &[u8], digest: &Digest) -> wasmtime::Result<C> {
    let engine = runtime.engine();
    let Some(dir) = runtime.compiled() else { return C::compile(engine, wasm) };
    let path = dir.join(file_name(engine, digest));
    if own(&path)
        && let Ok(mapped) = C::map(engine, &path)
    {
        return Ok(mapped);
    }
    runtime.notice("compiling a guest; this is done once");
    let compiled = C::compile(engine, wasm)?;
    // A guest that cannot be kept is compiled again the next time.
    let _ = keep(dir, &path, &compiled.to_bytes()?);
    Ok(compiled)
}

/// Named after the guest and everything that its compiled form depends on.
fn file_name(engine: &Engine, digest: &Digest) -> PathBuf {
    let mut settings = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    FORM.hash(&mut settings);
    let name = canonical::hex(digest);
    PathBuf::from(format!("{name}-{:016x}.cwasm", settings.finish()))
}

/// Whether only this user can have written the file. Compiled code is run as it is, so a file
/// that others may write must not be taken.
fn own(path: &Path) -> bool {
    let safe = |path: &Path| {
        fs::metadata(path).is_ok_and(|about| about.uid() == user() && about.mode() & 0o022 == 0)
    };
    safe(path) && path.parent().is_some_and(safe)
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn keep(dir: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mut file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
