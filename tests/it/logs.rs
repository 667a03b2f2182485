//! Logs of other tools, as they lie: scored, shown, and refused where they are broken.

#![allow(
    clippy::format_push_string,
    clippy::disallowed_methods,
    reason = "a test stops at what it does not expect"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::place::Place;

const CONFIG: &str = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'math'\n";
/// The fixture, its samples, how many are right, and by how many the scores of the tool agree.
const LOGS: [(&str, u64, u64, u64); 6] = [
    ("inspect.eval", 6, 4, 6),
    ("inspect.json", 2, 2, 2),
    ("lm_eval.jsonl", 4, 2, 4),
    ("nemo_gym.jsonl", 3, 2, 3),
    ("verifiers.jsonl", 3, 2, 3),
    ("verifiers-0.1.jsonl", 2, 1, 2),
];

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fixtures/logs");
    fs::read(folder.join(name)).unwrap()
}

fn placed(name: &str, bytes: &[u8]) -> Place {
    let place = Place::with(&[("a.toml", CONFIG)]);
    fs::write(place.path(name), bytes).unwrap();
    place
}

#[test]
fn every_log_is_scored_and_its_own_scores_are_labels() {
    for (name, rows, right, agree) in LOGS {
        let place = placed(name, &fixture(name));
        let ran = place.run(&format!("score a.toml {name} -o run -q --json --labels their_score"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let summary = ran.json();
        assert_eq!(summary["rows"], rows, "{name}: {summary}");
        let mean = summary["total"]["mean"].as_f64().unwrap();
        #[expect(clippy::cast_precision_loss, reason = "a few rows")]
        let expected = right as f64 / rows as f64;
        assert!((mean - expected).abs() < 1e-9, "{name}: {summary}");
        let labels = &summary["labels"];
        let agreed =
            ["true_accepts", "true_rejects"].map(|key| labels[key].as_u64().unwrap_or_default());
        assert_eq!(agreed.iter().sum::<u64>(), agree, "{name}: {labels}");
    }
}

#[test]
fn the_same_log_comes_in_other_wrappings() {
    let text = fixture("inspect.json");
    let lines = text.split(|byte| *byte == b'\n');
    let compact: Vec<u8> = lines.flat_map(<[u8]>::trim_ascii_start).copied().collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &text).unwrap();
    let mut verdicts = Vec::new();
    for (name, bytes) in
        [("log.json", text), ("compact.json", compact), ("log.json.gz", packed.finish().unwrap())]
    {
        let place = placed(name, &bytes);
        let ran = place.run(&format!("score a.toml {name} -o run -q"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        verdicts.push(fs::read(place.path("run/verdicts.jsonl")).unwrap());
    }
    assert!(verdicts.iter().all(|own| *own == verdicts[0]));
}

#[test]
fn a_broken_log_is_refused_by_name() {
    let whole = fixture("inspect.eval");
    let cut = &whole[..whole.len() / 2];
    let mut flipped = whole.clone();
    // In the bytes of the first sample, behind the journal.
    flipped[1400] ^= 0x55;
    let mut promised = whole.clone();
    let end = promised.len() - 12;
    promised[end] ^= 1;
    let text = fixture("inspect.json");
    let plain = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    let mut other = b"PK\x03\x04".to_vec();
    other.extend_from_slice(&plain);
    let header = br#"{"version": 2, "status": "started", "eval": {"task": "sums"}, "plan": {}}"#;
    for (name, bytes, told) in [
        ("cut.eval", cut, "cut.eval: zip data damaged after row 0: the archive has no directory"),
        (
            "promised.eval",
            &promised,
            "promised.eval: zip data damaged after row 0: its directory promises",
        ),
        ("flipped.eval", &flipped, "flipped.eval: zip data damaged after row"),
        ("other.eval", &other, "other.eval: a ZIP archive that is no log with samples"),
        (
            "cut.json",
            &text[..text.len() - 9],
            "cut.json: a log of inspect_ai that has no end after sample 2",
        ),
        ("torn.json", &text[..text.len() / 2], "torn.json:1: EOF while parsing an object"),
        ("header.json", header, "header.json: a log of inspect_ai without \"samples\""),
    ] {
        let place = placed(name, bytes);
        let ran = place.run(&format!("score a.toml {name} -o run -q"));
        assert!(ran.code != 0 && ran.err.contains(told), "{name}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn a_sample_without_an_answer_is_named_and_may_be_skipped() {
    let rows = String::from_utf8(fixture("lm_eval.jsonl")).unwrap();
    let broken =
        rows.replacen(r#""resps": [["It is 4.\n#### 4"]]"#, r#""resps": [[[-0.5, false]]]"#, 1);
    assert_ne!(rows, broken);
    let place = placed("samples_gsm8k.jsonl", broken.as_bytes());
    let ran = place.run("score a.toml samples_gsm8k.jsonl -o run -q");
    assert!(
        ran.code != 0
            && ran.err.contains(
                "samples_gsm8k.jsonl:1: completion: a log of lm_eval, sample \"0#strict-match\""
            )
            && ran.err.contains("expected one text in resps.0"),
        "{}",
        ran.err
    );
    let ran = place.run("score a.toml samples_gsm8k.jsonl -o skipped -q --json --bad-rows skip");
    assert_eq!((ran.code, &ran.json()["rows"]), (0, &Value::from(3)), "{}", ran.err);
}

/// An archive of one file, as small as it can be: a bomb if the file is large.
fn archive(name: &str, text: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, text).unwrap();
    let packed = packed.finish().unwrap();
    let mut crc = flate2::Crc::new();
    crc.update(text);
    let four = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let two = |number: usize| u16::try_from(number).unwrap().to_le_bytes();
    let shared = [
        &two(20)[..],
        &two(0),
        &two(8),
        &four(0),
        &crc.sum().to_le_bytes(),
        &four(packed.len()),
        &four(text.len()),
        &two(name.len()),
        &two(0),
    ]
    .concat();
    let mut file = [b"PK\x03\x04", &shared[..], name.as_bytes(), &packed].concat();
    let start = file.len();
    file.extend(
        [b"PK\x01\x02", &two(20)[..], &shared, &two(0), &two(0), &two(0), &four(0), &four(0)]
            .concat(),
    );
    file.extend(name.as_bytes());
    let length = file.len() - start;
    file.extend(
        [b"PK\x05\x06", &four(0)[..], &two(1), &two(1), &four(length), &four(start), &two(0)]
            .concat(),
    );
    file
}

#[test]
fn a_large_cell_is_read_and_a_bomb_is_not() {
    let sample = |text: &str| {
        format!(
            r#"{{"id": 1, "epoch": 1, "input": "q", "target": "4", "output": {{}}, "events": [],
                "messages": [{{"role": "assistant", "content": "{text}\n4"}}]}}"#
        )
    };
    let config = CONFIG.replace("math", "exact");
    let large = archive("samples/1_epoch_1.json", sample(&"x".repeat(10 << 20)).as_bytes());
    let place = placed("large.eval", &large);
    place.write("a.toml", &config);
    let ran = place.run("score a.toml large.eval -o run -q --json");
    assert_eq!((ran.code, &ran.json()["total"]["mean"]), (0, &Value::from(1.0)), "{}", ran.err);
    let long = archive("samples/1_epoch_1.json", sample(&"x".repeat(20 << 20)).as_bytes());
    let place = placed("long.eval", &long);
    let ran = place.run("score a.toml long.eval -o run -q");
    assert!(ran.code != 0 && ran.err.contains("at most 16777216 are read"), "{}", ran.err);
    // What nobody reads is passed over, and counts all the same.
    let events = sample("so").replace("[]", &format!("[\"{}\"]", " ".repeat(300 << 20)));
    let place = placed("bomb.eval", &archive("samples/1_epoch_1.json", events.as_bytes()));
    let ran = place.run("score a.toml bomb.eval -o run -q");
    assert!(ran.code != 0 && ran.err.contains("bomb.eval: zip bomb"), "{}", ran.err);
}

#[test]
fn a_log_is_shown_by_its_own_scores() {
    for (name, rows, ..) in LOGS {
        let place = placed(name, &fixture(name));
        let ran = place.run(&format!("report {name} -o report.html"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        let page = fs::read_to_string(place.path("report.html")).unwrap();
        let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: Value = serde_json::from_str(data).unwrap();
        let overview = &data["runs"][0]["overview"];
        assert_eq!(overview["rows"], rows, "{name}");
        assert_eq!(overview["total"]["scored"], rows, "{name}: {overview}");
        let first = &data["rows"][0];
        assert!(first["texts"]["completion"].to_string().len() > 4, "{name}: {first}");
    }
    // Rows that are no log are scored first.
    let place = Place::with(&[("d.jsonl", "{\"prompt\":\"p\",\"completion\":\"c\"}\n")]);
    let ran = place.run("report d.jsonl -o report.html");
    assert!(ran.code == 2 && ran.err.contains("assay score CONFIG d.jsonl -o RUN"), "{}", ran.err);
}
