//! Datasets in, verdicts out.
//!
//! A [`Source`] reads JSON lines and lists (plain, gzip or zstd), Parquet, Hugging Face dataset folders and
//! standard input, and cuts them into [`Block`]s. Cutting is cheap and stays on one thread; a block
//! is parsed by whichever thread calls [`Block::rows`]. The same rows give the same samples from
//! every format: members of objects that are null are as good as missing, and are dropped.
//!
//! Columns in memory, of Arrow, are read too: `Block::of_batch`. What came of rows is columns again:
//! `VerdictColumns`, which Parquet files of verdicts have.
//!
//! A row that cannot be read is a [`RowError`] in its place, and reading goes on. A file that
//! cannot be read is a [`DataError`], which comes after the rows before the damage.

mod bytes;
#[cfg(feature = "parquet")]
mod cells;
mod columns;
#[cfg(feature = "parquet")]
mod cut;
mod elements;
mod error;
#[cfg(feature = "parquet")]
mod export;
mod found_columns;
mod hints;
mod inputs;
mod json;
mod kinds;
mod limits;
mod lines;
mod logs;
mod near;
#[cfg(not(feature = "parquet"))]
mod no_parquet;
#[cfg(feature = "parquet")]
mod pages;
mod presence;
mod presets;
mod regular;
mod row;
#[cfg(feature = "parquet")]
mod scalars;
mod source;
mod streams;
#[cfg(feature = "parquet")]
mod table;
mod unpack;
#[cfg(feature = "parquet")]
mod verdict_columns;

#[cfg(not(feature = "parquet"))]
use no_parquet::{cells, export, table};

pub use columns::Columns;
pub use error::{DataError, Defect, Place, RowError, escape};
pub use export::{ParquetWriter, TableWriter};
pub use found_columns::{CellMembers, CellType, FoundColumns};
pub use inputs::skipped;
pub use json::Line;
#[cfg(feature = "serve")]
pub(crate) use kinds::BOM;
pub use limits::ReadLimits;
#[cfg(feature = "serve")]
pub(crate) use logs::items;
pub use near::nearest;
pub use presence::Checked;
pub use presets::{Preset, PresetFile, PresetRow};
pub use regular::{is_stream, open_once, open_regular, read_regular};
pub use row::{RowReader, check_exact};
pub use source::{Block, Row, Source};
pub use streams::StreamNotes;
#[cfg(feature = "parquet")]
pub use verdict_columns::VerdictColumns;
