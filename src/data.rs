//! Datasets in, verdicts out.
//!
//! A [`Source`] reads JSON lines (plain, gzip or zstd), Parquet, Hugging Face dataset folders and
//! standard input, and cuts them into [`Block`]s. Cutting is cheap and stays on one thread; a block
//! is parsed by whichever thread calls [`Block::rows`]. The same rows give the same samples from
//! every format: members of objects that are null are as good as missing, and are dropped.
//!
//! A row that cannot be read is a [`RowError`] in its place, and reading goes on. A file that
//! cannot be read is a [`DataError`], which comes after the rows before the damage.

mod bytes;
mod cells;
mod columns;
mod error;
mod export;
mod inputs;
mod json;
mod limits;
mod lines;
mod pages;
mod row;
mod source;
mod table;

pub use columns::Columns;
pub use error::{DataError, Place, RowError, escape};
pub use export::{ParquetWriter, VerdictReader, VerdictRow};
pub use limits::Limits;
pub use source::{Block, Row, Source};
