//! How a model is run.

use smart_default::SmartDefault;
use std::path::PathBuf;

use crate::digests::VerifyDigests;

/// How a model is run.
#[derive(Clone, Debug, SmartDefault)]
pub struct ModelOptions {
    /// Workers, each with a batch of its own.
    #[default(1)]
    pub workers: usize,
    /// Threads of a worker.
    #[default(1)]
    pub threads: usize,
    /// The most tokens of a batch, padding included.
    #[default(512)]
    pub batch_tokens: usize,
    /// Memory for keys and values of prompts that texts share, in bytes; 0 computes each text whole.
    #[default(256 << 20)]
    pub prefix_bytes: usize,
    /// Refuse what cannot promise the same score in any batch.
    #[default(true)]
    pub deterministic: bool,
    /// When files are held to the digests of the manifest.
    pub verify_digests: VerifyDigests,
    /// The folder in which digests of large files are kept for the next start.
    pub known_digests: Option<PathBuf>,
}
