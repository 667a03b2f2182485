//! How a model is run.

use std::path::PathBuf;

use crate::digests::VerifyDigests;

/// How a model is run.
#[derive(Clone, Debug)]
pub struct ModelOptions {
    /// Workers, each with a batch of its own.
    pub workers: usize,
    /// Threads of a worker.
    pub threads: usize,
    /// The most tokens of a batch, padding included.
    pub batch_tokens: usize,
    /// Memory for keys and values of prompts that texts share, in bytes; 0 computes each text whole.
    pub prefix_bytes: usize,
    /// Refuse what cannot promise the same score in any batch.
    pub deterministic: bool,
    /// When files are held to the digests of the manifest.
    pub verify_digests: VerifyDigests,
    /// The folder in which digests of large files are kept for the next start.
    pub known_digests: Option<PathBuf>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            workers: 1,
            threads: 1,
            batch_tokens: 512,
            prefix_bytes: 256 << 20,
            deterministic: true,
            verify_digests: VerifyDigests::default(),
            known_digests: None,
        }
    }
}
