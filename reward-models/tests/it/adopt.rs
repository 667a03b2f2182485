//! Models that lie on disk as ONNX, as Optimum writes them.

#![allow(clippy::disallowed_methods, reason = "the folders are those of a test")]

use std::fs;
use std::path::Path;

use assay_reward_models::ModelError;
use assay_reward_models::adopt::{AdoptOptions, Adopted, adopt};
use assay_reward_models::backend::BackendChoice;
use assay_reward_models::manifest::ModelKind;
use assay_reward_models::models::RunSettings;
use serde_json::{Value, json};

use crate::support;

/// What Optimum leaves of the tiny BERT.
fn exported(config: &Value) -> tempfile::TempDir {
    exported_from("arch-bert", config)
}

/// What Optimum leaves of a model: its output is called `logits`.
fn exported_from(name: &str, config: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = support::root().join("fixtures/models").join(name);
    let mut graph = fs::read(from.join("model.onnx")).unwrap();
    let at: Vec<usize> = graph
        .windows(6)
        .enumerate()
        .filter(|(_, name)| name == b"scores")
        .map(|(at, _)| at)
        .collect();
    for at in at {
        graph[at..at + 6].copy_from_slice(b"logits");
    }
    fs::write(folder.path().join("model.onnx"), graph).unwrap();
    fs::copy(from.join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    let data = from.join("model.onnx.data");
    if data.exists() {
        fs::copy(data, folder.path().join("model.onnx.data")).unwrap();
    }
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    folder
}

fn config(architecture: &str) -> Value {
    json!({
        "architectures": [architecture],
        "model_type": "bert",
        "max_position_embeddings": 146,
        "pad_token_id": 0,
        "id2label": { "0": "LABEL_0" },
    })
}

fn added(folder: &Path, options: &AdoptOptions) -> Result<Adopted, ModelError> {
    let run = RunSettings { backend: BackendChoice::Rten, workers: 1, ..RunSettings::default() };
    adopt(folder, options, &support::models(), &run)
}

#[test]
fn an_export_of_optimum_becomes_a_model_folder() {
    let folder = exported(&config("BertForSequenceClassification"));
    let adopted = added(folder.path(), &AdoptOptions::default()).unwrap();
    assert_eq!((adopted.kind, adopted.read.as_str()), (ModelKind::Outcome, "logits"));
    assert_eq!((adopted.max_tokens, adopted.goldens), (146, 3));
    assert!(adopted.moved <= 1e-5, "{}", adopted.moved);
    assert_eq!(adopted.template, "{{ prompt }}{{ pair }}{{ completion }}");
    // The golden pairs hold: a score that is another one is refused.
    let path = folder.path().join("model.toml");
    let text = fs::read_to_string(&path).unwrap();
    let run = RunSettings { backend: BackendChoice::Rten, workers: 1, ..RunSettings::default() };
    support::models().load(folder.path(), &run).unwrap();
    fs::write(&path, text.replacen("\nscore = ", "\nscore = 9.5 # ", 1)).unwrap();
    let error = support::models().load(folder.path(), &run).err().unwrap();
    assert!(matches!(error, ModelError::Golden { .. }), "{error}");
    let again = added(folder.path(), &AdoptOptions::default()).unwrap_err().to_string();
    assert!(again.contains("is there already"), "{again}");
}

#[test]
fn what_is_missing_is_named_and_nothing_is_left() {
    let none = AdoptOptions::default();
    let refused = |folder: &tempfile::TempDir, options: &AdoptOptions, wanted: &str| {
        let error = added(folder.path(), options).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(!folder.path().join("model.toml").exists());
    };
    for (file, wanted) in [
        ("config.json", "config.json: missing"),
        ("tokenizer.json", "tokenizer.json: missing"),
        ("model.onnx", "python -m assay.export"),
    ] {
        let folder = exported(&config("BertForSequenceClassification"));
        fs::remove_file(folder.path().join(file)).unwrap();
        refused(&folder, &none, wanted);
    }
    let folder = exported(&config("BertForSequenceClassification"));
    fs::rename(folder.path().join("model.onnx"), folder.path().join("model_int8.onnx")).unwrap();
    refused(&folder, &none, "model_int8.onnx: choose one with --graph");
    let named = AdoptOptions { graph: Some("model_int8.onnx".to_owned()), ..none.clone() };
    added(folder.path(), &named).unwrap();
    let folder = exported(&config("BertForTokenClassification"));
    refused(&folder, &none, "--preset trl-prm");
    let mut unbounded = config("BertForSequenceClassification");
    unbounded.as_object_mut().unwrap().remove("max_position_embeddings");
    let folder = exported(&unbounded);
    refused(&folder, &none, "--max-tokens");
}

#[test]
fn a_config_that_contradicts_the_graph_is_refused() {
    let with = |key: &str, value: Value| {
        let mut config = config("BertForSequenceClassification");
        config.as_object_mut().unwrap().insert(key.to_owned(), value);
        let error = added(exported(&config).path(), &AdoptOptions::default()).unwrap_err();
        error.to_string()
    };
    let two = with("id2label", json!({ "0": "wrong", "1": "right" }));
    assert!(two.contains("gives 1 values a text, and config.json names 2 labels"), "{two}");
    let three = with("id2label", json!({ "0": "a", "1": "b", "2": "c" }));
    assert!(three.contains("names 3 labels"), "{three}");
    for (many, why) in [(4_000_000_000_u64, "at most 4096"), (2, "names 2 labels")] {
        let mut config = config("BertForSequenceClassification");
        config.as_object_mut().unwrap().remove("id2label");
        config.as_object_mut().unwrap().insert("num_labels".to_owned(), many.into());
        let error = added(exported(&config).path(), &AdoptOptions::default()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let list = added(exported(&json!([])).path(), &AdoptOptions::default()).unwrap_err();
    assert!(list.to_string().ends_with("config.json: expected an object"), "{list}");
    // A failure of the backend names the graph.
    let folder = exported(&config("BertForSequenceClassification"));
    let other = support::root().join("fixtures/models/arch-mistral/tokenizer.json");
    fs::copy(other, folder.path().join("tokenizer.json")).unwrap();
    let error = added(folder.path(), &AdoptOptions::default()).unwrap_err();
    assert!(matches!(error, ModelError::Graph { .. }), "{error}");
}

#[test]
fn what_a_killed_run_left_is_taken_and_what_others_wrote_is_kept() {
    let settings = json!({ "chat_template": "{{ messages[-1].content }}" }).to_string();
    let folder = exported(&config("BertForSequenceClassification"));
    let (chat, part) = (folder.path().join("chat.jinja"), folder.path().join("model.part"));
    fs::write(folder.path().join("tokenizer_config.json"), settings).unwrap();
    fs::write(&chat, "mine").unwrap();
    let error = added(folder.path(), &AdoptOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("chat.jinja: is there already, with another text: move it away"));
    assert_eq!(fs::read_to_string(&chat).unwrap(), "mine");
    fs::remove_file(&chat).unwrap();
    added(folder.path(), &AdoptOptions::default()).unwrap();
    // As a run leaves it that was killed before it had a manifest, and while it wrote one.
    fs::rename(folder.path().join("model.toml"), &part).unwrap();
    added(folder.path(), &AdoptOptions::default()).unwrap();
    assert!(!part.exists());
}

#[test]
fn weights_in_a_file_of_their_own_are_there_and_whole() {
    let mut of_qwen = config("Qwen3ForSequenceClassification");
    of_qwen.as_object_mut().unwrap().insert("max_position_embeddings".to_owned(), json!(512));
    let folder = exported_from("skywork-reward-int4", &of_qwen);
    let data = folder.path().join("model.onnx.data");
    let whole = fs::read(&data).unwrap();
    fs::remove_file(&data).unwrap();
    let why = |folder: &Path| added(folder, &AdoptOptions::default()).unwrap_err().to_string();
    let missing = why(folder.path());
    assert!(missing.contains("model.onnx.data: No such file"), "{missing}");
    fs::write(&data, &whole[..whole.len() / 2]).unwrap();
    let cut = why(folder.path());
    assert!(cut.contains("has 35008 bytes; the graph reads"), "{cut}");
    fs::write(&data, &whole).unwrap();
    let run = RunSettings { backend: BackendChoice::Ort, workers: 1, ..RunSettings::default() };
    adopt(folder.path(), &AdoptOptions::default(), &support::models(), &run).unwrap();
    let text = fs::read_to_string(folder.path().join("model.toml")).unwrap();
    assert!(text.contains("precision = \"int4_blocks\""), "{text}");
}

#[test]
fn a_graph_that_fails_leaves_nothing() {
    let folder = exported(&config("BertForSequenceClassification"));
    // The tokenizer of another model: ids beyond the embedding.
    let other = support::root().join("fixtures/models/arch-mistral/tokenizer.json");
    fs::copy(other, folder.path().join("tokenizer.json")).unwrap();
    added(folder.path(), &AdoptOptions::default()).unwrap_err();
    assert!(!folder.path().join("model.toml").exists());
}
