//! A part of a run: which rows or groups it judges, and what its folder is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Rows that stand together in one shard, where rows are judged one by one. Small enough for shards of
/// a small dataset to have their part of it, large enough for completions of one prompt to meet.
const BLOCK_ROWS: u64 = 16;

/// One of several parts of a run, counted from 0.
///
/// Blocks of 16 rows, or whole groups where a plan judges groups, go to the shards in turn.
/// Every row belongs to one shard, whatever the number of rows is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// The shard `index` of `of`.
    ///
    /// # Errors
    /// There is no such shard.
    pub fn new(index: u32, of: u32) -> Result<Self, String> {
        match of.checked_sub(1) {
            None => Err("a run has at least one shard".to_owned()),
            Some(last) if index > last => {
                Err(format!("shards are counted from 0: the last of {of} is {last}/{of}"))
            }
            Some(_) => Ok(Self { index, of }),
        }
    }

    /// Its number, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many shards the run has.
    pub fn of(self) -> u32 {
        self.of
    }

    /// The name of its folder inside that of the run.
    pub fn folder_name(self) -> String {
        format!("shard-{:05}-of-{:05}", self.index, self.of)
    }

    /// The shard whose folder has this name.
    pub fn of_folder(name: &str) -> Option<Self> {
        let (index, of) = name.strip_prefix("shard-")?.split_once("-of-")?;
        let shard = Self::new(index.parse().ok()?, of.parse().ok()?).ok()?;
        (shard.folder_name() == name).then_some(shard)
    }

    /// Whether it judges a row, where rows are judged one by one.
    pub(super) fn owns_row(self, row: u64) -> bool {
        self.owns_group(row / BLOCK_ROWS)
    }

    /// Whether it judges a group, counted from 0.
    pub(super) fn owns_group(self, group: u64) -> bool {
        group.checked_rem(self.of.into()) == Some(self.index.into())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("expected I/N, such as 0/4 for the first of four; found {text:?}");
        let (index, of) = text.split_once('/').ok_or_else(form)?;
        let number = |text: &str| text.parse().map_err(|_| form());
        Self::new(number(index)?, number(of)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_from_text_and_from_the_name_of_its_folder() {
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!((shard.index(), shard.of(), shard.to_string()), (3, 16, "3/16".to_owned()));
        assert_eq!(shard.folder_name(), "shard-00003-of-00016");
        assert_eq!(Shard::of_folder("shard-00003-of-00016"), Some(shard));
        assert_eq!(Shard::of_folder("shard-3-of-16"), None);
        assert_eq!(Shard::of_folder("shard-00016-of-00016"), None);
        let wrong = |text: &str| text.parse::<Shard>().unwrap_err();
        assert_eq!(wrong("4/4"), "shards are counted from 0: the last of 4 is 3/4");
        assert_eq!(wrong("0/0"), "a run has at least one shard");
        for text in ["", "1", "a/2", "1/-2", "1/2/3"] {
            assert!(wrong(text).starts_with("expected I/N"), "{text}");
        }
    }

    #[test]
    fn every_row_has_one_shard_and_every_shard_its_part() {
        for of in [1, 2, 3, 7, 16] {
            let shards: Vec<Shard> = (0..of).map(|index| Shard::new(index, of).unwrap()).collect();
            let owners = |row| shards.iter().filter(|shard| shard.owns_row(row)).count();
            assert!((0..2000).all(|row| owners(row) == 1), "{of} shards");
            let rows = |shard: &Shard| (0..2000).filter(|row| shard.owns_row(*row)).count();
            let parts: Vec<usize> = shards.iter().map(rows).collect();
            let spread = parts.iter().max().unwrap() - parts.iter().min().unwrap();
            assert!(spread <= 16, "{parts:?}");
        }
    }
}
