//! Which rows a report shows: every kind of fault, the ends and the middle of the rewards, the groups that
//! differ most, and rows drawn at random by a fixed seed, so that one run gives one report.

use std::collections::{BTreeMap, BinaryHeap};

use crate::figures::Top;
use crate::line::PlacedRow;

/// Rows at each end of the rewards.
const ENDS: usize = 5;
/// Rewards of which the median is taken; of more rows, so many are drawn.
const MEDIAN_OF: usize = 2001;
/// Rows that are drawn at random.
const AT_RANDOM: usize = 120;
/// Rows of one kind of fault.
const OF_FAULT: usize = 2;
/// Kinds of faults with rows of their own.
const FAULTS_MAX: usize = 100;
/// Groups that are shown whole, and the most rows of one.
const GROUPS: usize = 3;
const GROUP_ROWS: u64 = 16;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where a row is: its place in the run, and in the file.
type RowPlace = (u64, u64);

/// A row that is shown, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DrawnRow {
    pub(crate) at: u64,
    pub(crate) offset: u64,
    pub(crate) why: Vec<String>,
}

/// What is kept while rows are added.
pub(crate) struct Drawing {
    lowest: Top<RowPlace>,
    highest: Top<RowPlace>,
    faults: BTreeMap<(String, String), Vec<RowPlace>>,
    at_random: BinaryHeap<(u64, RowPlace)>,
    /// By their draw: the bits of the reward and the place.
    for_median: BinaryHeap<(u64, RowPlace, u64)>,
}

impl Default for Drawing {
    fn default() -> Self {
        Self {
            lowest: Top::new(ENDS),
            highest: Top::new(ENDS),
            faults: BTreeMap::new(),
            at_random: BinaryHeap::new(),
            for_median: BinaryHeap::new(),
        }
    }
}

impl Drawing {
    pub(crate) fn add(&mut self, row: &PlacedRow<'_>) {
        let place = (row.at, row.offset);
        let draw = mixed(row.at ^ SEED);
        keep(&mut self.at_random, (draw, place), AT_RANDOM);
        if let Some(reward) = row.line.reward {
            self.highest.add(reward, || place);
            self.lowest.add(-reward, || place);
            keep(&mut self.for_median, (draw, place, reward.to_bits()), MEDIAN_OF);
        }
        if let Some(fault) = &row.line.fault {
            self.add_fault("", &fault.0, place);
        }
        for (name, part) in &row.line.verdicts.0 {
            if let Some(fault) = &part.fault {
                self.add_fault(name, &fault.0, place);
            }
        }
    }

    fn add_fault(&mut self, part: &str, fault: &str, place: RowPlace) {
        let key = (part.to_owned(), fault.to_owned());
        if self.faults.len() >= FAULTS_MAX && !self.faults.contains_key(&key) {
            return;
        }
        let rows = self.faults.entry(key).or_default();
        if rows.len() < OF_FAULT {
            rows.push(place);
        }
    }

    /// The rows, those first without which a report must not be. `groups` are shown whole.
    pub(crate) fn rows(self, groups: impl Iterator<Item = Vec<RowPlace>>) -> Vec<DrawnRow> {
        let (mut first, mut then) = (Vec::new(), Vec::new());
        for ((part, fault), places) in self.faults {
            let why = if part.is_empty() { fault } else { format!("{part}: {fault}") };
            for (at, place) in places.into_iter().enumerate() {
                if at == 0 { &mut first } else { &mut then }.push((place, why.clone()));
            }
        }
        for (top, why) in [(self.lowest, "lowest"), (self.highest, "highest")] {
            for (at, (_, place)) in top.rows().iter().enumerate() {
                if at == 0 { &mut first } else { &mut then }.push((*place, why.to_owned()));
            }
        }
        let rewards = self.for_median.into_iter();
        let mut middle: Vec<(f64, RowPlace)> =
            rewards.map(|(_, place, reward)| (f64::from_bits(reward), place)).collect();
        middle.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let median = middle.get(middle.len() / 2);
        first.extend(median.map(|(_, place)| (*place, "median".to_owned())));
        let groups = groups.take(GROUPS).flatten();
        then.extend(groups.map(|place| (place, "group".to_owned())));
        let at_random = self.at_random.into_sorted_vec();
        then.extend(at_random.into_iter().map(|(_, place)| (place, "drawn".to_owned())));
        let mut rows: Vec<DrawnRow> = Vec::new();
        for ((at, offset), why) in first.into_iter().chain(then) {
            match rows.iter_mut().find(|row| row.at == at) {
                Some(row) if row.why.contains(&why) => {}
                Some(row) => row.why.push(why),
                None => rows.push(DrawnRow { at, offset, why: vec![why] }),
            }
        }
        rows
    }
}

/// The most rows of a group that are shown.
pub(crate) fn group_rows(rows: u64) -> u64 {
    rows.min(GROUP_ROWS)
}

/// Keeps the smallest.
fn keep<T: Ord>(heap: &mut BinaryHeap<T>, one: T, most: usize) {
    if heap.len() < most {
        heap.push(one);
    } else if heap.peek().is_some_and(|last| one < *last) {
        heap.pop();
        heap.push(one);
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood 2014).
fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
