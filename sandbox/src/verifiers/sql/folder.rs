//! A folder of databases, each in a folder of its own name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use assay_verifiers::Files;

/// The files of each database of a folder, by its name.
pub(super) fn suites(
    folder: &str,
    files: &dyn Files,
) -> Result<BTreeMap<String, Vec<String>>, String> {
    let root = files.folder(folder)?;
    let mut suites = BTreeMap::new();
    for name in names(&root)? {
        if !root.join(&name).is_dir() {
            continue;
        }
        let mut own = names(&root.join(&name))?;
        let dump = format!("{name}.sql");
        let has_dump = own.contains(&dump);
        own.retain(|file| file.ends_with(".sqlite"));
        if own.is_empty() && has_dump {
            own.push(dump);
        }
        if !own.is_empty() {
            let paths = own.iter().map(|file| format!("{folder}/{name}/{file}")).collect();
            suites.insert(name, paths);
        }
    }
    if suites.is_empty() {
        let why = "has no databases: expected NAME/NAME.sqlite or NAME/NAME.sql";
        return Err(format!("folder \"{folder}\" {why}"));
    }
    Ok(suites)
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        names.extend(entry.map_err(told)?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}
