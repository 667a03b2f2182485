//! The limits of reading: no input, however made, takes more than these.

/// What a reader takes at most. The defaults suit datasets as people publish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The longest row, in bytes of its text. A longer one is a row error and is never held whole.
    pub row_bytes_max: usize,
    /// The most values in one row: an object counts eight, because it takes as much room.
    pub row_values_max: usize,
    /// The most columns in one row.
    pub row_columns_max: usize,
    /// How many bytes may come out of a compressed stream for one that went in.
    pub inflate_ratio_max: u64,
    /// How many bytes may come out before the ratio counts.
    pub inflate_free_bytes: u64,
    /// The largest footer of a Parquet file.
    pub footer_bytes_max: u64,
    /// The largest page of a Parquet file, decompressed.
    pub page_bytes_max: u64,
    /// The largest column of one row group of a Parquet file, decompressed. Columns are read page
    /// by page, so this bounds time rather than memory.
    pub column_bytes_max: u64,
    /// The largest row group of a Parquet file, decompressed.
    pub row_group_bytes_max: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            row_bytes_max: 16 << 20,
            row_values_max: 1 << 20,
            row_columns_max: 10_000,
            inflate_ratio_max: 200,
            inflate_free_bytes: 256 << 20,
            footer_bytes_max: 64 << 20,
            page_bytes_max: 256 << 20,
            column_bytes_max: 16 << 30,
            row_group_bytes_max: 64 << 30,
        }
    }
}
