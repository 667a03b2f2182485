//! Masks of tokens: which parts of the completions are trained on.
//!
//! Recipes that train on a part of a completion alone are masks: the reflection between two tries
//! ("Reflect, Retry, Reward"), the steps behind the pivot of a retried trajectory, completions that
//! were not cut off (TRL 1.16, `mask_truncated_completions`).

use std::ops::Range;

use crate::error::TrainerError;
use crate::ragged::Ragged;

/// A mask of rows of these lengths, true within the spans, each of which is one of a row.
///
/// # Errors
/// A span that ends behind its row, or whose row there is not.
pub fn of_spans(
    lengths: &[usize],
    spans: impl IntoIterator<Item = (usize, Range<usize>)>,
) -> Result<Ragged<bool>, TrainerError> {
    let mut mask: Ragged<bool> = lengths.iter().map(|length| vec![false; *length]).collect();
    for (row, span) in spans {
        let length = lengths.get(row).copied().unwrap_or_default();
        let Some(tokens) = mask.row_mut(row).get_mut(span.clone()) else {
            let have = format!("{} to {} in row {row}", span.start, span.end);
            return Err(TrainerError::input("spans", have, format!("one within {length} tokens")));
        };
        tokens.fill(true);
    }
    Ok(mask)
}

/// The mask without the rows for which `leave_out` is true, such as those that were cut off.
///
/// # Errors
/// Not one of them for each row.
pub fn without_rows(mask: &Ragged<bool>, leave_out: &[bool]) -> Result<Ragged<bool>, TrainerError> {
    if mask.rows() != leave_out.len() {
        let have = format!("{} values", leave_out.len());
        return Err(TrainerError::input("rows to leave out", have, format!("{}", mask.rows())));
    }
    let rows = mask.iter().zip(leave_out);
    Ok(rows.map(|(row, out)| row.iter().map(|set| *set && !out).collect::<Vec<_>>()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_trained_on_and_cut_off_rows_are_not() {
        let mask = of_spans(&[4, 2], [(0, 1..2), (0, 3..4), (1, 0..2)]).unwrap();
        assert_eq!(mask.row(0), [false, true, false, true]);
        let kept = without_rows(&mask, &[false, true]).unwrap();
        assert_eq!((kept.row(0), kept.row(1)), (mask.row(0), &[false, false][..]));
        for wrong in [of_spans(&[4], [(1, 0..1)]), of_spans(&[1], [(0, 0..2)])] {
            assert!(matches!(wrong, Err(TrainerError::Input { .. })));
        }
        assert!(without_rows(&mask, &[true]).is_err());
    }
}
