//! Rows of different lengths in one piece of memory: a number for each token of each rollout.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Rows of different lengths. As JSON: a list of lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ragged<T> {
    values: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Ragged<T> {
    /// No rows yet.
    pub fn new() -> Self {
        Self { values: Vec::new(), ends: Vec::new() }
    }

    /// Rows of these lengths over values that lie one after another; `None` where the lengths do not
    /// add up to the values.
    pub fn from_parts(values: Vec<T>, lengths: impl IntoIterator<Item = usize>) -> Option<Self> {
        let mut end = 0_usize;
        let mut ends = Vec::new();
        for length in lengths {
            end = end.checked_add(length)?;
            ends.push(end);
        }
        (end == values.len()).then_some(Self { values, ends })
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.values.extend(row);
        self.ends.push(self.values.len());
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// One row; empty where there is none.
    pub fn row(&self, at: usize) -> &[T] {
        self.span(at).and_then(|span| self.values.get(span)).unwrap_or_default()
    }

    /// One row, to write to; empty where there is none.
    pub fn row_mut(&mut self, at: usize) -> &mut [T] {
        self.span(at).and_then(|span| self.values.get_mut(span)).unwrap_or_default()
    }

    /// The rows, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.rows()).map(|at| self.row(at))
    }

    /// The values of all rows, one row after another.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The same, to write to.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The lengths of the rows.
    pub fn lengths(&self) -> impl ExactSizeIterator<Item = usize> {
        self.iter().map(<[T]>::len)
    }

    /// Whether the rows have the same lengths as those of `other`.
    pub fn is_along<U>(&self, other: &Ragged<U>) -> bool {
        self.ends == other.ends
    }

    /// Rows of the same lengths with other values.
    pub fn map<U>(&self, value: impl FnMut(&T) -> U) -> Ragged<U> {
        Ragged { values: self.values.iter().map(value).collect(), ends: self.ends.clone() }
    }

    fn span(&self, at: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        Some(start.unwrap_or(0)..end)
    }
}

impl<T, Row: IntoIterator<Item = T>> FromIterator<Row> for Ragged<T> {
    fn from_iter<Rows: IntoIterator<Item = Row>>(rows: Rows) -> Self {
        let mut ragged = Self::new();
        for row in rows {
            ragged.push(row);
        }
        ragged
    }
}

impl<T: Serialize> Serialize for Ragged<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ragged<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Vec<T>>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_one_after_another() {
        let ragged: Ragged<u8> = [vec![1, 2], vec![], vec![3]].into_iter().collect();
        assert_eq!((ragged.rows(), ragged.row(0), ragged.row(1)), (3, &[1, 2][..], &[][..]));
        assert_eq!((ragged.row(2), ragged.row(3)), (&[3][..], &[][..]));
        assert_eq!(Ragged::from_parts(vec![1, 2, 3], [2, 0, 1]), Some(ragged.clone()));
        assert_eq!(Ragged::from_parts(vec![1, 2, 3], [2, 0]), None);
        let text = serde_json::to_string(&ragged).unwrap();
        assert_eq!(text, "[[1,2],[],[3]]");
        assert_eq!(serde_json::from_str::<Ragged<u8>>(&text).unwrap(), ragged);
    }
}
