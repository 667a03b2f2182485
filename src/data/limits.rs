//! The limits of reading: no input, however made, takes more than these.

use smart_default::SmartDefault;

/// What a reader takes at most. The defaults suit datasets as people publish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, SmartDefault)]
pub struct ReadLimits {
    /// The longest row, in bytes of its text. A longer one is a row error and is never held whole.
    #[default(16 << 20)]
    pub row_bytes_max: usize,
    /// The most values in one row: an object counts eight, because it takes as much room.
    #[default(1 << 20)]
    pub row_values_max: usize,
    /// The most columns in one row.
    #[default(10_000)]
    pub row_columns_max: usize,
    /// How many bytes may come out of a compressed stream for one that went in.
    #[default(200)]
    pub inflate_ratio_max: u64,
    /// How many bytes may come out before the ratio counts.
    #[default(256 << 20)]
    pub inflate_free_bytes: u64,
    /// The largest footer of a Parquet file.
    #[default(64 << 20)]
    pub footer_bytes_max: u64,
    /// The largest page of a Parquet file, decompressed.
    #[default(256 << 20)]
    pub page_bytes_max: u64,
    /// The largest column of one row group of a Parquet file, decompressed. Columns are read page
    /// by page, so this bounds time rather than memory.
    #[default(16 << 30)]
    pub column_bytes_max: u64,
    /// The largest row group of a Parquet file, decompressed.
    #[default(64 << 30)]
    pub row_group_bytes_max: u64,
}
