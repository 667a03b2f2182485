//! Same samples and same configuration, same bytes: on any number of threads, with a cold or a
//! warm cache, and from every form in which the same rows can come.

#![allow(clippy::print_stdout, reason = "a test stops at what it does not expect")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::place::Place;
use crate::support::{builder, lines, rows};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use assay::Registry;
use assay::data::{ReadLimits, Source};
use assay::verifiers::canonical;
use parquet::arrow::ArrowWriter;

const CONFIG: &str = "\
    [[reward]]\nname = 'correct'\nverifier = 'exact'\ncache = true\n\
    [[reward]]\nname = 'code'\nverifier = 'exact'\nwhen = 'meta.kind == \"code\"'\ncache = true\n\
    [combine]\nhow = 'expression'\nexpression = '0.9 * correct + 0.1 * (code ?? 0.0)'\n";

fn digest(data: &Path, jobs: usize, cache: Option<&Path>) -> String {
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    let builder = builder(CONFIG, registry).cache_dir(cache.map(Path::to_owned));
    let engine = builder.jobs(jobs).build().unwrap();
    let source = Source::open(&[data.to_owned()], &ReadLimits::default()).unwrap();
    let out = lines(&engine, source);
    assert_eq!(std::str::from_utf8(&out).unwrap().lines().count(), 3000);
    canonical::hex(&canonical::digest_parts(&[&out]))
}

/// The same rows as JSON lines, gzip, zstd and Parquet.
fn forms(dir: &Path, text: &str) -> Vec<PathBuf> {
    let path = |name: &str| dir.join(name);
    File::create(path("d.jsonl")).unwrap().write_all(text.as_bytes()).unwrap();
    let level = flate2::Compression::fast();
    let mut gz = flate2::write::GzEncoder::new(File::create(path("d.jsonl.gz")).unwrap(), level);
    gz.write_all(text.as_bytes()).unwrap();
    gz.finish().unwrap();
    let zst = File::create(path("d.jsonl.zst")).unwrap();
    zstd::stream::copy_encode(text.as_bytes(), zst, 1).unwrap();
    let parsed: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let column = |name: &str| -> ArrayRef {
        Arc::new(parsed.iter().map(|row| row[name].as_str()).collect::<StringArray>())
    };
    let names = ["completion", "id", "kind", "name", "prompt_id", "reference"];
    let batch = RecordBatch::try_from_iter(names.map(|name| (name, column(name)))).unwrap();
    let file = File::create(path("d.parquet")).unwrap();
    let mut parquet = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    parquet.write(&batch).unwrap();
    parquet.close().unwrap();
    ["d.jsonl", "d.jsonl.gz", "d.jsonl.zst", "d.parquet"].map(path).to_vec()
}

#[test]
fn one_digest_over_threads_caches_and_forms() {
    let temp = tempfile::tempdir().unwrap();
    let text = rows(3000, 200);
    let forms = forms(temp.path(), &text);
    let mut digests = BTreeSet::new();
    for jobs in [1, 2, 8] {
        for round in 0..3 {
            let cache = temp.path().join(format!("cache-{jobs}-{round}"));
            // Cold, then warm.
            digests.insert(digest(&forms[0], jobs, Some(&cache)));
            digests.insert(digest(&forms[0], jobs, Some(&cache)));
        }
    }
    for form in &forms {
        digests.insert(digest(form, 2, None));
    }
    assert_eq!(digests.len(), 1, "{digests:?}");
}

#[test]
fn rows_without_ids_have_one_id_in_every_form() {
    let temp = tempfile::tempdir().unwrap();
    let text = rows(3000, 200).replace("\"id\":", "\"name\":");
    // In Parquet the id is a column of nulls: null and missing are the same.
    let forms = forms(temp.path(), &text);
    let digests: BTreeSet<String> = forms.iter().map(|form| digest(form, 2, None)).collect();
    assert_eq!(digests.len(), 1, "{digests:?}");
}

#[test]
fn a_run_that_does_not_repeat_itself_is_told() {
    let config = "version = 1\n[[reward]]\nname = 'answer'\nverifier = 'math'\n";
    let rows = "{\"id\": \"a\", \"completion\": \"4\", \"reference\": \"4\"}\n{\"id\": \"b\", \"completion\": \"5\", \"reference\": \"4\"}\n";
    let place = Place::with(&[("assay.toml", config), ("rows.jsonl", rows)]);
    let ran = place.run("score assay.toml rows.jsonl -o run --repeat 3 --quiet");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("scored 3 times: 0 rows differ"), "{}", ran.err);

    // A run whose first session was another one's.
    let kept = std::fs::read_to_string(place.path("run/verdicts.jsonl")).unwrap();
    place.write("run/verdicts.jsonl", &kept.replacen("\"reward\":0.0", "\"reward\":1.0", 1));
    let ran = place.run("score assay.toml rows.jsonl -o run --repeat 2 --quiet");
    assert_ne!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = place.run("score assay.toml rows.jsonl -o other --repeat 1");
    assert_eq!(ran.code, 2, "{}", ran.err);
}
