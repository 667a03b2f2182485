//! The largest suite.

use super::error::SuiteError;

/// Cases in one suite.
pub const CASES_MAX: usize = 10_000;
/// Bytes of text in one suite.
pub const BYTES_MAX: usize = 64 << 20;
/// Values (numbers, texts, lists and so on) in one suite.
pub const VALUES_MAX: usize = 2_000_000;
/// Lists and objects within each other.
pub const DEPTH_MAX: usize = 128;
/// Digits of one integer.
pub const DIGITS_MAX: usize = 10_000;

/// Refuses more than [`CASES_MAX`].
pub(super) fn at_most(key: &str, what: &'static str, found: usize) -> Result<(), SuiteError> {
    if found > CASES_MAX {
        let key = key.to_owned();
        return Err(SuiteError::TooMuch { key, what, found, limit: CASES_MAX });
    }
    Ok(())
}
