//! Folders that would take the process with them, or prove nothing: each is refused, with the place.

#![allow(clippy::disallowed_methods, reason = "folders are changed as they lie")]

use std::fs;
use std::path::Path;

use assay_reward_models::ModelError;
use assay_reward_models::backend::BackendChoice;
use assay_reward_models::digests::VerifyDigests;
use assay_reward_models::models::RunSettings;
use assay_reward_models::template::View;
use assay_verifiers::Message;
use rten_onnx::onnx::{
    AttributeProto, DataType, GraphProto, ModelProto, NodeProto, StringStringEntryProto,
    TensorProto,
};

use crate::support::{self, copy};

fn run() -> RunSettings {
    let backend = BackendChoice::Rten;
    RunSettings {
        backend,
        verify_digests: VerifyDigests::Never,
        workers: 1,
        ..RunSettings::default()
    }
}

fn load(folder: &Path) -> Result<(), ModelError> {
    support::models().load(folder, &run()).map(|_| ())
}

/// Changes a text of a folder, and says what is wrong with it.
fn changed(name: &str, file: &str, from: &str, to: &str) -> String {
    let folder = copy(name);
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{name}/{file} has {from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    load(folder.path()).unwrap_err().to_string()
}

#[test]
fn the_golden_proof_has_no_holes() {
    for (name, from, to, place) in [
        (
            "qwen-prm",
            "tolerance = 1e-05",
            "tolerance = 1e9",
            "golden[0].tolerance: 1000000000 proves",
        ),
        ("qwen-prm", "tolerance = 1e-05", "tolerance = inf", "golden[0].tolerance: expected"),
        ("qwen-prm", "\nraw = ", "\n# raw = ", "golden[0].raw: missing"),
        ("qwen-prm", "\nscores = ", "\n# scores = ", "golden[0].scores: missing"),
        ("qwen-prm", "\nscore = ", "\n# score = ", "golden[0].score: missing"),
        ("qwen-prm", "\nscores = [", "\nscores = [] # [", "scores has 0 values"),
        ("qwen-prm", "\nraw = [", "\nraw = [] # [", "raw has 0 values"),
        ("qwen-prm", "\nscore = ", "\nscore = inf # ", "golden[0].score: expected a finite number"),
        ("critique-judge", "\ntext = ", "\n# text = ", "golden[0].text: missing"),
        ("implicit-prm", "\nscores = ", "\n# scores = ", "golden[0].scores: missing"),
        ("sentence-embedding", "\nraw = ", "\n# raw = ", "golden[0].raw: missing"),
        (
            "nemotron",
            "[score]",
            "[score]\ncalibration = { scale = 1e-9 }",
            "score.calibration.scale",
        ),
        (
            "nemotron",
            "[score]",
            "[score]\ncalibration = { clip = [0.5, 0.5] }",
            "score.calibration.clip",
        ),
    ] {
        let why = changed(name, "model.toml", from, to);
        assert!(why.contains("model.toml") && why.contains(place), "{name}: {to}: {why}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_no_files() {
    for file in ["model.toml", "tokenizer.json", "template.jinja", "model.onnx"] {
        let folder = copy("qwen-prm");
        let path = folder.path().join(file);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let why = load(folder.path()).unwrap_err().to_string();
        assert!(why.contains(file) && why.contains("found a folder, a pipe or a device"), "{why}");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(load(folder.path()).is_err());
    }
}

#[test]
fn a_tokenizer_that_makes_much_of_little_is_refused() {
    let bomb = format!(
        "\"normalizer\": {{\"type\": \"Replace\", \"pattern\": {{\"String\": \"a\"}}, \"content\": \"{}\"}}, \"ignored\": ",
        "x".repeat(5_000_000)
    );
    let why = changed("qwen-prm", "tokenizer.json", "\"normalizer\":", &bomb);
    assert!(why.contains("tokenizer.json: normalizer: content has"), "{why}");
}

/// Adds a node to a graph, and says what is wrong with it.
fn with_node(node: NodeProto) -> String {
    let folder = copy("qwen-prm");
    let path = folder.path().join("model.onnx");
    let mut model = ModelProto::parse_buf(&fs::read(&path).unwrap()).unwrap();
    model.graph.as_mut().unwrap().node.push(node);
    fs::write(&path, model.write_buf().unwrap()).unwrap();
    load(folder.path()).unwrap_err().to_string()
}

#[test]
fn weights_in_a_constant_are_listed_too() {
    let entry = |key: &str, value: &str| StringStringEntryProto {
        key: Some(key.into()),
        value: Some(value.into()),
    };
    let tensor = TensorProto {
        dims: vec![1],
        data_type: Some(DataType::FLOAT),
        external_data: vec![entry("location", "hidden.bin")],
        ..TensorProto::default()
    };
    let value =
        AttributeProto { name: Some("value".into()), t: Some(tensor), ..Default::default() };
    let node = NodeProto {
        op_type: Some("Constant".into()),
        output: vec!["hidden".into()],
        attribute: vec![value],
        ..NodeProto::default()
    };
    let why = with_node(node.clone());
    assert!(why.contains("external data \"hidden.bin\" is not listed"), "{why}");
    let inner = GraphProto { node: vec![node], ..GraphProto::default() };
    let branch =
        AttributeProto { name: Some("then_branch".into()), g: Some(inner), ..Default::default() };
    let why = with_node(NodeProto {
        op_type: Some("If".into()),
        input: vec!["input_ids".into()],
        output: vec!["branched".into()],
        attribute: vec![branch],
        ..NodeProto::default()
    });
    assert!(why.contains("external data \"hidden.bin\" is not listed"), "{why}");
}

#[test]
fn a_loop_that_does_not_end_is_refused() {
    for count in ["", "input_ids"] {
        let why = with_node(NodeProto {
            name: Some("endless".into()),
            op_type: Some("Loop".into()),
            input: vec![count.into(), String::new()],
            output: vec!["looped".into()],
            ..NodeProto::default()
        });
        assert!(why.contains("node \"endless\" (Loop) does not say how often"), "{why}");
    }
}

#[test]
fn a_prompt_that_is_too_long_loses_whole_messages_first() {
    let folder = copy("skywork-reward");
    let path = folder.path().join("model.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("on_overflow = \"error\"", "on_overflow = \"truncate_prompt_left\"");
    fs::write(&path, text).unwrap();
    let model = support::models().load(folder.path(), &run()).unwrap();
    let of = |messages: &[Message]| View {
        messages: messages.to_vec(),
        completion: "four".into(),
        ..View::default()
    };
    let line = |words: usize| "one two three é ".repeat(words);
    let all: Vec<Message> = (0..9)
        .map(|at| Message::new(if at % 2 == 0 { "user" } else { "assistant" }, line(24)))
        .collect();
    let cut = model.tokens(&of(&all)).unwrap();
    let most = model.manifest.limits.max_tokens;
    let strict = support::models().load(copy("skywork-reward").path(), &run()).unwrap();
    let whole = (1..9).find_map(|from| Some((from, strict.tokens(&of(&all[from..])).ok()?)));
    let (from, whole) = whole.unwrap();
    assert!(from > 1 && cut.ids == whole.ids, "the first {from} of 9 messages have to go");
    // A message that is too long by itself loses its beginning, at the border of a token.
    let long = [all[0].clone(), Message::new("user", format!("{}the end?", line(400)))];
    let cut = model.tokens(&of(&long)).unwrap();
    assert!(cut.ids.len() <= most && cut.ids.len() + 8 > most, "{} of {most}", cut.ids.len());
    let one = model.tokens(&of(&long[1..])).unwrap();
    assert_eq!(one.ids, cut.ids, "the older message went first");
}
