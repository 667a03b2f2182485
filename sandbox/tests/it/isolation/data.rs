//! Real programs of models: the verdict must be that of `CPython` itself.

use super::*;

fn ruling(row: &Value) -> Option<String> {
    let entry_points = [text(row, "/reference/entry_point").to_owned()];
    let has_entry = !entry_points[0].is_empty();
    let task = AssertionTask {
        candidate: text(row, "/response"),
        common_imports: true,
        prompt: Some(text(row, "/prompt")),
        test: text(row, "/reference/test"),
        entry_points: if has_entry { &entry_points } else { &[] },
        ..AssertionTask::default()
    };
    let judged = with_context(|context| run_assertions(python(), &task, context));
    let ruling = judged.ruling();
    if matches!(ruling, Ruling::Passed) == (row["label"] == true)
        && !matches!(ruling, Ruling::BadTests(_) | Ruling::Stopped(_))
    {
        return None;
    }
    let failed = judged.tests.iter().find(|test| test.failures > 0);
    Some(format!(
        "{} outcome {} ruling {ruling:?} error {:?} poisoned {:?} stop {:?} first {failed:?}",
        text(row, "/id"),
        row["outcome"],
        judged.error,
        judged.poisoned,
        judged.stop,
    ))
}

fn agrees(path: &Path) {
    let rows: Vec<_> = rows(path).into_iter().filter(|row| row["outcome"] != "timeout").collect();
    let wrong = over(&rows, ruling);
    println!("{}: {} of {} differ", path.display(), wrong.len(), rows.len());
    assert!(wrong.len() * 200 <= rows.len(), "{}", wrong.join("\n"));
    println!("{}", wrong.join("\n"));
}

#[test]
fn programs_for_humaneval_get_the_verdict_of_cpython() {
    agrees(&root().join("fixtures/datasets/code-humaneval.jsonl.gz"));
}

#[test]
fn every_reference_of_humaneval_passes() {
    let rows = rows(&root().join("fixtures/datasets/humaneval-references.jsonl.gz"));
    assert_eq!(rows.len(), 164);
    assert_eq!(over(&rows, ruling), Vec::<String>::new());
}

#[test]
fn programs_for_mbpp_get_the_verdict_of_cpython() {
    agrees(&root().join("fixtures/datasets/code-mbpp.jsonl.gz"));
}

#[test]
#[ignore = "takes a file of one's own: ASSAY_ROWS=FILE"]
fn programs_of_a_file_get_the_verdict_of_cpython() {
    #[expect(clippy::disallowed_methods, reason = "run by hand")]
    let path = std::env::var("ASSAY_ROWS").expect("ASSAY_ROWS names a file");
    agrees(Path::new(&path));
}
