//! What a start proved of a model, kept for the next start of the same model on the same machine.

use std::fs::{self, File};
use std::io::Read as _;

use assay_verifiers::canonical;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::options::ModelOptions;
use crate::backend::Backend;
use crate::digests::{KnownDigests, VerifyDigests, stamp};

/// The most that is read of what is said of a processor, in bytes: of its first core, which is enough.
const PROCESSOR_BYTES_MAX: u64 = 1 << 14;
/// What tells one processor from another: kernels are chosen by it.
const PROCESSOR: [&str; 6] = ["vendor_id", "model name", "flags", "Features", "CPU part", "isa"];

/// Facts that were proved, by all that they depend on. There are none where something of that is unknown.
pub(super) struct Proofs<'a> {
    kept: Option<(KnownDigests<'a>, String)>,
}

impl<'a> Proofs<'a> {
    /// Facts of a backend that has loaded its graphs. Of a GPU none is kept: which one it is is not known.
    pub(super) fn new(options: &'a ModelOptions, backend: &dyn Backend) -> Self {
        let folder = options.known_digests.as_deref();
        let folder = folder.filter(|_| options.verify_digests == VerifyDigests::Once);
        let known =
            folder.filter(|_| !backend.is_accelerated()).map(|folder| KnownDigests { folder });
        let setup = || {
            let program = stamp(&fs::metadata(std::env::current_exe().ok()?).ok()?)?;
            let version = env!("CARGO_PKG_VERSION");
            Some(format!("{version} {program}\n{options:?}\n{}\n{}", backend.build(), processor()?))
        };
        Self { kept: known.and_then(|known| Some((known, setup()?))) }
    }

    /// What was found of files with these digests.
    pub(super) fn find<T: DeserializeOwned>(&self, what: &str, digests: &[[u8; 32]]) -> Option<T> {
        let (known, setup) = self.kept.as_ref()?;
        serde_json::from_str(&known.fact(&key(what, setup, digests))?).ok()
    }

    /// Keeps what was found. What cannot be written is proved again.
    pub(super) fn keep(&self, what: &str, digests: &[[u8; 32]], found: &impl Serialize) {
        let text = serde_json::to_string(found).ok();
        if let (Some((known, setup)), Some(text)) = (&self.kept, text) {
            known.keep_fact(&key(what, setup, digests), &text);
        }
    }
}

fn key(what: &str, setup: &str, digests: &[[u8; 32]]) -> [u8; 32] {
    let digests = digests.iter().map(<[u8; 32]>::as_slice);
    let parts: Vec<&[u8]> =
        [what.as_bytes(), setup.as_bytes()].into_iter().chain(digests).collect();
    canonical::digest_parts(&parts)
}

/// The processor, where the operating system says what it is.
fn processor() -> Option<String> {
    let mut bytes = Vec::new();
    File::open("/proc/cpuinfo").ok()?.take(PROCESSOR_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let first = text.split("\n\n").next()?;
    let told = |line: &&str| PROCESSOR.iter().any(|name| line.starts_with(name));
    let lines: Vec<&str> = first.lines().filter(told).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
