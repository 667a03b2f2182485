//! The result of a query: its rows, and when two values are equal.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use serde_json::{Value, json};

use assay_verifiers::{Fault, Meter};

/// One value. `SQLite` has no booleans, and its NaN is NULL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Cell {
    pub(super) fn new(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(bytes) => Self::Text(bytes.to_vec()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }

    /// What it takes up, in bytes.
    pub(super) fn size(&self) -> usize {
        let inside = match self {
            Self::Text(bytes) | Self::Blob(bytes) => bytes.len(),
            Self::Null | Self::Integer(_) | Self::Real(_) => 0,
        };
        size_of::<Self>() + inside
    }

    /// As it is shown in evidence.
    fn shown(&self) -> Value {
        const CHARACTERS_MAX: usize = 60;
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => json!(number),
            // JSON has no infinity.
            Self::Real(number) if number.is_infinite() => json!(number.to_string()),
            Self::Real(number) => json!(number),
            Self::Text(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let mut shown: String = text.chars().take(CHARACTERS_MAX).collect();
                if shown.len() < text.len() {
                    shown.push('…');
                }
                json!(shown)
            }
            Self::Blob(bytes) => json!(format!("blob of {} bytes", bytes.len())),
        }
    }
}

/// The rows of a query, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    pub(super) columns: usize,
    pub(super) cells: Vec<Cell>,
}

impl Table {
    /// How many rows there are. A query has at least one column.
    pub(super) fn rows(&self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or_default()
    }

    /// One row as it is shown in evidence; null where there is none.
    pub(super) fn shown(&self, row: usize) -> Value {
        const COLUMNS_MAX: usize = 12;
        let start = row.saturating_mul(self.columns);
        let cells = self.cells.get(start..start.saturating_add(self.columns));
        cells.map_or(Value::Null, |cells| cells.iter().take(COLUMNS_MAX).map(Cell::shown).collect())
    }
}

/// A table whose values are replaced by ids: equal ids, equal values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    pub(super) columns: usize,
    pub(super) cells: Vec<u32>,
}

impl Ids {
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u32]> {
        self.cells.chunks_exact(self.columns.max(1))
    }

    /// Column by column.
    pub(super) fn turned(&self) -> Vec<Vec<u32>> {
        let column = |at: usize| self.rows().filter_map(|row| row.get(at).copied()).collect();
        (0..self.columns).map(column).collect()
    }
}

/// Gives every value of the tables an id.
///
/// NULL equals NULL; text equals no number, and no blob; 1 equals 1.0. Two numbers of which one is
/// real are the same when they differ by no more than `tolerance`, relative to the larger; that is
/// carried on from neighbour to neighbour, so that equality does not depend on who is asked first.
pub(super) fn number<const N: usize>(
    tables: [&Table; N],
    tolerance: f64,
    meter: &mut Meter<'_>,
) -> Result<[Ids; N], Fault> {
    let cells = || tables.iter().flat_map(|table| &table.cells);
    for cell in cells() {
        meter.spend(20 + cell.size() as u64)?;
    }
    let numbers = clusters(cells().filter_map(Number::of).collect(), tolerance);
    let mut texts: BTreeMap<(bool, &[u8]), u32> = BTreeMap::new();
    let after_numbers = numbers.last().map_or(1, |(_, id)| id + 1);
    let mut ids = tables.map(|table| Ids { columns: table.columns, cells: Vec::new() });
    for (table, ids) in tables.iter().zip(&mut ids) {
        for cell in &table.cells {
            let next = after_numbers + u32::try_from(texts.len()).unwrap_or(u32::MAX);
            let id = match cell {
                Cell::Null => 0,
                Cell::Text(bytes) => *texts.entry((true, bytes)).or_insert(next),
                Cell::Blob(bytes) => *texts.entry((false, bytes)).or_insert(next),
                Cell::Integer(_) | Cell::Real(_) => cluster_of(&numbers, cell),
            };
            ids.cells.push(id);
        }
    }
    Ok(ids)
}

#[derive(Clone, Copy, Debug)]
enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    fn of(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Integer(number) => Some(Self::Integer(*number)),
            Cell::Real(number) => Some(Self::Real(*number)),
            Cell::Null | Cell::Text(_) | Cell::Blob(_) => None,
        }
    }

    /// Exact: no integer is rounded to a real number on the way.
    fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.cmp(&two),
            (Self::Real(one), Self::Real(two)) => one.partial_cmp(&two).unwrap_or(Ordering::Equal),
            (Self::Integer(one), Self::Real(two)) => integer_and_real(one, two),
            (Self::Real(one), Self::Integer(two)) => integer_and_real(two, one).reverse(),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "asked only where a tolerance swallows it")]
    fn near(self, other: Self, tolerance: f64) -> bool {
        let (one, two) = match (self, other) {
            (Self::Integer(_), Self::Integer(_)) => return false,
            (Self::Integer(one), Self::Real(two)) => (one as f64, two),
            (Self::Real(one), Self::Integer(two)) => (one, two as f64),
            (Self::Real(one), Self::Real(two)) => (one, two),
        };
        let is_finite = one.is_finite() && two.is_finite();
        is_finite && (one - two).abs() <= tolerance * one.abs().max(two.abs())
    }
}

fn integer_and_real(integer: i64, real: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if real >= LIMIT {
        return Ordering::Less;
    }
    if real < -LIMIT {
        return Ordering::Greater;
    }
    #[allow(clippy::cast_possible_truncation, reason = "the whole part fits: it was compared")]
    let whole = real.trunc() as i64;
    let rest = || 0.0_f64.partial_cmp(&real.fract()).unwrap_or(Ordering::Equal);
    integer.cmp(&whole).then_with(rest)
}

/// The numbers in order, each with the id of its cluster, from 1.
fn clusters(mut numbers: Vec<Number>, tolerance: f64) -> Vec<(Number, u32)> {
    numbers.sort_unstable_by(|one, two| one.compare(*two));
    numbers.dedup_by(|one, two| one.compare(*two).is_eq());
    let mut last: Option<(Number, u32)> = None;
    let with_ids = numbers.into_iter().map(|number| {
        let id = match last {
            Some((before, id)) if before.near(number, tolerance) => id,
            Some((_, id)) => id + 1,
            None => 1,
        };
        last = Some((number, id));
        (number, id)
    });
    with_ids.collect()
}

#[expect(clippy::indexing_slicing, reason = "the numbers of all cells are there")]
fn cluster_of(numbers: &[(Number, u32)], cell: &Cell) -> u32 {
    let Some(wanted) = Number::of(cell) else { return 0 };
    let at = numbers.partition_point(|(number, _)| number.compare(wanted).is_lt());
    numbers[at].1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: Cell, two: Cell) -> bool {
        let table = |cell| Table { columns: 1, cells: vec![cell] };
        let [one, two] = number([&table(one), &table(two)], 1e-9, &mut Meter::default()).unwrap();
        one == two
    }

    #[test]
    fn values_are_equal_as_a_reader_would_say() {
        use Cell::{Blob, Integer, Null, Real, Text};
        let text = |text: &str| Text(text.as_bytes().to_vec());
        assert!(same(Null, Null));
        assert!(same(Integer(1), Real(1.0)));
        assert!(same(Real(0.1 + 0.2), Real(0.3)));
        assert!(same(Real(3.0 - 4e-16), Integer(3)));
        assert!(same(Real(f64::INFINITY), Real(f64::INFINITY)));
        assert!(same(Real(-0.0), Integer(0)));
        assert!(!same(Null, Integer(0)));
        assert!(!same(Null, text("")));
        assert!(!same(Integer(1), text("1")));
        assert!(!same(text("a"), Blob(b"a".to_vec())));
        assert!(!same(text("a"), text("a ")));
        assert!(!same(Integer(9_007_199_254_740_993), Integer(9_007_199_254_740_992)));
        assert!(!same(Integer(i64::MAX), Integer(i64::MAX - 1)));
        assert!(!same(Real(1e300), Real(f64::INFINITY)));
        assert!(!same(Real(1.0), Real(1.000_001)));
    }

    #[test]
    fn integers_and_reals_are_compared_exactly() {
        assert_eq!(integer_and_real(i64::MAX, 9_223_372_036_854_775_808.0), Ordering::Less);
        assert_eq!(integer_and_real(i64::MIN, -9_223_372_036_854_775_808.0), Ordering::Equal);
        assert_eq!(integer_and_real(-1, -1.5), Ordering::Greater);
        assert_eq!(integer_and_real(1, 1.5), Ordering::Less);
        assert_eq!(integer_and_real(0, f64::NEG_INFINITY), Ordering::Greater);
    }
}
