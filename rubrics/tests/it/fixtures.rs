//! The files of `fixtures/rubrics`.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/rubrics")).join(name)
}

/// The text of a file.
pub(crate) fn text(name: &str) -> String {
    let mut file = File::open(path(name)).unwrap();
    let mut text = String::new();
    if path(name).extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        file.read_to_string(&mut text).unwrap();
    }
    text
}

/// The objects of a file of JSON lines.
pub(crate) fn rows<Row: DeserializeOwned>(name: &str) -> Vec<Row> {
    text(name).split_terminator('\n').map(|line| serde_json::from_str(line).unwrap()).collect()
}
