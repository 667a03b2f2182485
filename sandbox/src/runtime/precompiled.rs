//! Guests that were compiled when they were built, so that the first run of the sandbox need not.
//!
//! The compiled form is beside the guest, as `python.v3.cwasm` beside `python.wasm`, and a file in
//! the format of `sha256sum` names the digests of both. It is native code, as trusted as the program
//! itself: it is taken where nobody but its owner's group, this user or root can have written it,
//! where it belongs to this guest, and where it is whole. Anything else is as if it were not there.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use assay_verifiers::{Digest, canonical};
use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::cache_model::{instrument, instrument_component};
use super::engine::{SandboxError, portable};

/// Raised with every change of what is done to a guest before it is compiled.
pub(super) const VERSION: u8 = 3;
/// The most that a file of digests has.
const SUMS_BYTES_MAX: u64 = 1 << 12;

/// Compiles a guest for every processor of this architecture that servers have (x86-64-v3, or the
/// architecture's baseline), and writes the result beside it, unless it is there. Gives the path of the
/// compiled form.
///
/// # Errors
/// A file that cannot be read or written, and bytes that are no guest.
pub fn precompile(guest: &Path) -> Result<PathBuf, SandboxError> {
    let refused = |why: String| SandboxError::Guest { name: guest.display().to_string(), why };
    let wasm = fs::read(guest).map_err(|error| refused(error.to_string()))?;
    let engine = portable()?;
    let (path, sums) = (path_of(guest), sums_of(guest));
    let text = |compiled: Digest| {
        let mut settings = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut settings);
        let line = |path: &Path, sum: Digest| format!("{}  {}\n", canonical::hex(&sum), name(path));
        let guest = line(guest, Digest::from(Sha256::digest(&wasm)));
        format!("# settings {:016x}\n{guest}{}", settings.finish(), line(&path, compiled))
    };
    let current =
        sum_of(&path).is_some_and(|sum| read(&sums).is_some_and(|have| have == text(sum)));
    if !current {
        let compiled = compiled(&engine, &wasm).map_err(|error| refused(format!("{error:#}")))?;
        write(&path, &compiled)
            .and_then(|()| write(&sums, text(Sha256::digest(&compiled).into()).as_bytes()))
            .map_err(|error| refused(format!("{}: {error}", path.display())))?;
    }
    Ok(path)
}

fn compiled(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
    if wasmparser::Parser::is_component(wasm) {
        engine.precompile_component(instrument_component(wasm).as_deref().unwrap_or(wasm))
    } else {
        engine.precompile_module(instrument(wasm).as_deref().unwrap_or(wasm))
    }
}

/// Where the compiled form of a guest lies, and the digests of both.
pub(super) fn path_of(guest: &Path) -> PathBuf {
    guest.with_extension(format!("v{VERSION}.cwasm"))
}

fn sums_of(guest: &Path) -> PathBuf {
    guest.with_extension(format!("v{VERSION}.sha256"))
}

/// A guest, its compiled form, and the digests of both.
pub(crate) fn parts(guest: &Path) -> [PathBuf; 3] {
    [guest.to_owned(), path_of(guest), sums_of(guest)]
}

/// What the digests beside a guest say of it: its own, and that of its compiled form.
pub(super) struct Sums {
    pub(super) guest: Digest,
    pub(super) compiled: Digest,
}

impl Sums {
    /// The digests beside a guest, where there is a compiled form and both can be trusted.
    pub(super) fn beside(guest: &Path) -> Option<Self> {
        let (path, sums) = (path_of(guest), sums_of(guest));
        if !(trusted(&path) && trusted(&sums)) {
            return None;
        }
        let text = read(&sums)?;
        let sum = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once("  "));
            digest(lines.find(|(_, of)| *of == name)?.0)
        };
        Some(Self { guest: sum(&name(guest))?, compiled: sum(&name(&path))? })
    }
}

fn read(sums: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(sums).ok()?.take(SUMS_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// SHA-256 of a file.
pub(super) fn sum_of(path: &Path) -> Option<Digest> {
    let mut hasher = Sha256::new();
    let mut file = fs::File::open(path).ok()?;
    let mut chunk = vec![0; 1 << 20];
    loop {
        match file.read(&mut chunk).ok()? {
            0 => return Some(hasher.finalize().into()),
            read => hasher.update(chunk.get(..read)?),
        }
    }
}

fn digest(hex: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    if hex.len() != 2 * digest.len() || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(digest)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether this is a plain file of this user or of root that not everybody may write, in a folder of
/// the same kind.
fn trusted(path: &Path) -> bool {
    let safe = |about: &fs::Metadata| {
        let owner = about.uid();
        (owner == 0 || owner == rustix::process::geteuid().as_raw()) && about.mode() & 0o002 == 0
    };
    let file = fs::metadata(path).is_ok_and(|about| about.is_file() && safe(&about));
    file && path.parent().is_some_and(|folder| fs::metadata(folder).is_ok_and(|about| safe(&about)))
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}
