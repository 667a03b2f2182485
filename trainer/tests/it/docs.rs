//! Every kind stands on its page.

use std::fs;
use std::path::Path;

use assay_trainer::{advantages, losses, presets, selection};

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

#[test]
fn every_kind_stands_on_its_page() {
    let rooms: [(&str, Vec<&str>); 3] = [
        ("advantages.md", advantages::ALL.iter().map(|entry| entry.kind).collect()),
        ("losses.md", losses::kinds::ALL.iter().map(|entry| entry.kind).collect()),
        ("selection.md", selection::ALL.iter().map(|entry| entry.kind).collect()),
    ];
    for (name, kinds) in rooms {
        let text = page(name);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
        for kind in kinds {
            let cell = format!("`{kind}`");
            let is_first =
                |row: &&str| row.split('|').nth(1).is_some_and(|cell_of| cell_of.contains(&cell));
            assert!(rows.iter().any(is_first), "{name} has no row for {cell}");
        }
    }
}

#[test]
fn every_preset_stands_on_a_page() {
    let pages = ["advantages.md", "losses.md", "selection.md"].map(page).concat();
    for (name, _) in presets::ALL {
        assert!(pages.contains(&format!("`{name}`")), "{name} is on no page");
    }
}
