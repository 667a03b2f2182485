//! The files that a configuration may name.

use std::fs;
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
}

impl ConfigFolder {
    /// The path as it was written and as it is, where it may be used.
    fn resolve(&self, name: &str) -> Result<(PathBuf, PathBuf), String> {
        let path = self.root.join(name);
        let shown = path.display();
        let real = fs::canonicalize(&path).map_err(|error| format!("{shown}: {error}"))?;
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
    }
}
