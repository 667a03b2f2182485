//! Compiled guests, kept between processes: compiling `CPython` takes many seconds, mapping it in
//! takes a few milliseconds.
//!
//! `wasmtime::Cache` would not serve: it takes a file whoever wrote it, reads and hashes the whole
//! guest in each process, decompresses the compiled form instead of mapping it, and has a thread
//! that deletes entries by their age.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use assay_verifiers::{Digest, canonical};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::cache_model::{instrument, instrument_component};
use super::engine::Runtime;

/// Raised with every change of what is done to a guest before it is compiled.
const VERSION: u8 = 3;

/// How one kind of guest is compiled and kept.
struct Form<C> {
    compile: fn(&Engine, &[u8]) -> wasmtime::Result<C>,
    serialize: fn(&C) -> wasmtime::Result<Vec<u8>>,
    map: fn(&Engine, &Path) -> wasmtime::Result<C>,
}

// SAFETY of both kinds: `own` checked that nobody but this user can have written the file, which
// holds what `serialize` gave. The engine refuses forms of other versions and settings.
#[expect(unsafe_code, reason = "the file is ours alone; see `own`")]
const COMPONENT: Form<Component> = Form {
    compile: |engine, wasm| {
        Component::from_binary(engine, instrument_component(wasm).as_deref().unwrap_or(wasm))
    },
    serialize: Component::serialize,
    map: |engine, path| unsafe { Component::deserialize_file(engine, path) },
};
#[expect(unsafe_code, reason = "the file is ours alone; see `own`")]
const MODULE: Form<Module> = Form {
    compile: |engine, wasm| {
        Module::from_binary(engine, instrument(wasm).as_deref().unwrap_or(wasm))
    },
    serialize: Module::serialize,
    map: |engine, path| unsafe { Module::deserialize_file(engine, path) },
};

pub(super) fn component(
    runtime: &Runtime,
    wasm: &[u8],
    digest: &Digest,
) -> wasmtime::Result<Component> {
    load(&COMPONENT, runtime, wasm, digest)
}

pub(super) fn module(runtime: &Runtime, wasm: &[u8], digest: &Digest) -> wasmtime::Result<Module> {
    load(&MODULE, runtime, wasm, digest)
}

/// The compiled form of a component, where it is kept already.
pub(super) fn kept(runtime: &Runtime, digest: &Digest) -> Option<Component> {
    let engine = runtime.engine();
    mapped(&COMPONENT, engine, &runtime.compiled()?.join(file_name(engine, digest)))
}

/// The digest of a file that has not changed since [`remember`] was called.
pub(super) fn remembered(runtime: &Runtime, path: &Path) -> Option<Digest> {
    let note = runtime.compiled()?.join(note_name(path));
    let bytes = own(&note).then(|| fs::read(&note).ok())??;
    let (digest, state) = bytes.split_first_chunk()?;
    (state == file_state(path)?.as_bytes()).then_some(*digest)
}

/// Keeps the digest of a file that was in this state when it was read, so that the next process
/// need not read it.
pub(super) fn remember(runtime: &Runtime, path: &Path, state: Option<String>, digest: &Digest) {
    if let (Some(dir), Some(state)) = (runtime.compiled(), state) {
        let note = [digest.as_slice(), state.as_bytes()].concat();
        let _ = keep(dir, &dir.join(note_name(path)), &note);
    }
}

fn note_name(path: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    PathBuf::from(format!("{:016x}.digest", hasher.finish()))
}

/// Changes with every change of the file.
pub(super) fn file_state(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let about = fs::metadata(&path).ok()?;
    Some(format!(
        "{}:{} {} bytes {}.{} {}.{} {}",
        about.dev(),
        about.ino(),
        about.len(),
        about.mtime(),
        about.mtime_nsec(),
        about.ctime(),
        about.ctime_nsec(),
        path.display()
    ))
}

fn mapped<C>(form: &Form<C>, engine: &Engine, path: &Path) -> Option<C> {
    own(path).then(|| (form.map)(engine, path).ok())?
}

fn load<C>(form: &Form<C>, runtime: &Runtime, wasm: &[u8], digest: &Digest) -> wasmtime::Result<C> {
    let engine = runtime.engine();
    let Some(dir) = runtime.compiled() else { return (form.compile)(engine, wasm) };
    let path = dir.join(file_name(engine, digest));
    if let Some(mapped) = mapped(form, engine, &path) {
        return Ok(mapped);
    }
    let megabytes = wasm.len() >> 20;
    runtime.notice(&format!(
        "compiling a guest of {megabytes} MiB, once: the largest takes about 12 s of one core"
    ));
    let compiled = (form.compile)(engine, wasm)?;
    // A guest that cannot be kept is compiled again the next time.
    let _ = keep(dir, &path, &(form.serialize)(&compiled)?);
    Ok(compiled)
}

/// Named after the guest and everything that its compiled form depends on.
fn file_name(engine: &Engine, digest: &Digest) -> PathBuf {
    let mut settings = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    VERSION.hash(&mut settings);
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes files that nobody else reads")]
mod tests {
    use super::super::{Guest, Options};
    use super::*;

    /// Starts and does nothing; `name` makes it another guest.
    fn guest(name: &str) -> Vec<u8> {
        wat::parse_str(format!(
            r#"(component ${name} (core module $m (memory (export "memory") 1)) (core instance (instantiate $m)))"#
        ))
        .unwrap()
    }

    #[test]
    fn a_file_that_has_not_changed_is_not_read_and_one_that_has_is() {
        let folder = tempfile::tempdir().unwrap();
        let compiled = folder.path().join("compiled");
        let runtime =
            Runtime::new(&Options { compiled: Some(compiled.clone()), ..Options::default() });
        let runtime = runtime.unwrap();
        let path = folder.path().join("guest.wasm");
        fs::write(&path, guest("one")).unwrap();
        assert_eq!(remembered(&runtime, &path), None);
        let first = Guest::open(&runtime, "guest", &path).unwrap().digest();
        assert_eq!(remembered(&runtime, &path), Some(first));
        assert!(kept(&runtime, &first).is_some());
        assert_eq!(Guest::open(&runtime, "guest", &path).unwrap().digest(), first);

        fs::write(&path, guest("two")).unwrap();
        assert_eq!(remembered(&runtime, &path), None);
        let second = Guest::open(&runtime, "guest", &path).unwrap().digest();
        assert_ne!(second, first);
        assert_eq!(remembered(&runtime, &path), Some(second));
        assert!(Guest::open(&runtime, "guest", &folder.path().join("none")).is_err());
    }
}
