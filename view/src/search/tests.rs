//! Search as it is across chunks and escapes.

use std::fs::File;
use std::io::Write as _;

use super::*;

#[test]
fn a_text_is_found_across_chunks_and_in_both_escapes() {
    let path = std::env::temp_dir().join(format!("assay-view-search-{}", std::process::id()));
    let mut text = "x".repeat(CHUNK_BYTES - 2);
    text.push_str("needle\n\"caf\\u00e9\"\ncaf\u{e9} \\\"q\\\"\n");
    File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let file = LinesFile::read(&path, false, |_| Ok(())).unwrap();
    for (wanted, lines) in [("needle", &[0][..]), ("café", &[1, 2]), ("\"q", &[2]), ("none", &[])]
    {
        let mut found = lines_with(&file, &needles(wanted)).unwrap();
        found.sort_unstable();
        assert_eq!(found, lines, "{wanted}");
    }
    std::fs::remove_file(path).unwrap();
}
