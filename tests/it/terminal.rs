//! What a terminal would obey is printed by no verb, wherever it came from: names, paths, settings, ids,
//! columns or the command line.

use std::process::Stdio;

use serde_json::json;

use crate::place::{Place, Ran};

/// Sets the title of the terminal, clears it in two ways, and turns what comes behind around.
const EVIL: &str = "e\u{1b}]0;x\u{7}\u{9b}2J\u{1b}[2J\u{1b}[31m\u{202e}\u{8d}";

/// The same in a text of TOML.
const IN_TOML: &str = "e\\u001b]0;x\\u0007\\u009b2J\\u001b[2J\\u001b[31m\\u202e\\u008d";

fn is_obeyed(char: char) -> bool {
    char.is_control() && char != '\n' && char != '\t'
        || ('\u{200b}'..='\u{200f}').contains(&char)
        || ('\u{202a}'..='\u{202e}').contains(&char)
}

/// Runs a command that prints nothing that a terminal obeys; `EVIL` in it stands for the text.
fn harmless(place: &Place, words: &str) -> Ran {
    let command = place.command(&words.replace("EVIL", EVIL)).stdin(Stdio::null()).output();
    let ran = Ran::of(command.unwrap());
    for (stream, text) in [("stdout", &ran.out), ("stderr", &ran.err)] {
        assert!(!text.contains(is_obeyed), "{words}: {stream}: {text:?}");
    }
    ran
}

/// Rewards whose names, settings and columns are hostile; one abstains, one fails, and one names a
/// setting that is not there.
fn place() -> Place {
    let config = format!(
        "version = 1\n[data]\nreference = \"{IN_TOML}\"\nlabel = \"l{IN_TOML}\"\n\
         [[reward]]\nname = \"{IN_TOML}\"\nverifier = 'exact'\n\
         [[reward]]\nname = \"when{IN_TOML}\"\nverifier = 'exact'\nwhen = \"meta.kind == `{IN_TOML}`\"\n\
         [[reward]]\nname = \"fault{IN_TOML}\"\nverifier = 'exact'\nweight = 0.0\n\
         when = \"`{IN_TOML}`\"\n"
    );
    let row = |at: u32| {
        let said = if at.is_multiple_of(2) { "so" } else { EVIL };
        let (id, label) = (format!("{at}{EVIL}"), format!("l{EVIL}"));
        let row = json!({
            "id": id, "prompt": EVIL, "completion": said, EVIL: "so", "kind": EVIL, "group": EVIL,
            label: at % 2,
        });
        format!("{row}\n")
    };
    let rows: String = (0..6).map(row).collect();
    let place = Place::with(&[]);
    place.write(&format!("c{EVIL}.toml"), &config);
    place.write(&format!("d{EVIL}.jsonl"), &rows);
    place.write(&format!("bad{EVIL}.jsonl"), &format!("{{\"{EVIL}\": {EVIL}\n"));
    place.write(&format!("no{EVIL}.toml"), &format!("version = 1\n[{EVIL}\n"));
    let wrong = format!(
        "version = 1\r\n[[reward]]\r\nname = \"{IN_TOML}\"\r\nverifier = \"exact{IN_TOML}\" # {EVIL}\r\n"
    );
    place.write(&format!("wrong{EVIL}.toml"), &wrong);
    let wrong = format!(
        "version = 1\n[[reward]]\nname = \"{IN_TOML}\"\nverifier = 'exact'\nconfig = {{ \"{IN_TOML}\" = 1 }}\n"
    );
    place.write(&format!("setting{EVIL}.toml"), &wrong);
    place
}

#[test]
fn runs_print_nothing_that_a_terminal_obeys() {
    let place = place();
    let first = harmless(&place, "score cEVIL.toml dEVIL.jsonl --output oneEVIL");
    assert!(first.out.contains("\\u{1b}"), "{}{}", first.out, first.err);
    assert!(place.path(&format!("one{EVIL}")).is_dir(), "{}", first.err);
    harmless(&place, "score cEVIL.toml dEVIL.jsonl --output twoEVIL --limit 4");
    let mut told = 0;
    for words in [
        "score cEVIL.toml dEVIL.jsonl --output oneEVIL",
        "score cEVIL.toml dEVIL.jsonl --output oneEVIL --json --fresh",
        "score cEVIL.toml badEVIL.jsonl --output badEVIL",
        "score cEVIL.toml badEVIL.jsonl --output badEVIL --bad-rows skip",
        "score cEVIL.toml missingEVIL.jsonl --output x",
        "score wrongEVIL.toml dEVIL.jsonl",
        "score settingEVIL.toml dEVIL.jsonl",
        "score noEVIL.toml dEVIL.jsonl",
        "score cEVIL.toml dEVIL.jsonl --set EVIL=EVIL",
        "score cEVIL.toml dEVIL.jsonl --set data.id=EVIL --output x",
        "validate cEVIL.toml dEVIL.jsonl",
        "validate cEVIL.toml dEVIL.jsonl --json",
        "validate wrongEVIL.toml dEVIL.jsonl",
        "explain cEVIL.toml dEVIL.jsonl --id 0EVIL",
        "explain cEVIL.toml dEVIL.jsonl --id 1EVIL --json",
        "explain cEVIL.toml dEVIL.jsonl --id noneEVIL",
        "explain oneEVIL --faults",
        "explain oneEVIL --lowest 3",
        "explain oneEVIL --disagree",
        "diff oneEVIL twoEVIL",
        "diagnose oneEVIL",
        "bench cEVIL.toml dEVIL.jsonl --seconds 0.01",
        "merge oneEVIL twoEVIL --output mergedEVIL",
        "join oneEVIL dEVIL.jsonl --output joinedEVIL.jsonl",
        "advantages oneEVIL --output advEVIL.jsonl",
    ] {
        let ran = harmless(&place, words);
        told += u32::from(ran.out.contains("\\u") || ran.err.contains("\\u{"));
    }
    assert!(told > 15, "{told} commands told of the text");
}

#[test]
fn what_is_asked_for_by_name_is_told_without_what_a_terminal_obeys() {
    let place = place();
    let mut told = 0;
    for words in [
        "EVIL",
        "score --EVIL",
        "score EVIL",
        "show EVIL",
        "list EVIL",
        "man EVIL",
        "completions EVIL",
        "check EVIL",
        "check exact --reference EVIL --completion EVIL",
        "init EVIL",
        "init EVIL",
        "cache --dir EVIL",
        "doctor --ort-lib EVIL",
        "convert EVIL",
        "eval EVIL",
        "train EVIL",
        "serve EVIL",
        "join EVIL EVIL",
        "merge EVIL",
        "diff EVIL EVIL",
        "diagnose EVIL",
        "explain EVIL --faults",
        "bench EVIL EVIL",
        "advantages EVIL",
    ] {
        let ran = harmless(&place, words);
        told += u32::from(ran.err.contains("\\u{1b}") || ran.out.contains("\\u{1b}"));
    }
    assert!(told > 9, "{told} commands told of the text");
}
