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

/// What Optimum leaves of the tiny BERT: its output is called `logits`.
fn exported(config: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = support::root().join("fixtures/models/arch-bert");
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
fn a_graph_that_fails_leaves_nothing() {
    let folder = exported(&config("BertForSequenceClassification"));
    // The tokenizer of another model: ids beyond the embedding.
    let other = support::root().join("fixtures/models/arch-mistral/tokenizer.json");
    fs::copy(other, folder.path().join("tokenizer.json")).unwrap();
    added(folder.path(), &AdoptOptions::default()).unwrap_err();
    assert!(!folder.path().join("model.toml").exists());
}
