//! Presets of `[data]`: each pays its own rows as it says, and a configuration wins over its preset.

use std::collections::BTreeSet;

use assay::data::{Checked, Columns, Preset, ReadLimits, Source};
use assay::engine::{ConfigFolder, Document};
use assay::setup::Environment;
use assay::verifiers::code::Code;
use assay::{Config, Engine};
use serde_json::{Value, json};

use super::place::Place;
use super::support;

fn read(text: &str) -> Config {
    Config::parse("c.toml", text).unwrap()
}

fn named(name: &str) -> String {
    format!("version = 1\n[data]\npreset = \"{name}\"\n")
}

#[test]
fn every_preset_pays_its_rows_as_it_says() {
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/data/presets");
    let files = std::fs::read_dir(files).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(files.iter().map(String::as_str).eq(Preset::names()), "the list is that of the files");
    let (registry, mut wrong) = (Environment::read().registry(), Vec::new());
    for name in Preset::names() {
        let preset = Preset::find(name).unwrap_or_else(|| panic!("{name} does not parse"));
        let document = Document::parse(name, &named(name)).unwrap();
        let place = Place::with(&[]);
        for file in &preset.files {
            let path = place.path(&file.name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            place.write(&file.name, &file.text);
        }
        let folder = ConfigFolder::new(place.path(""), Vec::new());
        let builder = Engine::builder().config(document).registry(registry.clone()).files(folder);
        let engine = builder.no_cache().build().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (plan, written) = (engine.plan(), read(&preset.config));
        assert_eq!(json!(plan.config), json!(written), "{name}");
        let rows: Vec<&str> = preset.rows.iter().map(|row| row.json.as_str()).collect();
        let file = format!("{name}.jsonl");
        place.write(&file, &rows.join("\n"));
        let source = Source::open(&[place.path(&file)], &ReadLimits::default()).unwrap();
        let columns = &plan.config.data;
        let source = Checked::new(source, columns).and_meta(columns, plan.named_columns());
        let lines = String::from_utf8(support::lines(&engine, source)).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), preset.rows.len(), "{name}");
        for (line, row) in lines.iter().zip(&preset.rows) {
            let found = serde_json::from_str::<Value>(line).unwrap()["reward"].as_f64();
            if found != row.reward {
                wrong
                    .push(format!("{name}: {found:?}, not {:?}: {line}\n{}", row.reward, row.json));
            }
        }
        let earned = || preset.rows.iter().filter_map(|row| row.reward);
        assert!(earned().any(|own| own > 0.0) && earned().any(|own| own <= 0.0), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_query_is_right_on_each_database_of_a_folder() {
    let place = Place::with(&[]);
    assert_eq!(place.run("init --task spider own").code, 0);
    std::fs::create_dir(place.path("own/database/broken")).unwrap();
    place.write("own/database/broken/broken.sqlite", "CREATE TABEL pets(age)");
    for (file, age) in [("a.sqlite", 3), ("b.sqlite", 30)] {
        let dump = format!(
            "CREATE TABLE pets(kind TEXT, age INTEGER); INSERT INTO pets VALUES ('cat', {age}), ('dog', 9);"
        );
        place.write(&format!("own/database/pets_1/{file}"), &dump);
    }
    let row = |db: &str, completion: &str| {
        let query = "SELECT kind FROM pets WHERE age < 10";
        json!({"question": "q", "db_id": db, "query": query, "completion": completion}).to_string()
    };
    let rows = [
        row("pets_1", "SELECT kind FROM pets WHERE age <= 9"),
        row("pets_1", "SELECT kind FROM pets"),
        row("broken", "SELECT kind FROM pets"),
        row("none", "SELECT kind FROM pets"),
    ];
    place.write("rows.jsonl", &rows.join("\n"));
    let ran = place.run("score own/assay.toml rows.jsonl --output run");
    let lines = std::fs::read_to_string(place.path("run/verdicts.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rewards: Vec<Option<f64>> = lines.iter().map(|line| line["reward"].as_f64()).collect();
    assert_eq!(rewards, [Some(1.0), Some(0.0), None, None], "{}", ran.err);
    assert!(lines[2]["why"].as_str().unwrap().contains("database \"broken\": "), "{}", lines[2]);
}

#[test]
fn the_command_knows_presets() {
    let place = Place::with(&[("c.toml", &named("gsm8k"))]);
    for words in ["init --task gsm8k own", "score c.toml own/data.jsonl --output run"] {
        let ran = place.run(words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.err);
    }
    let lines = std::fs::read_to_string(place.path("run/verdicts.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), Preset::find("gsm8k").unwrap().rows.len());
    let shown = place.run("validate c.toml own/data.jsonl");
    assert!(!shown.err.contains("error"), "{}", shown.err);
    let listed = place.run("list presets --json").json();
    assert!(listed.as_array().unwrap().iter().map(|own| &own["preset"]).eq(Preset::names()));
    place.write("none.toml", &named("gsm8"));
    let refused = place.run("validate none.toml");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("did you mean \"gsm8k\"?"), "{}", refused.err);
}

#[test]
fn what_is_written_wins_over_the_preset() {
    let reward = "[[reward]]\nname = 'a'\nverifier = 'exact'\n";
    let own = read(&format!("{}reference = 'final'\n{reward}", named("gsm8k")));
    assert_eq!((&*own.data.prompt, &*own.data.reference), ("question", "final"));
    assert_eq!((own.rewards.len(), &*own.rewards[0].name), (1, "a"));
    // The same in a program, and where the preset is set from outside.
    let written = read(&Preset::find("gsm8k").unwrap().config);
    let data = Columns { preset: Some("gsm8k".to_owned()), ..Columns::default() };
    let made = Document::from(Config { data, ..Config::default() });
    assert_eq!(json!(made.config().unwrap()), json!(written));
    let mut set = Document::parse("c.toml", "version = 1").unwrap();
    set.set("data.preset", "gsm8k").unwrap();
    set.set("reward.correct.weight", "2").unwrap();
    assert_eq!(set.config().unwrap().rewards[0].weight.constant(), Some(2.0));
    assert!(set.set("reward.wrong.weight", "2").is_err());
}

#[test]
fn a_preset_that_is_not_there_is_pointed_at() {
    let text = named("no such data");
    let error = Config::parse("c.toml", &text).unwrap_err();
    assert_eq!((error.code, error.setting()), (Code::UnknownName, Some("data.preset")));
    assert_eq!(&text[error.span().unwrap()], "preset");
    assert!(error.fields().expected.iter().map(String::as_str).eq(Preset::names()));
    for (text, code) in [
        ("version = 1\n[data]\npreset = 3\n", Code::WrongType),
        ("[data]\npreset = 'gsm8k'\n", Code::MissingKey),
        ("version = 1\n[data]\npreset = 'gsm8k'\nfoo = 1\n", Code::UnknownKey),
    ] {
        assert_eq!(Config::parse("c.toml", text).unwrap_err().code, code, "{text}");
    }
    // What a preset says has no place in the text but the preset's.
    let document = Document::parse("c.toml", &named("gsm8k")).unwrap();
    let error = document.error("reward[0].verifier", "m");
    assert_eq!(&error.text()[error.span().unwrap()], "preset");
}
