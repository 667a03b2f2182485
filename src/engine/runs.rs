//! Run folders: what a run leaves behind, and how one that was stopped goes on.
//!
//! Order is the index: the n-th line of `verdicts.jsonl` belongs to the n-th row of the input, so
//! going on means cutting the torn tail, counting lines, and starting from there. Rename is the
//! commit for everything else.

mod check;
mod folder;
mod form;
mod inputs;
mod lock;
mod manifest;
mod merge;
mod shard_rows;
mod shard_set;
mod shards;
mod store;

pub(super) use check::to_mend;
pub use check::{check_lines, check_verdicts};
pub use folder::{RunError, RunFolder, RunStart};
pub use form::{VerdictForm, VerdictRows, verdict_rows, write_form};
pub use inputs::RunInputs;
pub use manifest::{Identity, InputFile, RunManifest, hash_file};
pub use merge::{MergeReport, MergeSpec};
pub use shards::shard_folder;
pub use store::{DiskStore, OutputFile, Store, write_atomic};

/// The verdict lines.
pub const VERDICTS: &str = "verdicts.jsonl";
/// The verdict rows as Parquet.
pub const VERDICTS_PARQUET: &str = "verdicts.parquet";
/// The timing lines.
pub const TIMINGS: &str = "timings.jsonl";
/// What the run came to.
pub const SUMMARY: &str = "summary.json";
/// What the run is.
pub const MANIFEST: &str = "manifest.json";
/// The configuration with every default filled in.
pub const CONFIG: &str = "config.resolved.json";
/// Where the training is after the run, where shapes read running moments.
pub const STATE: &str = "state.json";
/// Held by the process that writes the run.
pub const LOCK: &str = "run.lock";
