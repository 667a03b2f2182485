//! Which paths there are.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::file::{File, FileError, Stat};

/// Files and folders of a guest.
pub(super) const ENTRIES_MAX: usize = 4096;

/// Files and folders by their paths. The path of the root is empty.
pub(super) struct Tree {
    entries: BTreeMap<String, Entry>,
}

/// A file or a folder.
#[derive(Clone)]
pub(super) struct Entry {
    /// None for a folder.
    pub(super) file: Option<File>,
    number: u64,
    /// The last change of a folder.
    changed: u64,
    /// Whether no folder lists it.
    is_hidden: bool,
}

impl Entry {
    pub(super) fn folder(number: u64) -> Self {
        Self { file: None, number, changed: number, is_hidden: false }
    }

    pub(super) fn file(file: File) -> Self {
        let number = file.number();
        Self { file: Some(file), number, changed: number, is_hidden: false }
    }

    pub(super) fn hidden(self) -> Self {
        Self { is_hidden: true, ..self }
    }

    fn stat(&self) -> Stat {
        let folder = Stat { number: self.number, bytes: None, changed: self.changed };
        self.file.as_ref().map_or(folder, File::stat)
    }
}

impl Tree {
    pub(super) fn new() -> Self {
        Self { entries: BTreeMap::from([(String::new(), Entry::folder(0))]) }
    }

    pub(super) fn entry(&self, path: &str) -> Result<&Entry, FileError> {
        if let Some(entry) = self.entries.get(path) {
            return Ok(entry);
        }
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/') {
            if self.entries.get(parent).is_some_and(|entry| entry.file.is_some()) {
                return Err(FileError::NotFolder);
            }
            above = parent;
        }
        Err(FileError::NoEntry)
    }

    pub(super) fn stat(&self, path: &str) -> Result<Stat, FileError> {
        self.entry(path).map(Entry::stat)
    }

    /// What a folder lists.
    pub(super) fn list(&self, path: &str) -> Result<Vec<(String, Stat)>, FileError> {
        if self.entry(path)?.file.is_some() {
            return Err(FileError::NotFolder);
        }
        let names =
            self.below(path).filter(|(name, entry)| !name.contains('/') && !entry.is_hidden);
        Ok(names.map(|(name, entry)| (name.to_owned(), entry.stat())).collect())
    }

    pub(super) fn insert(&mut self, path: &str, entry: Entry) -> Result<(), FileError> {
        match self.entry(path) {
            Ok(_) => return Err(FileError::Exists),
            Err(FileError::NoEntry) => {}
            Err(error) => return Err(error),
        }
        if self.entries.len() >= ENTRIES_MAX {
            return Err(FileError::NoSpace);
        }
        self.touch(path, entry.number)?;
        self.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    pub(super) fn remove(
        &mut self,
        path: &str,
        is_folder: bool,
        change: u64,
    ) -> Result<(), FileError> {
        match (self.entry(path)?.file.is_some(), is_folder) {
            (true, true) => return Err(FileError::NotFolder),
            (false, false) => return Err(FileError::IsFolder),
            (false, true) if path.is_empty() => return Err(FileError::Invalid),
            (false, true) if self.below(path).next().is_some() => return Err(FileError::NotEmpty),
            _ => {}
        }
        self.touch(path, change)?;
        self.entries.remove(path);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &str, to: &str, change: u64) -> Result<(), FileError> {
        let is_folder = self.entry(from)?.file.is_none();
        if from == to {
            return Ok(());
        }
        let is_inside = to.strip_prefix(from).is_some_and(|rest| rest.starts_with('/'));
        if from.is_empty() || to.is_empty() || is_inside {
            return Err(FileError::Invalid);
        }
        match self.entry(to) {
            Ok(_) => self.remove(to, is_folder, change)?,
            Err(FileError::NoEntry) => {}
            Err(error) => return Err(error),
        }
        self.touch(from, change)?;
        self.touch(to, change)?;
        let below: Vec<String> = self.below(from).map(|(name, _)| format!("/{name}")).collect();
        for rest in below.into_iter().chain([String::new()]) {
            if let Some(entry) = self.entries.remove(&format!("{from}{rest}")) {
                self.entries.insert(format!("{to}{rest}"), entry);
            }
        }
        Ok(())
    }

    /// Notes a change of the folder that a path is in.
    fn touch(&mut self, path: &str, change: u64) -> Result<(), FileError> {
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        let parent = self.entries.get_mut(parent).ok_or(FileError::NoEntry)?;
        parent.changed = change;
        Ok(())
    }

    /// Everything below a folder, by its path from there.
    fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &Entry)> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = (Bound::Excluded(prefix.clone()), Bound::Unbounded);
        let entries = self.entries.range(from);
        entries.map_while(move |(path, entry)| Some((path.strip_prefix(prefix.as_str())?, entry)))
    }
}
