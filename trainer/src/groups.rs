//! Which rollouts share a prompt.

#![expect(clippy::indexing_slicing, reason = "ends are of rows, and columns have a value for each")]

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::TrainerError;

/// The groups of a batch: which rows are rollouts of one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    layout: Layout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// Groups of one size, one after another.
    Even { size: usize, count: usize },
    /// Rows by group, and where each group ends among them.
    Listed { rows: Vec<usize>, ends: Vec<usize> },
}

/// The rows of one group, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members<'a> {
    /// Rows that stand one after another.
    Adjacent(Range<usize>),
    /// Rows that may stand anywhere.
    Listed(&'a [usize]),
}

impl Groups {
    /// Groups of `size` rows, one after another.
    ///
    /// # Errors
    /// A size of 0, or one that does not divide the rows.
    pub fn of_size(rows: usize, size: usize) -> Result<Self, TrainerError> {
        if size == 0 || !rows.is_multiple_of(size) {
            let have = format!("groups of {size} over {rows} rewards");
            return Err(TrainerError::input("group size", have, "a divisor of the rewards"));
        }
        Ok(Self { layout: Layout::Even { size, count: rows / size } })
    }

    /// Rows of equal keys form a group, wherever they stand. Groups are in the order of their first
    /// member.
    pub fn by_key<K: Ord>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut places: BTreeMap<K, usize> = BTreeMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (row, key) in keys.into_iter().enumerate() {
            let place = *places.entry(key).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(members) => members.push(row),
                None => groups.push(vec![row]),
            }
        }
        let ends = groups.iter().scan(0, |end, members| {
            *end += members.len();
            Some(*end)
        });
        let ends = ends.collect();
        Self { layout: Layout::Listed { rows: groups.concat(), ends } }
    }

    /// The size of the groups, where keys are in runs of one size and ascend from run to run, as
    /// `repeat(range(n), size)` has them: such groups need no list of their rows.
    pub fn even_runs(keys: &[i64]) -> Option<usize> {
        let first = *keys.first()?;
        let size = keys.iter().take_while(|key| **key == first).count();
        let mut before = None;
        let is_run = |run: &[i64]| {
            let [key, rest @ ..] = run else { return false };
            let ascends = Some(*key) > before;
            before = Some(*key);
            // Without an early end, so that the compiler compares several at once.
            ascends && rest.iter().fold(0, |differing, own| differing | (own ^ key)) == 0
        };
        let is_even = keys.len().is_multiple_of(size) && keys.chunks_exact(size).all(is_run);
        is_even.then_some(size)
    }

    /// How many rows there are in all groups.
    pub fn rows(&self) -> usize {
        match &self.layout {
            Layout::Even { size, count } => size * count,
            Layout::Listed { rows, .. } => rows.len(),
        }
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        match &self.layout {
            Layout::Even { count, .. } => *count,
            Layout::Listed { ends, .. } => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of every group, where groups of that size stand one after another.
    pub fn even_size(&self) -> Option<usize> {
        match &self.layout {
            Layout::Even { size, .. } => Some(*size),
            Layout::Listed { .. } => None,
        }
    }

    /// The rows of one group; none where there is no such group.
    pub fn members(&self, group: usize) -> Members<'_> {
        match &self.layout {
            Layout::Even { size, count } if group < *count => {
                Members::Adjacent(group * size..(group + 1) * size)
            }
            Layout::Even { .. } => Members::Adjacent(0..0),
            Layout::Listed { rows, ends } => {
                let Some(end) = ends.get(group) else { return Members::Listed(&[]) };
                let start = group.checked_sub(1).map_or(0, |before| ends[before]);
                Members::Listed(&rows[start..*end])
            }
        }
    }

    /// The groups, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Members<'_>> {
        (0..self.len()).map(|group| self.members(group))
    }

    /// Fails where there is not one value a row.
    ///
    /// # Errors
    /// `what` has another length than the rows.
    pub fn along(&self, what: &str, values: usize) -> Result<(), TrainerError> {
        if values == self.rows() {
            return Ok(());
        }
        let expected = format!("{}: one for each row of the groups", self.rows());
        Err(TrainerError::input(what, format!("{values} values"), expected))
    }
}

impl Members<'_> {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Adjacent(rows) => rows.len(),
            Self::Listed(rows) => rows.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of the member `at` among the rows.
    pub fn row(&self, at: usize) -> Option<usize> {
        match self {
            Self::Adjacent(rows) => rows.clone().nth(at),
            Self::Listed(rows) => rows.get(at).copied(),
        }
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter_map(|at| self.row(at))
    }

    /// The values of the members: in place where they stand one after another, else copied to
    /// `scratch`.
    pub fn values<'v>(&self, values: &'v [f64], scratch: &'v mut Vec<f64>) -> &'v [f64] {
        match self {
            Self::Adjacent(rows) => &values[rows.clone()],
            Self::Listed(rows) => {
                scratch.clear();
                scratch.extend(rows.iter().map(|row| values[*row]));
                scratch
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_key_are_a_group_wherever_they_stand() {
        let groups = Groups::by_key(["b", "a", "b", "c", "a"]);
        let members: Vec<Vec<usize>> = groups.iter().map(|group| group.rows().collect()).collect();
        assert_eq!(members, [vec![0, 2], vec![1, 4], vec![3]]);
        assert_eq!((groups.rows(), groups.len(), groups.even_size()), (5, 3, None));
        let mut scratch = Vec::new();
        let values = groups.members(1).values(&[0.0, 1.0, 2.0, 3.0, 4.0], &mut scratch).to_vec();
        assert_eq!(values, [1.0, 4.0]);
        assert!(groups.members(3).is_empty());
    }

    #[test]
    fn runs_of_one_size_are_seen() {
        let runs = Groups::even_runs;
        assert_eq!(runs(&[-3, -3, 0, 0, 9, 9]), Some(2));
        assert_eq!((runs(&[1, 2, 3]), runs(&[4, 4]), runs(&[])), (Some(1), Some(2), None));
        for uneven in
            [&[0, 0, 1][..], &[0, 0, 1, 2], &[1, 1, 0, 0], &[0, 0, 1, 1, 0, 0], &[0, 1, 0, 1]]
        {
            assert_eq!(runs(uneven), None, "{uneven:?}");
        }
    }

    #[test]
    fn groups_of_one_size_stand_one_after_another() {
        let groups = Groups::of_size(6, 3).unwrap();
        assert_eq!(groups.members(1).rows().collect::<Vec<_>>(), [3, 4, 5]);
        assert!(groups.members(2).is_empty());
        assert_eq!(Groups::of_size(0, 3).unwrap().len(), 0);
        for (rows, size) in [(6, 0), (6, 4)] {
            assert!(matches!(Groups::of_size(rows, size), Err(TrainerError::Input { .. })));
        }
    }
}
