//! Reading every hostile dataset, one after the other, takes little memory. The test has a process
//! to itself, because it looks at the highest memory that the process ever held.

use std::fs;
use std::path::Path;

use assay::data::{Columns, ReadLimits, Source};

const FOLDER: &str = "fixtures/hostile/";

/// What reading may take at most, in kB.
const MEMORY_KB_MAX: u64 = 128 << 10;

/// The highest memory that this process has held so far, where the system tells.
fn memory_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[test]
fn memory_stays_bounded() {
    let index = fs::read_to_string(format!("{FOLDER}index.toml")).unwrap();
    let index: toml::Table = index.parse().unwrap();
    let cases = index.get("file").and_then(toml::Value::as_array).unwrap();
    assert!(cases.len() >= 60);
    for case in cases {
        let file = case.get("file").and_then(toml::Value::as_str).unwrap();
        let Ok(source) = Source::open(&[Path::new(FOLDER).join(file)], &ReadLimits::default())
        else {
            continue;
        };
        for block in source.flatten() {
            drop(block.rows(&Columns::default()));
        }
        if let Some(memory) = memory_kb() {
            assert!(memory < MEMORY_KB_MAX, "{file}: {memory} kB");
        }
    }
}
