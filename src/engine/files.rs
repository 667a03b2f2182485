//! The files that a configuration may name.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use assay_verifiers::Files;

/// The largest file that a setting may name, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Files below the folder of the configuration, and below those that were allowed.
#[derive(Clone, Debug)]
pub struct ConfigFolder {
    root: PathBuf,
    allowed: Vec<PathBuf>,
}

impl ConfigFolder {
    /// Files below `root`, and below each of `allowed`.
    pub fn new(root: impl Into<PathBuf>, allowed: Vec<PathBuf>) -> Self {
        Self { root: root.into(), allowed }
    }

    /// Files below the folder of a configuration file, and below each of `allowed`.
    pub fn beside(config: &Path, allowed: Vec<PathBuf>) -> Self {
        match config.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => Self::new(folder, allowed),
            _ => Self::new(".", allowed),
        }
    }

    /// The path of a dataset that a setting names, for [`Source::open`](crate::data::Source::open): a
    /// file, a folder, or a split of a folder, as in `FOLDER:SPLIT`.
    ///
    /// # Errors
    /// A path that is not there, or that is outside.
    pub fn dataset(&self, name: &str) -> Result<PathBuf, String> {
        let whole = self.resolve(name);
        match (&whole, name.rsplit_once(':')) {
            (Err(_), Some((folder, split))) if !self.root.join(name).exists() => {
                let (_, real) = self.resolve(folder)?;
                let mut path = real.into_os_string();
                path.push(format!(":{split}"));
                Ok(path.into())
            }
            _ => whole.map(|(path, _)| path),
        }
    }
}

impl ConfigFolder {
    /// The path as it was written and as it is, where it may be used.
    fn resolve(&self, name: &str) -> Result<(PathBuf, PathBuf), String> {
        let path = self.root.join(name);
        let shown = path.display();
        let real = fs::canonicalize(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                format!("{shown}: {error}; a path is relative to the folder of the configuration")
            }
            _ => format!("{shown}: {error}"),
        })?;
        let within = |folder: &Path| fs::canonicalize(folder).is_ok_and(|f| real.starts_with(f));
        if within(&self.root) || self.allowed.iter().any(|folder| within(folder)) {
            return Ok((path, real));
        }
        Err(format!("{shown}: outside the folder of the configuration; --allow-path permits it"))
    }
}

impl Files for ConfigFolder {
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let (path, real) = self.resolve(name)?;
        if real.is_dir() { Ok(real) } else { Err(format!("{}: not a folder", path.display())) }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let (path, real) = self.resolve(name)?;
        let shown = path.display();
        let meta = fs::metadata(&real).map_err(|error| format!("{shown}: {error}"))?;
        if !meta.is_file() {
            return Err(format!("{shown}: not a regular file"));
        }
        if meta.len() > FILE_BYTES_MAX {
            let bytes = meta.len();
            return Err(format!("{shown}: {bytes} bytes; at most {FILE_BYTES_MAX} are read"));
        }
        fs::read(&real).map_err(|error| format!("{shown}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("config");
        fs::create_dir(&root).unwrap();
        crate::engine::runs::write_atomic(&root.join("in.txt"), b"in").unwrap();
        crate::engine::runs::write_atomic(&outer.path().join("out.txt"), b"out").unwrap();
        std::os::unix::fs::symlink(outer.path().join("out.txt"), root.join("link")).unwrap();
        let files = ConfigFolder::new(&root, Vec::new());
        assert_eq!(files.read("in.txt").unwrap(), b"in");
        assert_eq!(files.read("./../config/in.txt").unwrap(), b"in");
        let absolute = outer.path().join("out.txt");
        for name in ["../out.txt", "link", absolute.to_str().unwrap(), "/etc/passwd", "."] {
            assert!(files.read(name).is_err(), "{name}");
        }
        let allowed = ConfigFolder::new(&root, vec![outer.path().to_owned()]);
        assert_eq!(allowed.read("../out.txt").unwrap(), b"out");
        let beside = ConfigFolder::beside(&root.join("assay.toml"), Vec::new());
        assert_eq!(beside.dataset("in.txt").unwrap(), root.join("in.txt"));
        assert!(beside.dataset("../out.txt").is_err() && beside.dataset("..:train").is_err());
        let split = beside.dataset(".:train").unwrap();
        assert_eq!(split.to_str().unwrap().rsplit_once(':').unwrap().1, "train");
    }
}
