//! `assay report`: a run as one page.

use serde_json::{Value, json};

use crate::place::Place;

const CONFIG: &str = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n";

fn scored() -> Place {
    let rows = [
        r#"{"id":"a","prompt":"1+2?","completion":"so\n3","reference":"3"}"#,
        r#"{"id":"b","prompt":"2+2?","completion":"</script><script>alert(1)","reference":"4"}"#,
        r#"{"id":"c","prompt":"2+2?","completion":"4","reference":""}"#,
    ];
    let place = Place::with(&[("a.toml", CONFIG), ("d.jsonl", &rows.join("\n"))]);
    let score = place.run("score a.toml d.jsonl -o run -q");
    assert_eq!(score.code, 0, "{}", score.err);
    place
}

/// The data of a page.
fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_report_has_the_figures_the_faults_and_the_texts() {
    let place = scored();
    let ran = place.run("report run -o report.html");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert_eq!(place.run("report run").out, page, "the same bytes each time");
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    let data = embedded(&page);
    let overview = &data["runs"][0]["overview"];
    assert_eq!((&overview["rows"], &overview["total"]["failed"]), (&json!(3), &json!(1)));
    assert_eq!(overview["total"]["figures"]["mean"], json!(0.5));
    assert_eq!(overview["lengths"]["rows"], json!(3));
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows[0]["line"]["fault"], json!("BadReference"), "faults come first");
    let hostile = rows.iter().find(|row| row["line"]["id"] == "b").unwrap();
    assert_eq!(hostile["texts"]["prompt"], json!([[0, "2+2?"]]));
    assert!(hostile["texts"]["completion"].to_string().contains("</script><script>alert(1)"));
}

#[test]
fn a_report_without_the_data_says_so() {
    let place = scored();
    let data = std::fs::read_to_string(place.path("d.jsonl")).unwrap();
    std::fs::rename(place.path("d.jsonl"), place.path("moved.jsonl")).unwrap();
    let garbage = format!("{{{}", "\0".repeat(data.len() - 1));
    let other = data.replace("1+2?", "1+3?");
    // Gone, or of the same size.
    for changed in [None, Some(garbage), Some(other)] {
        if let Some(text) = changed {
            place.write("d.jsonl", &text);
        }
        let ran = place.run("report run -o report.html");
        let told = "note: no prompts and completions: the data, d.jsonl, are";
        assert_eq!((ran.code, ran.err.matches(told).count()), (0, 1), "{}", ran.err);
        let page = std::fs::read_to_string(place.path("report.html")).unwrap();
        assert_eq!(embedded(&page)["rows"][0]["texts"], Value::Null);
    }
    let ran = place.run("report run --with moved.jsonl");
    assert_eq!(
        embedded(&ran.out)["rows"][0]["texts"]["prompt"],
        json!([[0, "2+2?"]]),
        "{}",
        ran.err
    );
}

#[test]
fn what_cannot_be_shown_is_an_error_with_a_code() {
    let place = scored();
    for (words, told) in [
        ("report none", "error[usage]: none/manifest.json: "),
        ("report run -o run/verdicts.jsonl", "error[usage]: -o: "),
        ("report run --with moved.jsonl", "error[unreadable_file]: "),
    ] {
        let ran = place.run(words);
        assert!(ran.code != 0 && ran.err.contains(told), "{words}: {}", ran.err);
    }
}
