//! Whether two tables are the same.

use assay_verifiers::prelude::*;

use super::table::{Ids, Table, number};

/// When two results are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Semantics {
    /// The same rows, each as often, with the columns in any order; the order of the rows counts
    /// only if the gold query orders them.
    #[default]
    Spider,
    /// The same set of rows, with the columns in the same order.
    Bird,
    /// The same rows in the same order, with the columns in the same order.
    Ordered,
}

/// How two results compare, and where they part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// They are the same, for the reason given.
    Equal(&'static str),
    /// They are not, for the reason given. The rows are the first of the gold result that the
    /// candidate lacks and the first of the candidate that the gold lacks.
    Unequal { reason: &'static str, missing: Option<usize>, surplus: Option<usize> },
}

impl Match {
    fn shape(reason: &'static str) -> Self {
        Self::Unequal { reason, missing: None, surplus: None }
    }
}

/// What decides when two results are the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) semantics: Semantics,
    pub(super) tolerance: f64,
    /// Whether the gold query orders its rows.
    pub(super) is_ordered: bool,
}

/// Compares the result of the gold query with that of the candidate.
pub(super) fn compare(
    gold: &Table,
    found: &Table,
    rules: Rules,
    meter: &mut Meter<'_>,
) -> Result<Match, Fault> {
    match (gold.rows(), found.rows()) {
        (0, 0) => return Ok(Match::Equal("equal-empty")),
        (0, _) | (_, 0) => return Ok(Match::shape("different-row-count")),
        _ if gold.columns != found.columns => return Ok(Match::shape("different-column-count")),
        _ => {}
    }
    let [gold, found] = number([gold, found], rules.tolerance, meter)?;
    pay_for_sorting(gold.cells.len() + found.cells.len(), meter)?;
    match rules.semantics {
        Semantics::Ordered => Ok(as_lists(&gold, &found)),
        Semantics::Bird => Ok(as_sets(&gold, &found)),
        Semantics::Spider if gold.cells.len() != found.cells.len() => {
            Ok(parting(&gold, &found, "different-row-count"))
        }
        Semantics::Spider if rules.is_ordered => Ok(as_columns(&gold, &found)),
        Semantics::Spider => as_bags(&gold, &found, meter),
    }
}

fn pay_for_sorting(cells: usize, meter: &mut Meter<'_>) -> Result<(), Fault> {
    meter.spend(cells as u64 * u64::from(usize::BITS - cells.leading_zeros()))
}

fn sorted(ids: &Ids) -> Vec<(&[u32], usize)> {
    let mut rows: Vec<(&[u32], usize)> = ids.rows().zip(0..).collect();
    rows.sort_unstable();
    rows
}

/// The first rows, in the order of their tables, that the other side lacks.
fn parting(gold: &Ids, found: &Ids, reason: &'static str) -> Match {
    let (gold, found) = (sorted(gold), sorted(found));
    Match::Unequal { reason, missing: lacking(&gold, &found), surplus: lacking(&found, &gold) }
}

/// The first row of `one`, in its order, that has no partner left in `two`.
fn lacking(one: &[(&[u32], usize)], two: &[(&[u32], usize)]) -> Option<usize> {
    let mut partners = two.iter().map(|(row, _)| row).peekable();
    let mut first: Option<usize> = None;
    for (row, at) in one {
        while partners.next_if(|partner| *partner < row).is_some() {}
        if partners.next_if(|partner| *partner == row).is_none() {
            first = Some(first.map_or(*at, |first| first.min(*at)));
        }
    }
    first
}

fn as_lists(gold: &Ids, found: &Ids) -> Match {
    if gold == found {
        return Match::Equal("equal-list");
    }
    let same = gold.rows().zip(found.rows()).take_while(|(one, two)| one == two).count();
    let within = |ids: &Ids| (same < ids.rows().count()).then_some(same);
    let reason = match lacking(&sorted(gold), &sorted(found)) {
        None if gold.cells.len() == found.cells.len() => "different-order",
        _ => "different-rows",
    };
    Match::Unequal { reason, missing: within(gold), surplus: within(found) }
}

fn as_sets(gold: &Ids, found: &Ids) -> Match {
    let set = |ids| {
        let mut rows = sorted(ids);
        rows.dedup_by_key(|(row, _)| *row);
        rows
    };
    let (gold, found) = (set(gold), set(found));
    match (lacking(&gold, &found), lacking(&found, &gold)) {
        (None, None) => Match::Equal("equal-set"),
        (missing, surplus) => Match::Unequal { reason: "different-rows", missing, surplus },
    }
}

/// The rows in their order, the columns in any: the same columns, each as often.
fn as_columns(gold: &Ids, found: &Ids) -> Match {
    if gold == found {
        return Match::Equal("equal-list");
    }
    let (mut one, mut two) = (gold.turned(), found.turned());
    one.sort_unstable();
    two.sort_unstable();
    if one == two { Match::Equal("equal-list-of-other-columns") } else { as_lists(gold, found) }
}

fn as_bags(gold: &Ids, found: &Ids, meter: &mut Meter<'_>) -> Result<Match, Fault> {
    let difference = parting(gold, found, "different-rows");
    if matches!(&difference, Match::Unequal { missing: None, surplus: None, .. }) {
        return Ok(Match::Equal("equal-bag"));
    }
    let (gold, found) = (gold.turned(), found.turned());
    pay_for_sorting(gold.len() * gold.first().map_or(0, Vec::len), meter)?;
    match Columns::new(&gold, &found) {
        Some(columns) if columns.pair(meter)? => Ok(Match::Equal("equal-bag-of-other-columns")),
        _ => Ok(difference),
    }
}

/// Looks for an order of the found columns in which the rows are those of the gold.
///
/// Columns may be partners when they hold the same values, each as often. They are paired one
/// after the other; after each pair, the rows of both sides must still fall into the same classes
/// by what they hold in the columns paired so far. Wrong pairs show at once in all but contrived
/// tables.
struct Columns<'a> {
    gold: Vec<&'a [u32]>,
    found: &'a [Vec<u32>],
    /// For each gold column, the found columns that may be its partner.
    options: Vec<Vec<usize>>,
}

impl<'a> Columns<'a> {
    /// `None` when some column has no partner.
    fn new(gold: &'a [Vec<u32>], found: &'a [Vec<u32>]) -> Option<Self> {
        let values = |columns: &[Vec<u32>]| -> Vec<Vec<u32>> {
            let sorted = |column: &Vec<u32>| {
                let mut values = column.clone();
                values.sort_unstable();
                values
            };
            columns.iter().map(sorted).collect()
        };
        let (wanted, have) = (values(gold), values(found));
        let mut columns: Vec<(&[u32], Vec<usize>)> = gold
            .iter()
            .zip(&wanted)
            .map(|(column, wanted)| {
                let same = have.iter().zip(0..).filter(|(have, _)| *have == wanted);
                (column.as_slice(), same.map(|(_, at)| at).collect())
            })
            .collect();
        // The column with the fewest partners first: it decides most.
        columns.sort_by_key(|(_, options)| options.len());
        let has_partners = columns.iter().all(|(_, options)| !options.is_empty());
        let (gold, options) = columns.into_iter().unzip();
        has_partners.then_some(Self { gold, found, options })
    }

    fn pair(&self, meter: &mut Meter<'_>) -> Result<bool, Fault> {
        let rows = self.gold.first().map_or(0, |column| column.len());
        let mut used = vec![false; self.found.len()];
        self.pair_from(0, &mut used, &(vec![0; rows], vec![0; rows]), meter)
    }

    fn pair_from(
        &self,
        column: usize,
        used: &mut [bool],
        classes: &(Vec<u32>, Vec<u32>),
        meter: &mut Meter<'_>,
    ) -> Result<bool, Fault> {
        let (Some(gold), Some(options)) = (self.gold.get(column), self.options.get(column)) else {
            return Ok(true);
        };
        let mut tried: Vec<&[u32]> = Vec::new();
        for &option in options {
            let Some(found) = self.found.get(option) else { continue };
            // Two columns that are the same throughout are the same choice.
            if used.get(option) != Some(&false) || tried.contains(&found.as_slice()) {
                continue;
            }
            tried.push(found);
            pay_for_sorting(4 * found.len() + 16, meter)?;
            let Some(finer) = refined(classes, gold, found) else { continue };
            mark(used, option, true);
            if self.pair_from(column + 1, used, &finer, meter)? {
                return Ok(true);
            }
            mark(used, option, false);
        }
        Ok(false)
    }
}

fn mark(used: &mut [bool], at: usize, is_used: bool) {
    if let Some(used) = used.get_mut(at) {
        *used = is_used;
    }
}

/// The classes of rows after one more pair of columns, if both sides still fall into the same.
fn refined(
    classes: &(Vec<u32>, Vec<u32>),
    gold: &[u32],
    found: &[u32],
) -> Option<(Vec<u32>, Vec<u32>)> {
    let with = |classes: &[u32], values: &[u32]| -> Vec<((u32, u32), usize)> {
        let pairs = classes.iter().copied().zip(values.iter().copied());
        let mut rows: Vec<((u32, u32), usize)> = pairs.zip(0..).collect();
        rows.sort_unstable();
        rows
    };
    let (gold, found) = (with(&classes.0, gold), with(&classes.1, found));
    let is_same = gold.iter().zip(&found).all(|(one, two)| one.0 == two.0);
    is_same.then(|| (renumbered(&gold), renumbered(&found)))
}

fn renumbered(rows: &[((u32, u32), usize)]) -> Vec<u32> {
    let mut classes = vec![0; rows.len()];
    let mut class = 0;
    let mut last = None;
    for (key, at) in rows {
        if last.is_some_and(|last| last != key) {
            class += 1;
        }
        last = Some(key);
        if let Some(slot) = classes.get_mut(*at) {
            *slot = class;
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::table::Cell;
    use super::*;

    fn table(rows: &[Vec<i64>]) -> Table {
        Table {
            columns: rows.first().map_or(1, Vec::len),
            cells: rows.iter().flatten().map(|value| Cell::Integer(*value)).collect(),
        }
    }

    fn is_equal(
        gold: &[Vec<i64>],
        found: &[Vec<i64>],
        semantics: Semantics,
        ordered: bool,
    ) -> bool {
        let rules = Rules { semantics, tolerance: 1e-9, is_ordered: ordered };
        let verdict = compare(&table(gold), &table(found), rules, &mut Meter::new(1 << 40));
        matches!(verdict.unwrap(), Match::Equal(_))
    }

    #[test]
    fn each_semantics_tells_what_it_should() {
        use Semantics::{Bird, Ordered, Spider};
        let gold = vec![vec![1, 2], vec![3, 4], vec![3, 4]];
        for (found, spider, in_order, bird, list) in [
            (vec![vec![1, 2], vec![3, 4], vec![3, 4]], true, true, true, true),
            (vec![vec![2, 1], vec![4, 3], vec![4, 3]], true, true, false, false),
            (vec![vec![3, 4], vec![1, 2], vec![3, 4]], true, false, true, false),
            (vec![vec![3, 4], vec![1, 2]], false, false, true, false),
            (vec![vec![1, 2], vec![3, 4], vec![1, 2]], false, false, true, false),
            (vec![vec![1, 4], vec![3, 2], vec![3, 4]], false, false, false, false),
            (vec![vec![1, 2, 0], vec![3, 4, 0], vec![3, 4, 0]], false, false, false, false),
            (vec![], false, false, false, false),
        ] {
            assert_eq!(is_equal(&gold, &found, Spider, false), spider, "{found:?}");
            assert_eq!(is_equal(&gold, &found, Spider, true), in_order, "{found:?}");
            assert_eq!(is_equal(&gold, &found, Bird, false), bird, "{found:?}");
            assert_eq!(is_equal(&gold, &found, Ordered, false), list, "{found:?}");
        }
    }

    #[test]
    fn the_parting_rows_are_named() {
        let rules = Rules { semantics: Semantics::Spider, tolerance: 0.0, is_ordered: false };
        let (gold, found) =
            (table(&[vec![1], vec![2], vec![2]]), table(&[vec![2], vec![1], vec![9]]));
        let verdict = compare(&gold, &found, rules, &mut Meter::default()).unwrap();
        let wanted =
            Match::Unequal { reason: "different-rows", missing: Some(2), surplus: Some(2) };
        assert_eq!(verdict, wanted);
    }

    /// Many columns over the same values are where a search could lose itself.
    #[test]
    fn many_like_columns_are_paired_within_the_fuel() {
        let rows: Vec<Vec<i64>> = (0..64_i64)
            .map(|row| (0..24_i64).map(|column| (row * (column + 7) + column) % 8).collect())
            .collect();
        let mut turned = rows.clone();
        for row in &mut turned {
            row.reverse();
        }
        turned.rotate_left(20);
        assert!(is_equal(&rows, &turned, Semantics::Spider, false));
        let zeros = vec![vec![0; 200]; 50];
        assert!(is_equal(&zeros, &zeros, Semantics::Spider, false));
    }

    fn brute(gold: &[Vec<i64>], found: &[Vec<i64>]) -> bool {
        fn orders(columns: usize) -> Vec<Vec<usize>> {
            if columns == 0 {
                return vec![Vec::new()];
            }
            let mut all = Vec::new();
            for order in orders(columns - 1) {
                for at in 0..columns {
                    let mut order = order.clone();
                    order.insert(at, columns - 1);
                    all.push(order);
                }
            }
            all
        }
        let sort = |mut rows: Vec<Vec<i64>>| {
            rows.sort_unstable();
            rows
        };
        let wanted = sort(gold.to_vec());
        orders(gold[0].len()).iter().any(|order| {
            let turned = found.iter().map(|row| order.iter().map(|at| row[*at]).collect());
            sort(turned.collect()) == wanted
        })
    }

    proptest! {
        #[test]
        fn columns_are_paired_as_by_trying_all_orders(
            (gold, found) in (1_usize..5, 1_usize..6).prop_flat_map(|(columns, rows)| {
                let rows = || prop::collection::vec(prop::collection::vec(0_i64..2, columns), rows);
                (rows(), rows())
            })
        ) {
            let is_same = is_equal(&gold, &found, Semantics::Spider, false);
            prop_assert_eq!(is_same, brute(&gold, &found));
        }

        #[test]
        fn any_order_of_rows_and_columns_is_the_same_bag(
            gold in (1_usize..6).prop_flat_map(|columns| {
                prop::collection::vec(prop::collection::vec(0_i64..3, columns), 1..12)
            }),
            turns in (0_usize..6, 0_usize..12),
        ) {
            let mut found = gold.clone();
            for row in &mut found {
                let turn = turns.0 % row.len();
                row.rotate_left(turn);
            }
            let turn = turns.1 % found.len();
            found.rotate_left(turn);
            prop_assert!(is_equal(&gold, &found, Semantics::Spider, false));
        }
    }
}
