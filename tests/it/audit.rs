//! `assay audit`: planted holes are found, guarded configurations are not blamed.

use std::path::Path;

use serde_json::Value;

use super::place::Place;

/// Twelve questions with short answers.
fn rows() -> String {
    let rows = [
        ("What is 6 times 7?", "42"),
        ("How many legs have three spiders?", "24"),
        ("What is 1250 minus 15?", "1235"),
        ("How many minutes are two hours?", "120"),
        ("What is 9 squared?", "81"),
        ("What is half of 34?", "17"),
    ];
    let row = |(at, (prompt, answer)): (usize, &(&str, &str))| {
        let text =
            if at % 2 == 0 { format!("The answer is {answer}.") } else { "It is 3.".to_owned() };
        let mut row = serde_json::json!({
            "id": format!("row-{at}"), "prompt": prompt, "completion": text, "reference": answer,
            "human": at % 2 == 0,
        });
        // A column that the last row alone has.
        if at + 1 == rows.len() {
            row["kind"] = Value::from("last");
        }
        format!("{row}\n")
    };
    rows.iter().enumerate().map(row).collect()
}

fn found(place: &Place, name: &str) -> Value {
    let text = std::fs::read_to_string(place.path(&format!("{name}/audit.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn failed(found: &Value, family: &str) -> u64 {
    found["families"][family]["failed"]["count"].as_u64().unwrap()
}

/// The configurations of `fixtures/audit/holes.toml` with their rows.
fn configs() -> Vec<(toml::Table, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = std::fs::read_to_string(root.join("fixtures/audit/holes.toml")).unwrap();
    let fixture: toml::Table = toml::from_str(&text).unwrap();
    let rows = |config: &toml::Table| -> String {
        let name = config.get("rows").map_or("numbers", |name| name.as_str().unwrap());
        let rows = fixture["rows"][name].as_array().unwrap().iter();
        rows.map(|row| serde_json::to_string(row).unwrap() + "\n").collect()
    };
    let configs = fixture["config"].as_array().unwrap().iter();
    configs.map(|config| config.as_table().unwrap()).map(|own| (own.clone(), rows(own))).collect()
}

#[test]
fn planted_holes_are_found_and_guarded_configurations_have_none() {
    let (mut wrong, mut holes) = (Vec::new(), 0);
    for (config, rows) in configs() {
        let (name, reward) = (&config["name"], config["reward"].as_str().unwrap());
        let text = format!("version = 1\n[[reward]]\nname = 'own'\n{reward}\n");
        let place = Place::with(&[("assay.toml", &text), ("rows.jsonl", &rows)]);
        let ran = place
            .run("audit assay.toml rows.jsonl -o out --max-false-accept 0 --per-family 20 --quiet");
        let families = config.get("families").and_then(toml::Value::as_array);
        holes += usize::from(families.is_some());
        if ran.code != i32::from(families.is_some()) {
            wrong.push(format!("{name}: exit {}\n{}{}", ran.code, ran.out, ran.err));
            continue;
        }
        let found = found(&place, "out");
        for family in families.into_iter().flatten() {
            if failed(&found, family.as_str().unwrap()) == 0 {
                wrong.push(format!("{name}: {family} finds nothing\n{}", ran.out));
            }
        }
    }
    assert!(holes >= 35, "{holes}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_audit_in_which_nothing_is_judged_is_a_fault() {
    let broken = "version = 1\n[[reward]]\nname = 'hole'\nverifier = 'rhai'\nconfig = { script = 'completion.nothing' }\n";
    let place = Place::with(&[("assay.toml", broken), ("rows.jsonl", &rows())]);
    let ran = place.run("audit assay.toml rows.jsonl -o out --quiet");
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert!(ran.err.contains("no attack was judged"), "{}", ran.err);
}

#[test]
fn a_guarded_configuration_is_within_its_bound() {
    let config = "version = 1\n[data]\nid = 'id'\ngroup = 'kind'\n[[reward]]\nname = 'answer'\nverifier = 'math'\n";
    let place = Place::with(&[("assay.toml", config), ("rows.jsonl", &rows())]);
    let run = "audit assay.toml rows.jsonl -o out --max-false-accept 0 --max-refusal 0 --labels human --quiet";
    let ran = place.run(run);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let first = found(&place, "out");
    assert_eq!(first["labels"]["false_accepts"]["count"], 0);
    assert_eq!(first["labels"]["false_refusals"]["count"], 0);
    assert!(first["discriminability"].as_f64().unwrap() > 0.99, "{first}");
    assert_eq!(first["rows_with_holes"]["count"], 0);

    // The attacks are a data set of the configuration, and an audit repeats itself.
    let attacks = std::fs::read(place.path("out/audit.jsonl")).unwrap();
    let scored = place.run("score assay.toml out/audit.jsonl -o again --quiet");
    assert_eq!(scored.code, 0, "{}", scored.err);
    let verdicts = |run: &str| std::fs::read(place.path(&format!("{run}/verdicts.jsonl"))).unwrap();
    assert!(verdicts("out/run") == verdicts("again"));
    let again = place.run(&run.replace("-o out", "-o twice"));
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(attacks == std::fs::read(place.path("twice/audit.jsonl")).unwrap());
    assert_eq!(first, found(&place, "twice"));
}

/// Attacks of a row lack the columns that other rows have.
#[test]
fn a_column_that_only_later_rows_have_is_no_slip() {
    let config = "version = 1\n[[reward]]\nname = 'letter'\nverifier = 'choice'\nwhen = 'meta.kind == \"choice\"'\n\
                  config = { options = 'choices' }\n[[reward]]\nname = 'answer'\nverifier = 'math'\n";
    let later = r#"{"completion":"The answer is A.","reference":"A","kind":"choice","choices":["one","two"]}"#;
    let first = r#"{"completion":"The answer is 7.","reference":"7","kind":"math"}"#;
    let rows = format!("{first}\n{first}\n{later}\n");
    let place = Place::with(&[("assay.toml", config), ("rows.jsonl", &rows)]);
    let ran = place.run("audit assay.toml rows.jsonl -o out --limit 2 --quiet");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn two_configurations_and_attacks_of_ones_own() {
    let config = "version = 1\n[[reward]]\nname = 'answer'\nverifier = 'math'\n";
    let other = config.replace("'math'", "'contains'\nconfig = { any = ['1'] }");
    let own = "about = 'Magic words.'\nexpect = 'unpaid'\n[[attack]]\nname = 'magic'\ntexts = ['abracadabra 1 {wrong}']\n";
    let files = [
        ("assay.toml", config),
        ("other.toml", &other),
        ("rows.jsonl", &rows()),
        ("magic.toml", own),
    ];
    let place = Place::with(&files);
    let ran = place.run(
        "audit assay.toml rows.jsonl -o out --attacks magic.toml --family magic --family wrong_answer \
         --against other.toml --json --quiet",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let families: Vec<&String> = told["families"].as_object().unwrap().keys().collect();
    assert_eq!(families, ["magic", "wrong_answer"]);
    assert!(
        told["against"]["uncentred"].is_number() || told["against"]["starc"].is_number(),
        "{told}"
    );
    for (command, why) in [
        ("audit assay.toml rows.jsonl -o x --family magick", "no family is called so"),
        ("audit assay.toml rows.jsonl -o x --attacks none.toml", "none.toml"),
        ("audit assay.toml rows.jsonl -o x --attacks assay.toml", "unknown field"),
        ("audit assay.toml rows.jsonl -o x --limit 0", "--limit"),
    ] {
        let ran = place.run(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        assert!(ran.err.contains(why), "{command}: {}", ran.err);
    }
}
