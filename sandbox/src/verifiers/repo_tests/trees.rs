//! Repositories that settings name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use assay_patch::{FileTree, tar};
use assay_verifiers::BuildError;
use assay_verifiers::prelude::*;
use sha2::{Digest as _, Sha256};

/// The name of the repository of every row.
pub(super) const ONLY: &str = "";

/// A file that holds a repository.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a file, or a file and its sha256")]
pub enum TreeFile {
    /// Its name.
    Named(String),
    /// Its name, and what it must hold.
    Held {
        /// Its name.
        file: String,
        /// The SHA-256 of its bytes, in hexadecimal digits.
        sha256: String,
    },
}

impl TreeFile {
    fn load(&self, setting: &str, files: &dyn Files) -> Result<FileTree, BuildError> {
        let (name, wanted) = match self {
            Self::Named(name) => (name, None),
            Self::Held { file, sha256 } => (file, Some(sha256)),
        };
        let bytes = files.read(name).map_err(|why| BuildError::unreadable(setting, why))?;
        let bad = |why: String| BuildError::new(setting, format!("{name}: {why}"));
        if let Some(wanted) = wanted {
            let mut found = String::new();
            for byte in Sha256::digest(&bytes) {
                write!(found, "{byte:02x}").map_err(|why| bad(why.to_string()))?;
            }
            if !found.eq_ignore_ascii_case(wanted) {
                return Err(bad(format!("its SHA-256 is {found}, not {wanted}")));
            }
        }
        if name.to_ascii_lowercase().ends_with(".json") {
            let value: Value =
                serde_json::from_slice(&bytes).map_err(|why| bad(why.to_string()))?;
            return FileTree::from_json(&value).map_err(|why| bad(why.to_string()));
        }
        tar::read(&bytes).map_err(|why| bad(why.to_string()))
    }
}

/// All of them, by their names.
pub(super) fn load(
    only: Option<&TreeFile>,
    named: &BTreeMap<String, TreeFile>,
    files: &dyn Files,
) -> Result<BTreeMap<String, Arc<FileTree>>, BuildError> {
    let mut loaded = BTreeMap::new();
    if let Some(file) = only {
        loaded.insert(ONLY.to_owned(), Arc::new(file.load("tree", files)?));
    }
    for (name, file) in named {
        let tree = file.load(&format!("trees.{name}"), files)?;
        loaded.insert(name.clone(), Arc::new(tree));
    }
    Ok(loaded)
}
