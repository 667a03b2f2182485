//! Unified diffs, as `git diff` and `diff -u` write them and `git apply` and `patch` read them.

mod hunk;

use crate::quoted::quoted;
use crate::refused::{Refused, Unapplied, cut};
use crate::tree::{FileTree, safe_path};
use hunk::Hunk;

/// Files that one diff may change.
const FILES_MAX: usize = 2_000;

/// A diff of some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff<'a> {
    files: Vec<FileDiff<'a>>,
}

/// The change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FileDiff<'a> {
    /// Its path before; none where it is new.
    old: Option<String>,
    /// Its path after; none where it is deleted.
    new: Option<String>,
    /// The old one stays.
    is_copy: bool,
    hunks: Vec<Hunk<'a>>,
}

impl<'a> Diff<'a> {
    /// Reads a diff, in linear time. What is before the first file and between files is passed over.
    ///
    /// # Errors
    /// A text without a diff, hunks that break off, binary files, links, and unsafe paths.
    pub fn read(text: &'a str) -> Result<Self, Refused> {
        let mut reader = Reader { lines: text.split('\n').collect(), at: 0 };
        if text.ends_with('\n') {
            reader.lines.pop();
        }
        let mut files = Vec::new();
        while let Some(file) = reader.file()? {
            if files.len() >= FILES_MAX {
                return Err(Refused::new("", format!("a diff of more than {FILES_MAX} files")));
            }
            files.push(file);
        }
        if files.is_empty() {
            return Err(Refused::new("", "no diff: neither `diff --git` nor `---` and `+++`"));
        }
        Ok(Self { files })
    }

    /// The paths that it changes, old ones and new ones.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|file| file.old.iter().chain(&file.new)).map(String::as_str)
    }

    /// The same diff without changes of some paths.
    #[must_use]
    pub fn without(mut self, is_dropped: &dyn Fn(&str) -> bool) -> Self {
        let drops = |path: &Option<String>| path.as_deref().is_some_and(is_dropped);
        self.files.retain(|file| !drops(&file.old) && !drops(&file.new));
        self
    }

    /// Applies it. A hunk is looked for nearest to the line that it names; where it is nowhere, up to
    /// `fuzz` lines of its context are left out at either end.
    ///
    /// # Errors
    /// Files that are missing or in the way, and hunks that stand nowhere.
    pub fn apply<E>(
        &self,
        tree: &FileTree,
        fuzz: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<FileTree, Unapplied<E>> {
        let mut tree = tree.clone();
        for file in &self.files {
            file.apply(&mut tree, fuzz, pay)?;
        }
        Ok(tree)
    }
}

impl FileDiff<'_> {
    fn apply<E>(
        &self,
        tree: &mut FileTree,
        fuzz: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(), Unapplied<E>> {
        let before = match &self.old {
            Some(old) => tree.get(old).ok_or_else(|| Refused::new(old, "is not there"))?.to_vec(),
            None => Vec::new(),
        };
        let name = self.new.as_ref().or(self.old.as_ref()).map_or("", String::as_str);
        let after = hunk::apply(name, &before, &self.hunks, fuzz, pay)?;
        if let Some(old) = &self.old
            && self.old != self.new
            && !self.is_copy
        {
            tree.remove(old);
        }
        match &self.new {
            None if !after.is_empty() => {
                Err(Refused::new(name, "is deleted, and the hunks leave lines of it").into())
            }
            None => Ok(()),
            Some(new) if self.old != self.new && tree.get(new).is_some_and(|b| !b.is_empty()) => {
                Err(Refused::new(new, "is there already").into())
            }
            Some(new) => Ok(tree.put(new, after)?),
        }
    }
}

/// What is above the hunks of a file.
#[derive(Default)]
struct Header<'a> {
    /// The two paths of the line `diff --git`.
    git: Option<&'a str>,
    old: Option<String>,
    new: Option<String>,
    from: Option<String>,
    to: Option<String>,
    is_new: bool,
    is_deleted: bool,
    is_copy: bool,
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self, at: usize) -> Option<&'a str> {
        self.lines.get(at).map(|line| line.strip_suffix('\r').unwrap_or(line))
    }

    /// The next file, if there is one.
    fn file(&mut self) -> Result<Option<FileDiff<'a>>, Refused> {
        while let Some(line) = self.line(self.at) {
            if line.starts_with("diff --git ") || self.names(self.at).is_some() {
                let header = self.header()?;
                let mut hunks = Vec::new();
                while self.line(self.at).is_some_and(|line| line.starts_with("@@")) {
                    hunks.push(Hunk::read(&self.lines, &mut self.at)?);
                    self.skip_blank();
                }
                return header.file(hunks).map(Some);
            }
            if line.starts_with("@@ -") {
                return Err(Refused::new("", "a hunk without the name of its file"));
            }
            self.at += 1;
        }
        Ok(None)
    }

    /// Blank lines between hunks are no lines of a hunk.
    fn skip_blank(&mut self) {
        let mut at = self.at;
        while self.line(at).is_some_and(str::is_empty) {
            at += 1;
        }
        if self.line(at).is_some_and(|line| line.starts_with("@@")) {
            self.at = at;
        }
    }

    /// The names in `---` and `+++`, which stand together.
    fn names(&self, at: usize) -> Option<[&'a str; 2]> {
        Some([self.line(at)?.strip_prefix("--- ")?, self.line(at + 1)?.strip_prefix("+++ ")?])
    }

    fn header(&mut self) -> Result<Header<'a>, Refused> {
        let mut header = Header::default();
        if let Some(paths) = self.line(self.at).and_then(|line| line.strip_prefix("diff --git ")) {
            header.git = Some(paths);
            self.at += 1;
        }
        while let Some(line) = self.line(self.at) {
            if let Some(names) = self.names(self.at) {
                header.names(names)?;
                self.at += 2;
                break;
            }
            if !header.takes(line)? {
                break;
            }
            self.at += 1;
        }
        Ok(header)
    }
}

impl<'a> Header<'a> {
    /// Takes one of the lines that git writes below `diff --git`.
    fn takes(&mut self, line: &'a str) -> Result<bool, Refused> {
        let is_link = |mode: &str| mode.starts_with("120") || mode.starts_with("160");
        let named = |path: &str| quoted(path).map_or_else(|| path.to_owned(), |(path, _)| path);
        if let Some(mode) = line.strip_prefix("new file mode ") {
            self.is_new = true;
            if is_link(mode) {
                return Err(Refused::new(self.git.unwrap_or(""), "is a link"));
            }
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            self.from = Some(named(path));
        } else if let Some(path) = line.strip_prefix("copy from ") {
            (self.from, self.is_copy) = (Some(named(path)), true);
        } else if let Some(path) =
            line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to "))
        {
            self.to = Some(named(path));
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            if is_link(mode) {
                return Err(Refused::new(self.git.unwrap_or(""), "is a link"));
            }
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(Refused::new(self.git.unwrap_or(""), "is binary"));
        } else {
            let known = ["index ", "old mode ", "similarity index ", "dissimilarity index "];
            return Ok(known.iter().any(|start| line.starts_with(start)));
        }
        Ok(true)
    }

    /// Takes the lines `---` and `+++`.
    fn names(&mut self, names: [&str; 2]) -> Result<(), Refused> {
        let [old, new] = names.map(|name| match quoted(name) {
            Some((path, _)) => path,
            None => name.split('\t').next().unwrap_or(name).trim_end().to_owned(),
        });
        let is_none = |path: &str| path == "/dev/null";
        (self.is_new, self.is_deleted) = (is_none(&old), is_none(&new));
        if self.is_new && self.is_deleted {
            return Err(Refused::new("", "a file that is neither before nor after"));
        }
        // `a/` and `b/` stand for the two trees where both names have them.
        let bare = match (old.strip_prefix("a/"), new.strip_prefix("b/")) {
            (Some(old), Some(new)) => [old, new],
            (Some(old), None) if self.is_deleted => [old, &new],
            (None, Some(new)) if self.is_new => [&old, new],
            _ => [&*old, &*new],
        };
        let [old, new] = bare.map(str::to_owned);
        self.old = (!self.is_new).then_some(old);
        self.new = (!self.is_deleted).then_some(new);
        Ok(())
    }

    fn file(mut self, hunks: Vec<Hunk<'a>>) -> Result<FileDiff<'a>, Refused> {
        if self.from.is_some() && self.to.is_some() {
            (self.old, self.new) = (self.from.take(), self.to.take());
        } else if self.old.is_none() && self.new.is_none() {
            let git = self.git.unwrap_or("");
            let path = of_git(git).ok_or_else(|| Refused::new(git, "names no file"))?;
            self.old = (!self.is_new).then(|| path.clone());
            self.new = (!self.is_deleted).then_some(path);
        }
        for path in [&mut self.old, &mut self.new].into_iter().flatten() {
            *path = safe_path(path)?.to_owned();
        }
        // `diff -u` of one tree with another has two names for a file, and no renames.
        if self.from.is_none() && self.git.is_none() && self.old.is_some() && self.new.is_some() {
            self.old = self.new.clone();
        }
        Ok(FileDiff { old: self.old, new: self.new, is_copy: self.is_copy, hunks })
    }
}

/// The path in `a/PATH b/PATH`, the same twice.
fn of_git(paths: &str) -> Option<String> {
    if let Some((first, _)) = quoted(paths) {
        return first.strip_prefix("a/").map(str::to_owned);
    }
    let (first, second) = paths.split_at_checked(paths.len() / 2)?;
    let (first, second) = (first.strip_prefix("a/")?, second.strip_prefix(" b/")?);
    (first == second).then(|| cut(first)).filter(|path| path.len() == first.len())
}
