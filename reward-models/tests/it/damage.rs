//! Damaged model folders: refused by their digest; where digests are off an error all the same, and
//! the process lives on. `ASSAY_TEST_DAMAGE` multiplies how often.

#![allow(clippy::disallowed_methods, reason = "files are damaged as they lie")]

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use assay_reward_models::ModelError;
use assay_reward_models::backend::BackendChoice;
use assay_reward_models::digests::VerifyDigests;
use assay_reward_models::models::RunSettings;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rten_onnx::onnx::{
    DataLocation, DataType, ModelProto, NodeProto, StringStringEntryProto, TensorProto,
};

use crate::support::{self, copy};

/// Folders that are damaged: heads, kinds of graph and tokenizers that differ.
const FOLDERS: [&str; 4] = ["qwen-prm", "arch-bert", "skywork-reward-kv", "qwen-prm-int8"];
const FILES: [&str; 3] = ["model.onnx", "tokenizer.json", "model.toml"];
/// Flips of a file, on each backend.
const FLIPS: usize = 8;
/// Where nodes stand, before the weights.
const NODES: usize = 12_000;

fn load(folder: &Path, backend: BackendChoice, verifies: bool) -> Result<(), ModelError> {
    let verify_digests = if verifies { VerifyDigests::Always } else { VerifyDigests::Never };
    let run = RunSettings { backend, verify_digests, workers: 1, ..RunSettings::default() };
    support::models().load(folder, &run).map(|_| ())
}

/// What is left of a file: a bit is another one, or the end is gone.
fn damaged(whole: &[u8], at: usize, random: &mut StdRng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    if at % 5 == 4 {
        bytes.truncate(random.random_range(0..whole.len()));
    } else {
        let most = if at.is_multiple_of(2) { whole.len().min(NODES) } else { whole.len() };
        bytes[random.random_range(0..most)] ^= 1 << random.random_range(0..8);
    }
    bytes
}

/// A flip in the last bits of a weight leaves a model that still proves itself; nothing else may.
fn damage_is_an_error(backend: BackendChoice) {
    let times = std::env::var("ASSAY_TEST_DAMAGE").ok().and_then(|text| text.parse().ok());
    let mut random = StdRng::seed_from_u64(times.unwrap_or(1));
    let flips = FLIPS * usize::try_from(times.unwrap_or(1)).unwrap();
    for name in FOLDERS {
        let folder = copy(name);
        for file in FILES {
            let path = folder.path().join(file);
            let whole = fs::read(&path).unwrap();
            let mut refused = 0;
            for at in 0..flips {
                let bytes = damaged(&whole, at, &mut random);
                fs::write(&path, &bytes).unwrap();
                if file != "model.toml" {
                    let error = load(folder.path(), backend, true).unwrap_err();
                    assert!(matches!(error, ModelError::Digest { .. }), "{name}: {file}: {error}");
                }
                refused += usize::from(load(folder.path(), backend, false).is_err());
            }
            assert!(refused * 3 >= flips, "{name}: {file}: {refused} of {flips} refused");
            fs::write(&path, &whole).unwrap();
        }
        load(folder.path(), backend, true).unwrap();
    }
}

#[test]
fn damage_is_an_error_on_onnxruntime() {
    damage_is_an_error(BackendChoice::Ort);
}

#[test]
fn damage_is_an_error_on_rten() {
    damage_is_an_error(BackendChoice::Rten);
}

/// Changes the graph of a folder, and says what both backends make of it.
fn refused(name: &str, change: impl Fn(&mut ModelProto)) -> String {
    let folder = copy(name);
    let path = folder.path().join("model.onnx");
    let mut model = ModelProto::parse_buf(&fs::read(&path).unwrap()).unwrap();
    change(&mut model);
    fs::write(&path, model.write_buf().unwrap()).unwrap();
    let why = |backend| load(folder.path(), backend, false).unwrap_err().to_string();
    let (ort, rten) = (why(BackendChoice::Ort), why(BackendChoice::Rten));
    assert_eq!(ort, rten, "what is wrong does not depend on the backend");
    ort
}

fn weights(model: &mut ModelProto) -> &mut TensorProto {
    let graph = model.graph.as_mut().unwrap();
    graph.initializer.iter_mut().max_by_key(|tensor| tensor.dims.iter().product::<i64>()).unwrap()
}

#[test]
fn weights_fill_their_shape() {
    let why = refused("qwen-prm", |model| weights(model).dims[0] = 1 << 40);
    assert!(why.contains("have the shape [1099511627776,"), "{why}");
    let why = refused("qwen-prm", |model| weights(model).dims[0] += 1);
    assert!(why.contains("bytes; has"), "{why}");
    let why = refused("arch-bert", |model| weights(model).dims[0] = -1);
    assert!(why.contains("have the shape [-1,"), "{why}");
}

#[test]
fn a_node_that_fills_the_memory_is_refused() {
    let why = refused("qwen-prm", |model| {
        let graph = model.graph.as_mut().unwrap();
        graph.initializer.push(TensorProto {
            name: Some("huge".into()),
            dims: vec![2],
            data_type: Some(DataType::INT64),
            raw_data: Some(RefCell::new([1_i64 << 40, 8].map(i64::to_le_bytes).concat())),
            ..TensorProto::default()
        });
        graph.node.push(NodeProto {
            name: Some("filler".into()),
            op_type: Some("ConstantOfShape".into()),
            input: vec!["huge".into()],
            output: vec!["filled".into()],
            ..NodeProto::default()
        });
    });
    assert!(why.contains("node \"filler\" (ConstantOfShape) makes a tensor of shape"), "{why}");
}

#[test]
fn inputs_and_outputs_are_those_of_the_manifest() {
    let rename = |name: &'static str| {
        move |model: &mut ModelProto| {
            let graph = model.graph.as_mut().unwrap();
            for value in graph.input.iter_mut().chain(&mut graph.output) {
                if value.name.as_deref() == Some(name) {
                    value.name = Some("other".into());
                }
            }
        }
    };
    let why = refused("qwen-prm", rename("input_ids"));
    assert!(why.contains("input \"input_ids\" missing; has:"), "{why}");
    let why = refused("qwen-prm", rename("scores"));
    assert!(why.contains("output \"scores\" missing; has:"), "{why}");
    let why = refused("skywork-reward-kv", rename("past_key_values.0.key"));
    assert!(why.contains("input \"past_key_values.0.key\" missing"), "{why}");
}

#[test]
fn weights_outside_the_folder_are_not_read() {
    for location in ["../weights.bin", "/etc/hostname", "a/../../weights.bin", "weights.bin"] {
        let why = refused("qwen-prm", |model| {
            let tensor = weights(model);
            tensor.raw_data = None;
            tensor.data_location = Some(DataLocation::EXTERNAL);
            tensor.external_data = vec![StringStringEntryProto {
                key: Some("location".into()),
                value: Some(location.into()),
            }];
        });
        assert!(why.contains(&format!("external data \"{location}\"")), "{why}");
    }
}

#[test]
fn a_file_that_is_cut_or_missing_is_named() {
    let folder = copy("skywork-reward-bf16");
    let data = folder.path().join("model.onnx.data");
    fs::write(&data, &fs::read(&data).unwrap()[..30_000]).unwrap();
    for backend in [BackendChoice::Ort, BackendChoice::Rten] {
        let why = load(folder.path(), backend, false).unwrap_err().to_string();
        assert!(why.ends_with("has 30000 bytes; the graph reads 71680"), "{why}");
    }
    fs::remove_file(folder.path().join("model.toml")).unwrap();
    let why = load(folder.path(), BackendChoice::Rten, false).unwrap_err().to_string();
    assert!(why.contains("model.toml: missing: `python -m assay.export` makes"), "{why}");
}

/// Writes another manifest, and says what is wrong with it.
fn manifest(name: &str, from: &str, to: &str) -> String {
    let folder = copy(name);
    let path = folder.path().join("model.toml");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{name} has {from}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    load(folder.path(), BackendChoice::Rten, false).unwrap_err().to_string()
}

#[test]
fn a_manifest_names_files_of_its_folder_and_sizes_that_can_be() {
    for (name, from, to, why) in [
        ("qwen-prm", "file = \"model.onnx\"", "file = \"../model.onnx\"", "outside the folder"),
        ("qwen-prm", "file = \"tokenizer.json\"", "file = \"/etc/hostname\"", "outside the folder"),
        ("qwen-prm", "file = \"template.jinja\"", "file = \"a/../../b\"", "outside the folder"),
        ("qwen-prm", "chat = \"chat.jinja\"", "chat = \"..\"", "outside the folder"),
        ("skywork-reward-kv", "layers = 2", "layers = 4000000000", "graph[0].past: expected"),
        ("skywork-reward-kv", "head_dim = 16", "head_dim = 16000", "model.onnx"),
        ("skywork-reward-kv", "max_tokens = 512", "max_tokens = 999999999", "limits.max_tokens"),
        ("critique-judge", "votes = ", "votes = 1000000000 #", "generate.votes"),
        ("qwen-prm", "pad_token_id = ", "pad_token_id = 9999999 #", "pad_token_id"),
    ] {
        let found = manifest(name, from, to);
        assert!(found.contains(why), "{name}: {to}: {found}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let folder = copy("qwen-prm");
    let path = folder.path().join("model.onnx");
    fs::remove_file(&path).unwrap();
    let other = support::root().join("fixtures/models/qwen-prm/model.onnx");
    std::os::unix::fs::symlink(fs::canonicalize(other).unwrap(), &path).unwrap();
    let why = load(folder.path(), BackendChoice::Rten, true).unwrap_err().to_string();
    assert!(why.contains("leads out of the folder"), "{why}");
}
