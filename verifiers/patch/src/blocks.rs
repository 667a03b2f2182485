//! Search/replace blocks, as aider has them: lines that stand in a file, and what comes in their place.

use std::ops::{Range, RangeInclusive};

use crate::lines::{Lines, nearest, same, same_trimmed};
use crate::named::path_in;
use crate::refused::{Refused, Unapplied};
use crate::tree::{FileTree, safe_path};

/// Blocks of one answer.
const BLOCKS_MAX: usize = 2_000;
/// Characters of a marker: `<<<<<<<`, of which models write more or fewer.
const MARKER: RangeInclusive<usize> = 5..=9;
/// Lines above a block among which the name of its file is looked for.
const NAME_LINES: usize = 3;

/// Search/replace blocks, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks<'a> {
    all: Vec<Block<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Block<'a> {
    path: String,
    search: Vec<&'a str>,
    replace: Vec<&'a str>,
}

impl<'a> Blocks<'a> {
    /// Whether a text has a block.
    pub fn are_in(text: &str) -> bool {
        let mut is_open = false;
        text.lines().any(|line| {
            is_open |= marker(line, '<');
            is_open && marker(line, '>')
        })
    }

    /// Reads the blocks of a text, in linear time. The name of a file is above its first block.
    ///
    /// # Errors
    /// Blocks that break off, that have no file, or whose path is unsafe.
    pub fn read(text: &'a str) -> Result<Self, Refused> {
        let lines: Vec<&str> = text.lines().collect();
        let (mut all, mut path) = (Vec::<Block<'_>>::new(), None);
        let (mut at, mut above) = (0, 0);
        while let Some(line) = lines.get(at) {
            at += 1;
            if !marker(line, '<') {
                continue;
            }
            if all.len() >= BLOCKS_MAX {
                return Err(Refused::new("", format!("more than {BLOCKS_MAX} blocks")));
            }
            path = name_above(&lines, above..at - 1).or(path);
            let name = path.as_deref().ok_or_else(|| Refused::new("", "a block without a file"))?;
            let broken = || Refused::new(name, "a search/replace block breaks off");
            let search = until(&lines, &mut at, '=').ok_or_else(broken)?;
            let replace = until(&lines, &mut at, '>').ok_or_else(broken)?;
            all.push(Block { path: safe_path(name)?.to_owned(), search, replace });
            above = at;
        }
        if all.is_empty() {
            return Err(Refused::new("", "no search/replace block"));
        }
        Ok(Self { all })
    }

    /// The paths that they change.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|block| block.path.as_str())
    }

    /// The same blocks without those of some paths.
    #[must_use]
    pub fn without(mut self, is_dropped: &dyn Fn(&str) -> bool) -> Self {
        self.all.retain(|block| !is_dropped(&block.path));
        self
    }

    /// Applies them. What is searched for is replaced where it is first, by whole lines; blanks at
    /// their ends count only where it also stands with them. Nothing to search for makes a new file, or
    /// is put at the end of one.
    ///
    /// # Errors
    /// Files that are missing, and lines that stand nowhere.
    pub fn apply<E>(
        &self,
        tree: &FileTree,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<FileTree, Unapplied<E>> {
        let mut tree = tree.clone();
        for (number, block) in self.all.iter().enumerate() {
            let before = tree.get(&block.path);
            if before.is_none() && !block.search.is_empty() {
                return Err(Refused::new(&block.path, "is not there").into());
            }
            let content = block.applied(before.unwrap_or_default(), number, pay)?;
            tree.put(&block.path, content)?;
        }
        Ok(tree)
    }
}

impl Block<'_> {
    fn applied<E>(
        &self,
        before: &[u8],
        number: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<u8>, Unapplied<E>> {
        let lines = Lines::of(before);
        pay(lines.all.len() as u64).map_err(Unapplied::Unpaid)?;
        let wanted: Vec<&[u8]> = self.search.iter().map(|line| line.as_bytes()).collect();
        let at = if wanted.is_empty() {
            lines.all.len()
        } else {
            let mut found = None;
            for how in [same, same_trimmed] {
                if found.is_none() {
                    let search = nearest(&lines.all, &wanted, (0, 0), how, pay);
                    found = search.map_err(Unapplied::Unpaid)?;
                }
            }
            let why = format!("what block {} searches for is not there", number + 1);
            found.ok_or_else(|| Refused::new(&self.path, why))?
        };
        let end: &[u8] = if lines.has_returns { b"\r\n" } else { b"\n" };
        let mut made = Vec::new();
        for line in lines.all.iter().take(at) {
            made.extend_from_slice(line);
            made.push(b'\n');
        }
        for line in &self.replace {
            made.extend_from_slice(line.as_bytes());
            made.extend_from_slice(end);
        }
        for line in lines.all.iter().skip(at + wanted.len()) {
            made.extend_from_slice(line);
            made.push(b'\n');
        }
        if !lines.is_ended && made.ends_with(b"\n") && at + wanted.len() < lines.all.len() {
            made.pop();
        }
        Ok(made)
    }
}

/// `<<<<<<< SEARCH`, `=======` or `>>>>>>> REPLACE`.
fn marker(line: &str, sign: char) -> bool {
    let rest = line.trim_start_matches(sign);
    let word = rest.trim();
    let is_word = match sign {
        '<' => word.eq_ignore_ascii_case("search") || word.eq_ignore_ascii_case("original"),
        '=' => word.is_empty(),
        _ => word.is_empty() || ["REPLACE", "UPDATED"].iter().any(|w| word.eq_ignore_ascii_case(w)),
    };
    is_word && MARKER.contains(&(line.len() - rest.len()))
}

/// The lines up to a marker, which is passed.
fn until<'a>(lines: &[&'a str], at: &mut usize, sign: char) -> Option<Vec<&'a str>> {
    let rest = || lines.iter().skip(*at);
    let length = rest().position(|line| marker(line, sign))?;
    let found = rest().take(length).copied().collect();
    *at += length + 1;
    Some(found)
}

/// The name of a file in the lines right above a block.
fn name_above(lines: &[&str], above: Range<usize>) -> Option<String> {
    let lines = lines.iter().skip(above.start).take(above.len()).rev();
    let mut lines = lines.filter(|line| !line.trim().is_empty());
    lines.by_ref().take(NAME_LINES).find_map(|line| path_in(line))
}
