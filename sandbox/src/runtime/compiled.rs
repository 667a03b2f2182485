//! Compiled guests, kept between processes: compiling `CPython` takes many seconds, mapping it in
//! takes a few milliseconds.
//!
//! `wasmtime::Cache` would not serve: it takes a file whoever wrote it, reads and hashes the whole
//! guest in each process, decompresses the compiled form instead of mapping it, and has a thread
//! that deletes entries by their age.
//!
//! A compiled form that is beside its guest is taken first: see [`precompiled`].

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use assay_verifiers::{Digest, canonical};
use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::cache_model::{instrument, instrument_component};
use super::code_bounds;
use super::engine::Runtime;
use super::precompiled::{self, Sums, VERSION};

/// How one kind of guest is compiled and kept.
pub(super) struct Form<C> {
    compile: fn(&Engine, &[u8]) -> wasmtime::Result<C>,
    serialize: fn(&C) -> wasmtime::Result<Vec<u8>>,
    map: fn(&Engine, &Path) -> wasmtime::Result<C>,
}

// SAFETY of both kinds: `own` checked that nobody but this user can have written the file, which
// holds what `serialize` gave; or `Sums` that it is the one that was built with its guest. The engine
// refuses forms of other versions and settings.
#[expect(unsafe_code, reason = "the file is ours alone; see `own` and `Sums`")]
pub(super) const COMPONENT: Form<Component> = Form {
    compile: |engine, wasm| Component::from_binary(engine, &counted(wasm, instrument_component)?),
    serialize: Component::serialize,
    map: |engine, path| unsafe { Component::deserialize_file(engine, path) },
};
#[expect(unsafe_code, reason = "the file is ours alone; see `own` and `Sums`")]
pub(super) const MODULE: Form<Module> = Form {
    compile: |engine, wasm| Module::from_binary(engine, &counted(wasm, instrument)?),
    serialize: Module::serialize,
    map: |engine, path| unsafe { Module::deserialize_file(engine, path) },
};

/// A guest with its accesses to memory counted, where it can be.
fn counted(
    wasm: &[u8],
    instrument: fn(&[u8]) -> Option<Vec<u8>>,
) -> wasmtime::Result<Cow<'_, [u8]>> {
    let Some(counted) = instrument(wasm) else { return Ok(Cow::Borrowed(wasm)) };
    bounded(&counted)?;
    Ok(Cow::Owned(counted))
}

/// Refuses code that would take too long to compile.
fn bounded(wasm: &[u8]) -> wasmtime::Result<()> {
    code_bounds::check(wasm).map_err(wasmtime::Error::msg)
}

/// The guest of a file and its digest. The file is not read where its compiled form is kept and it
/// has not changed.
pub(super) fn open<C>(
    form: &Form<C>,
    runtime: &Runtime,
    guest: &Path,
) -> wasmtime::Result<(C, Digest)> {
    let path = precompiled::path_of(guest);
    let sums = Sums::beside(guest);
    let beside = |digest: &Digest, whole: bool| {
        let ours = whole && sums.as_ref().is_some_and(|sums| sums.guest == *digest);
        ours.then(|| (form.map)(runtime.engine(), &path).ok()).flatten()
    };
    if let Some(digest) = remembered(runtime, guest) {
        let known = remembered(runtime, &path);
        let whole = sums.as_ref().is_some_and(|sums| known == Some(sums.compiled));
        if let Some(guest) = beside(&digest, whole).or_else(|| kept(form, runtime, &digest)) {
            return Ok((guest, digest));
        }
    }
    // Taken first: a file that changes while it is read is read again the next time.
    let state = file_state(guest);
    let (wasm, whole) = std::thread::scope(|scope| {
        // Two large files, each on a core of its own.
        let whole = sums.as_ref().map(|sums| scope.spawn(|| is_whole(runtime, &path, sums)));
        let wasm = fs::read(guest).map(|wasm| (Digest::from(Sha256::digest(&wasm)), wasm));
        (wasm, whole.is_some_and(|whole| whole.join().unwrap_or(false)))
    });
    let (digest, wasm) = wasm.map_err(wasmtime::Error::new)?;
    let compiled = match beside(&digest, whole) {
        Some(compiled) => compiled,
        None => load(form, runtime, &wasm, &digest)?,
    };
    remember(runtime, guest, state, &digest);
    Ok((compiled, digest))
}

/// Whether the compiled form beside a guest is the one that its digest names. That is remembered.
fn is_whole(runtime: &Runtime, path: &Path, sums: &Sums) -> bool {
    let state = file_state(path);
    let whole = precompiled::sum_of(path).is_some_and(|sum| sum == sums.compiled);
    if whole {
        remember(runtime, path, state, &sums.compiled);
    }
    whole
}

/// The compiled form of a guest, where it is kept already.
fn kept<C>(form: &Form<C>, runtime: &Runtime, digest: &Digest) -> Option<C> {
    let engine = runtime.engine();
    mapped(form, engine, &runtime.compiled()?.join(file_name(engine, digest)))
}

/// The digest of a file that has not changed since [`remember`] was called.
fn remembered(runtime: &Runtime, path: &Path) -> Option<Digest> {
    let note = runtime.compiled()?.join(note_name(path));
    let bytes = own(&note).then(|| fs::read(&note).ok())??;
    let (digest, state) = bytes.split_first_chunk()?;
    (state == file_state(path)?.as_bytes()).then_some(*digest)
}

/// Keeps the digest of a file that was in this state when it was read, so that the next process
/// need not read it.
fn remember(runtime: &Runtime, path: &Path, state: Option<String>, digest: &Digest) {
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
fn file_state(path: &Path) -> Option<String> {
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

/// The compiled form of these bytes: from where the runtime keeps them, else it is compiled.
pub(super) fn load<C>(
    form: &Form<C>,
    runtime: &Runtime,
    wasm: &[u8],
    digest: &Digest,
) -> wasmtime::Result<C> {
    // Also where it is kept, so that no machine takes what another refuses.
    bounded(wasm)?;
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
        assert!(kept(&COMPONENT, &runtime, &first).is_some());
        assert_eq!(Guest::open(&runtime, "guest", &path).unwrap().digest(), first);

        fs::write(&path, guest("two")).unwrap();
        assert_eq!(remembered(&runtime, &path), None);
        let second = Guest::open(&runtime, "guest", &path).unwrap().digest();
        assert_ne!(second, first);
        assert_eq!(remembered(&runtime, &path), Some(second));
        assert!(Guest::open(&runtime, "guest", &folder.path().join("none")).is_err());
    }

    /// A runtime that counts what it compiles, in a folder of its own.
    fn counting(folder: &Path) -> (Runtime, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
        let compiled = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = compiled.clone();
        let notice: super::super::CompileNotice = std::sync::Arc::new(move |_: &str| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        let options = Options {
            compiled: Some(folder.to_owned()),
            notice: Some(notice),
            ..Options::default()
        };
        (Runtime::new(&options).unwrap(), compiled)
    }

    #[test]
    fn a_form_compiled_ahead_is_taken_where_it_is_whole_ours_and_of_this_guest() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("guest.wasm");
        let ahead = precompiled::path_of(&path);
        let sums = folder.path().join(format!("guest.v{VERSION}.sha256"));
        // How often the guest is compiled by two openings in a row, with a cache of its own.
        let compiled = |case: &str| {
            let (runtime, count) = counting(&folder.path().join(case));
            for _ in 0..2 {
                let digest = Guest::open(&runtime, "guest", &path).unwrap().digest();
                assert_eq!(
                    digest,
                    Digest::from(Sha256::digest(fs::read(&path).unwrap())),
                    "{case}"
                );
            }
            count.load(std::sync::atomic::Ordering::Relaxed)
        };
        fs::write(&path, guest("one")).unwrap();
        assert_eq!(compiled("nothing ahead"), 1);
        assert_eq!(super::super::precompile(&path).unwrap(), ahead);
        assert_eq!(compiled("ahead"), 0);

        let (whole, names) = (fs::read(&ahead).unwrap(), fs::read(&sums).unwrap());
        let states = |path: &Path| fs::metadata(path).unwrap().ino();
        let before = states(&ahead);
        super::super::precompile(&path).unwrap();
        assert_eq!(states(&ahead), before, "what is there is not compiled again");

        let mut bent = whole.clone();
        *bent.last_mut().unwrap() ^= 1;
        for (case, bytes) in [("bent", &bent), ("cut", &whole[..whole.len() / 2].to_vec())] {
            fs::write(&ahead, bytes).unwrap();
            assert_eq!(compiled(case), 1, "{case}");
        }
        fs::write(&ahead, &whole).unwrap();
        for text in ["", "garbage\n", "zz  guest.wasm\nzz  guest.v3.cwasm\n"] {
            fs::write(&sums, text).unwrap();
            assert_eq!(compiled(&format!("sums {text:?}").replace('/', "")), 1, "{text}");
        }
        fs::write(&sums, &names).unwrap();
        assert_eq!(compiled("mended"), 0);
        fs::set_permissions(&ahead, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(compiled("anybody may write it"), 1);
        fs::set_permissions(&ahead, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&path, guest("two")).unwrap();
        assert_eq!(compiled("another guest"), 1);
        super::super::precompile(&path).unwrap();
        assert_eq!(compiled("the other guest ahead"), 0);
    }
}
