//! A tree of files in memory: safe paths, a bounded number of files, a bounded sum of bytes.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde_json::Value;

use crate::refused::Refused;

/// Files of a tree at most.
pub const FILES_MAX: usize = 10_000;
/// Bytes of all files of a tree together.
pub const BYTES_MAX: usize = 24 << 20;
/// Bytes of a path.
pub const PATH_BYTES_MAX: usize = 512;
/// Folders above a file.
const DEPTH_MAX: usize = 64;

/// Files by their paths from the root, with `/` between names. A path is never a file and a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTree {
    files: BTreeMap<String, Vec<u8>>,
    bytes: usize,
}

impl FileTree {
    /// A tree without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads `{"path": "text"}`, or `[{"path": "...", "content": "..."}]`.
    ///
    /// # Errors
    /// Other JSON, unsafe paths, and more than a tree may hold.
    pub fn from_json(value: &Value) -> Result<Self, Refused> {
        let mut tree = Self::new();
        match value {
            Value::Object(files) => {
                for (path, text) in files {
                    tree.put(path, text_of(path, Some(text))?.into())?;
                }
            }
            Value::Array(files) => {
                for file in files {
                    let path = text_of("", file.get("path"))?;
                    let content = file.get("content").or_else(|| file.get("text"));
                    tree.put(path, text_of(path, content)?.into())?;
                }
            }
            _ => return Err(Refused::new("", "expected an object of paths and texts")),
        }
        Ok(tree)
    }

    /// Puts a file, in the place of one that is there.
    ///
    /// # Errors
    /// An unsafe path, one that is or needs a folder where a file is, and more than a tree may hold.
    pub fn put(&mut self, path: &str, content: Vec<u8>) -> Result<(), Refused> {
        let path = safe_path(path)?;
        if self.has_folder(path) {
            return Err(Refused::new(path, "is a folder"));
        }
        let mut above = path;
        while let Some((folder, _)) = above.rsplit_once('/') {
            if self.files.contains_key(folder) {
                return Err(Refused::new(path, format!("{folder} is a file")));
            }
            above = folder;
        }
        let before = self.files.get(path).map(Vec::len);
        if before.is_none() && self.files.len() >= FILES_MAX {
            return Err(Refused::new("", format!("more than {FILES_MAX} files")));
        }
        let bytes = self.bytes - before.unwrap_or(0) + content.len();
        if bytes > BYTES_MAX {
            return Err(Refused::new("", format!("files of more than {BYTES_MAX} bytes together")));
        }
        self.bytes = bytes;
        self.files.insert(path.to_owned(), content);
        Ok(())
    }

    /// What is in a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Takes a file away, and returns what was in it.
    pub fn remove(&mut self, path: &str) -> Option<Vec<u8>> {
        let content = self.files.remove(path)?;
        self.bytes -= content.len();
        Some(content)
    }

    /// All files, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a path is a folder.
    pub fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        let from = (Bound::Excluded(prefix.clone()), Bound::Unbounded);
        self.files.range(from).next().is_some_and(|(next, _)| next.starts_with(&prefix))
    }
}

fn text_of<'a>(path: &str, value: Option<&'a Value>) -> Result<&'a str, Refused> {
    let text = value.and_then(Value::as_str);
    text.ok_or_else(|| Refused::new(path, "expected a path and a text"))
}

/// A path that stays within its tree: relative, of plain names, without a leading `./`.
///
/// # Errors
/// Absolute paths, `..`, empty names, backslashes, drives, control characters, `.git`, and what is too
/// long or too deep.
pub fn safe_path(path: &str) -> Result<&str, Refused> {
    let mut rest = path;
    while let Some(shorter) = rest.strip_prefix("./") {
        rest = shorter;
    }
    let refuse = |why: &str| Err(Refused::new(path, why));
    if rest.len() > PATH_BYTES_MAX {
        return refuse("the path is too long");
    }
    if rest.starts_with('/') || rest.as_bytes().get(1) == Some(&b':') {
        return refuse("the path is absolute");
    }
    if rest.chars().any(|c| c.is_control() || c == '\\') {
        return refuse("the path has control characters or backslashes");
    }
    if rest.split('/').count() > DEPTH_MAX {
        return refuse("the path is too deep");
    }
    for name in rest.split('/') {
        match name {
            "" | "." => return refuse("the path has an empty name"),
            ".." => return refuse("the path leaves its tree"),
            ".git" => return refuse("the path is git's own"),
            _ => {}
        }
    }
    Ok(rest)
}
