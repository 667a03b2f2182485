//! What an answer proposes for a tree: where it is in the text, and in which form.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::blocks::Blocks;
use crate::diff::Diff;
use crate::named::{bare_path, path_in};
use crate::refused::Unapplied;
use crate::tree::{FileTree, safe_path};

/// What an answer proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// The text of a unified diff.
    Diff(String),
    /// A text with search/replace blocks.
    Blocks(String),
    /// Files as they are to be, with their paths.
    Files(Vec<(String, String)>),
}

impl Proposal {
    /// What an answer proposes; `None` where it proposes nothing. Of each form the last one counts:
    /// search/replace blocks, else the fences that are diffs, else a text from `diff --git` or `---`, else
    /// an object of paths and texts, else the fences that name a file. Takes linear time.
    pub fn find(answer: &str) -> Option<Self> {
        if Blocks::are_in(answer) {
            return Some(Self::Blocks(answer.to_owned()));
        }
        let fences = fences(answer);
        if let Some(diff) = fenced_diff(&fences) {
            return Some(Self::Diff(diff));
        }
        if let Some(from) = diff_start(answer) {
            return Some(Self::Diff(answer.get(from..)?.to_owned()));
        }
        if let Some(files) = json_files(answer, &fences) {
            return Some(Self::Files(files));
        }
        let mut files: Vec<(String, String)> = Vec::new();
        for fence in &fences {
            if let Some(path) = &fence.path {
                files.retain(|(have, _)| have != path);
                files.push((path.clone(), fence.text.to_owned()));
            }
        }
        (!files.is_empty()).then_some(Self::Files(files))
    }

    /// The form, in a word.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Diff(_) => "diff",
            Self::Blocks(_) => "blocks",
            Self::Files(_) => "files",
        }
    }

    /// The tree with the proposal applied, but for the paths that are dropped; those that it would have
    /// changed, and those that were dropped.
    ///
    /// # Errors
    /// What does not apply.
    pub fn apply<E>(
        &self,
        tree: &FileTree,
        is_dropped: &dyn Fn(&str) -> bool,
        fuzz: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Proposed, Unapplied<E>> {
        let of = |paths: BTreeSet<String>| {
            let (dropped, changed) = paths.into_iter().partition(|path| is_dropped(path));
            Proposed { tree: FileTree::new(), changed, dropped }
        };
        let owned = |path: &str| path.to_owned();
        match self {
            Self::Diff(text) => {
                let diff = Diff::read(text)?;
                let said = of(diff.paths().map(owned).collect());
                Ok(Proposed { tree: diff.without(is_dropped).apply(tree, fuzz, pay)?, ..said })
            }
            Self::Blocks(text) => {
                let blocks = Blocks::read(text)?;
                let said = of(blocks.paths().map(owned).collect());
                Ok(Proposed { tree: blocks.without(is_dropped).apply(tree, pay)?, ..said })
            }
            Self::Files(files) => {
                let mut tree = tree.clone();
                let mut paths = BTreeSet::new();
                for (path, text) in files {
                    let path = safe_path(path)?;
                    paths.insert(path.to_owned());
                    if !is_dropped(path) {
                        tree.put(path, text.clone().into_bytes())?;
                    }
                }
                Ok(Proposed { tree, ..of(paths) })
            }
        }
    }
}

/// A tree as an answer would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The tree.
    pub tree: FileTree,
    /// The paths that were changed.
    pub changed: Vec<String>,
    /// The paths that were not to be changed, and were not.
    pub dropped: Vec<String>,
}

/// A fenced block.
struct Fence<'a> {
    /// Its first word: the language.
    language: &'a str,
    /// The file that it or the line above it names.
    path: Option<String>,
    text: &'a str,
}

fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(&str, usize, Option<String>, usize)> = None;
    let (mut above, mut at) = ("", 0);
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let bare = line.trim();
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        let (ticks, info) = bare.split_at(ticks);
        if let Some((info_open, from, path, length)) = &open {
            if ticks.len() >= *length && info.is_empty() {
                let language = info_open.split([' ', ':', '{']).next().unwrap_or_default();
                found.push(Fence { language, path: path.clone(), text: &text[*from..at] });
                (open, above) = (None, "");
            }
        } else if ticks.len() >= 3 && !info.contains('`') {
            let path = path_of_info(info).or_else(|| path_in(above));
            open = Some((info.trim(), next, path, ticks.len()));
        } else if !bare.is_empty() {
            above = bare;
        }
        at = next;
    }
    found
}

/// `python src/a.py`, `python:src/a.py`, `python title="src/a.py"`, `src/a.py`.
fn path_of_info(info: &str) -> Option<String> {
    let words = info.split([' ', ':', '=', '"', '\'', '{', '}']);
    words.filter(|word| !word.is_empty()).find_map(|word| bare_path(word).map(str::to_owned))
}

/// The fences that are diffs, the last one first; one that changes a file which a later one changes as well
/// is a draft.
fn fenced_diff(fences: &[Fence<'_>]) -> Option<String> {
    let mut taken: Vec<&str> = Vec::new();
    let mut paths: BTreeSet<String> = BTreeSet::new();
    let is_diff = |fence: &&Fence<'_>| {
        matches!(fence.language, "diff" | "patch" | "udiff")
            || fence.text.starts_with("diff --git ")
            || diff_start(fence.text) == Some(0)
    };
    for fence in fences.iter().rev().filter(is_diff) {
        let Ok(diff) = Diff::read(fence.text) else {
            // What cannot be read is what was meant, where nothing else is.
            if taken.is_empty() {
                return Some(fence.text.to_owned());
            }
            continue;
        };
        let own: BTreeSet<String> = diff.paths().map(str::to_owned).collect();
        if own.is_disjoint(&paths) {
            paths.extend(own);
            taken.push(fence.text);
        }
    }
    taken.reverse();
    (!taken.is_empty()).then(|| taken.concat())
}

/// Where a diff begins: at `diff --git`, or at `---` above `+++`.
fn diff_start(text: &str) -> Option<usize> {
    let (mut at, mut minus) = (0, None);
    for line in text.split_inclusive('\n') {
        if line.starts_with("diff --git ") {
            return Some(at);
        }
        if let (true, Some(from)) = (line.starts_with("+++ "), minus) {
            return Some(from);
        }
        minus = line.starts_with("--- ").then_some(at);
        at += line.len();
    }
    None
}

/// `{"path": "text"}`, which may be the member `files`, as the whole answer or in its last fence of JSON.
fn json_files(answer: &str, fences: &[Fence<'_>]) -> Option<Vec<(String, String)>> {
    let json = fences.iter().rev().find(|fence| fence.language.eq_ignore_ascii_case("json"));
    let texts = [Some(answer.trim()), json.map(|fence| fence.text)];
    let text = texts.into_iter().flatten().find(|text| text.trim_start().starts_with('{'))?;
    let value: Value = serde_json::from_str(text).ok()?;
    let files = value.get("files").filter(|files| files.is_object()).unwrap_or(&value);
    let files = files.as_object()?.iter();
    let files: Option<Vec<(String, String)>> =
        files.map(|(path, text)| Some((path.clone(), text.as_str()?.to_owned()))).collect();
    files.filter(|files| !files.is_empty())
}
