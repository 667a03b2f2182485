//! The lines by which a trainer takes its rewards: the first block of its page in `docs/trainers`; and a
//! configuration and rows that fit them.

/// The configuration that the lines of all trainers name: a right answer in the column `answer`.
const CONFIG: &str = include_str!("../../../fixtures/init/trainer.toml");

/// The pages by the names of the trainers.
const PAGES: &[(&str, &str)] = &[
    ("areal", include_str!("../../../docs/trainers/areal.md")),
    ("art", include_str!("../../../docs/trainers/art.md")),
    ("atropos", include_str!("../../../docs/trainers/atropos.md")),
    ("axolotl", include_str!("../../../docs/trainers/axolotl.md")),
    ("easyr1", include_str!("../../../docs/trainers/easyr1.md")),
    ("harbor", include_str!("../../../docs/trainers/harbor.md")),
    ("hud", include_str!("../../../docs/trainers/hud.md")),
    ("inspect", include_str!("../../../docs/trainers/inspect.md")),
    ("lm-eval", include_str!("../../../docs/trainers/lm-eval.md")),
    ("ms-swift", include_str!("../../../docs/trainers/ms-swift.md")),
    ("nemo-rl", include_str!("../../../docs/trainers/nemo-rl.md")),
    ("openenv", include_str!("../../../docs/trainers/openenv.md")),
    ("openrlhf", include_str!("../../../docs/trainers/openrlhf.md")),
    ("rllm", include_str!("../../../docs/trainers/rllm.md")),
    ("skyrl", include_str!("../../../docs/trainers/skyrl.md")),
    ("slime", include_str!("../../../docs/trainers/slime.md")),
    ("tinker", include_str!("../../../docs/trainers/tinker.md")),
    ("trl", include_str!("../../../docs/trainers/trl.md")),
    ("unsloth", include_str!("../../../docs/trainers/unsloth.md")),
    ("verifiers", include_str!("../../../docs/trainers/verifiers.md")),
    ("verl", include_str!("../../../docs/trainers/verl.md")),
];

/// The names of the trainers, in order.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(name, _)| *name)
}

/// The files for a trainer.
pub(super) fn files(trainer: &str, data: &str) -> Option<[(&'static str, String); 3]> {
    Some([("assay.toml", CONFIG.to_owned()), ("data.jsonl", rows(data)), file(trainer)?])
}

/// The rows whose answer is a number, as a trainer reads them.
fn rows(data: &str) -> String {
    let numbers = data.lines().filter_map(|row| row.split_once("\"kind\": \"math\", "));
    let row =
        |(id, row): (&str, &str)| [id, &row.replace("\"reference\"", "\"answer\""), "\n"].concat();
    numbers.map(row).collect()
}

/// The file for a trainer: its name and its text, which reads `assay.toml`.
fn file(trainer: &str) -> Option<(&'static str, String)> {
    let (_, page) = PAGES.iter().find(|(name, _)| *name == trainer)?;
    let (_, block) = page.split_once("```")?;
    let (language, block) = block.split_once('\n')?;
    let (text, _) = block.split_once("```")?;
    let name = match language {
        "python" => "train.py",
        "yaml" => "train.yaml",
        "toml" => "train.toml",
        _ => "train.sh",
    };
    let text = text.replace("/data/assay.toml", "assay.toml");
    let own = text.split_once("CONFIG = \"\"\"\n").filter(|_| text.contains("assay.adapters"));
    let own = own.and_then(|(before, rest)| Some((before, rest.split_once("\"\"\"\n")?.1)));
    let plain = own.map(|(before, behind)| format!("{before}CONFIG = \"assay.toml\"\n{behind}"));
    Some((name, plain.unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_page_is_known_and_has_lines_to_start_from() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/trainers");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let pages = files.filter(|file| file.extension().is_some_and(|end| end == "md"));
        let stems = pages.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned());
        let mut found: Vec<String> = stems.filter(|name| name != "README").collect();
        found.sort();
        assert_eq!(found, names().collect::<Vec<_>>());
        for name in names() {
            let (file, text) = file(name).unwrap();
            assert!(text.contains("assay"), "{name}: {file}\n{text}");
        }
    }

    #[test]
    fn what_the_lines_read_is_there() {
        let is_file = |word: &&str| {
            let ends = [".toml", ".jsonl", ".parquet", "train.yaml"];
            ends.iter().any(|end| word.ends_with(end)) && !word.starts_with('/')
        };
        for name in names() {
            let files = files(name, "").unwrap();
            let (_, text) = &files[2];
            let in_name = |char: char| char.is_alphanumeric() || "._-/".contains(char);
            for word in text.split(|char| !in_name(char)).filter(is_file) {
                let is_made = text.contains(&format!("(\"{word}\")"));
                let is_there = files.iter().any(|(own, _)| *own == word);
                assert!(is_made || is_there, "{name}: {word}\n{text}");
            }
        }
        let row = rows("{\"id\": 1, \"kind\": \"math\", \"reference\": \"84\"}\n");
        assert!(row.contains("\"answer\": \"84\"") && !row.contains("kind"), "{row}");
    }
}
