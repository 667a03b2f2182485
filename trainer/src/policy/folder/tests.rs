//! Tests of folders. Those of folders by transformers are in `tests/policies.rs`.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::*;
use crate::config::LoraConfig;
use crate::policy::{PolicyModel as _, Sequences};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/policies").join(name)
}

/// A copy of a fixture that may be spoilt.
fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture(name)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

fn error(folder: &Path) -> String {
    load(folder).map(|_| ()).unwrap_err().to_string()
}

/// A tensor as a file has it.
type Stored = (Dtype, Vec<usize>, Vec<u8>);

/// Changes the tensors of a folder of one file.
fn change(folder: &Path, change: impl FnOnce(&mut HashMap<String, Stored>)) {
    let path = folder.join("model.safetensors");
    let bytes = fs::read(&path).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let stored = |view: &TensorView| (view.dtype(), view.shape().to_vec(), view.data().to_vec());
    let mut tensors = file.iter().map(|(name, view)| (name.to_owned(), stored(&view))).collect();
    change(&mut tensors);
    let views = tensors.iter().map(|(name, (dtype, shape, data))| {
        (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    safetensors::serialize_to_file(views, None, &path).unwrap();
}

fn edit(folder: &Path, file: &str, key: &str, value: Value) {
    let path = folder.join(file);
    let mut object = files::read_object(&path).unwrap().unwrap();
    object.insert(key.to_owned(), value);
    files::write_json(&path, &Value::Object(object)).unwrap();
}

/// A folder whose tensors were changed is refused with a message that has these parts.
fn assert_refused(changed: impl FnOnce(&mut HashMap<String, Stored>), parts: &[&str]) {
    let folder = copy("qwen2");
    change(folder.path(), changed);
    let error = error(folder.path());
    for part in parts {
        assert!(error.contains(part), "{error:?} has no {part:?}");
    }
}

#[test]
fn what_is_saved_is_read_again() {
    for name in ["llama", "llama3", "qwen2", "qwen3", "qwen3-sharded"] {
        let read = load(&fixture(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/folder");
        save(&path, &read.decoder, &read.tokenizer).unwrap();
        let again = load(&path).unwrap();
        assert_eq!(again.decoder.architecture(), read.decoder.architecture(), "{name}");
        assert_eq!(again.decoder.weights_of(), read.decoder.weights_of(), "{name}");
        assert_eq!(again.tokenizer.stop_tokens(), read.tokenizer.stop_tokens(), "{name}");
        assert_eq!(again.tokenizer.chat_template(), read.tokenizer.chat_template(), "{name}");
        let mut files = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        assert!(files.all(|file| file.extension().is_some_and(|kind| kind != "tmp")));
    }
}

#[test]
fn adapters_are_merged_and_stand_alone_too() {
    let read = load(&fixture("qwen3")).unwrap();
    let modules = ["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"].map(str::to_owned);
    let lora = LoraConfig { r: 3, lora_alpha: 5.0, target_modules: modules.to_vec() };
    let mut decoder = read.decoder.with_adapters(&lora, 4).unwrap();
    let trained = decoder.parameters_mut().values_mut();
    trained.iter_mut().rev().take(300).for_each(|value| *value += 0.1);
    let folder = tempfile::tempdir().unwrap();
    save(folder.path(), &decoder, &read.tokenizer).unwrap();
    let merged = load(folder.path()).unwrap().decoder;
    let mut sequences = Sequences::default();
    sequences.push(&[1, 2, 3], &[4, 5, 6, 7]);
    let scores = |decoder: &Decoder| decoder.score(&sequences, 1.0).unwrap().log_probs;
    let (adapted, merged) = (scores(&decoder), scores(&merged));
    for (adapted, merged) in adapted.values().iter().zip(merged.values()) {
        assert!((adapted - merged).abs() < 1e-4, "{adapted} {merged}");
    }
    let path = folder.path().join("adapter");
    let config = files::read_object(&path.join("adapter_config.json")).unwrap().unwrap();
    assert_eq!((&config["r"], &config["lora_alpha"]), (&json!(3), &json!(5.0)));
    assert_eq!(
        config["target_modules"],
        json!(["down_proj", "o_proj", "q_proj", "up_proj", "v_proj"])
    );
    let bytes = fs::read(path.join("adapter_model.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(file.len(), 2 * 2 * 5);
    let name = "base_model.model.model.layers.1.mlp.down_proj.lora_A.weight";
    assert_eq!(file.tensor(name).unwrap().shape(), [3, 56]);
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let norm = "model.norm.weight";
    let values = |count: usize, value: f32| vec![value.to_le_bytes(); count].concat();
    assert_refused(
        |tensors| drop(tensors.remove(norm)),
        &["model.safetensors: tensor model.norm.weight is missing"],
    );
    assert_refused(
        |tensors| drop(tensors.insert(norm.into(), (Dtype::F32, vec![31], values(31, 1.0)))),
        &["model.safetensors: tensor model.norm.weight has the shape [31], expected [32]"],
    );
    assert_refused(
        |tensors| drop(tensors.insert("extra".into(), (Dtype::F32, vec![1], values(1, 1.0)))),
        &["tensor extra is not one of this architecture"],
    );
    assert_refused(
        |tensors| drop(tensors.insert(norm.into(), (Dtype::F64, vec![32], vec![0; 256]))),
        &[norm, "has the type F64, expected F32, F16 or BF16"],
    );
    assert_refused(
        |tensors| drop(tensors.insert(norm.into(), (Dtype::F32, vec![32], values(32, f32::NAN)))),
        &[norm, "has a value of NaN"],
    );
    let head = (Dtype::F32, vec![128, 32], values(128 * 32, 0.5));
    assert_refused(
        |tensors| drop(tensors.insert("lm_head.weight".into(), head)),
        &["tensor lm_head.weight is not model.embed_tokens.weight", "tie_word_embeddings"],
    );
}

#[test]
fn tensors_that_say_nothing_new_are_left_out() {
    let folder = copy("qwen2");
    let before = load(folder.path()).unwrap();
    change(folder.path(), |tensors| {
        let embedding = tensors["model.embed_tokens.weight"].clone();
        tensors.insert("lm_head.weight".into(), embedding);
        let frequencies = (Dtype::F32, vec![1], vec![0; 4]);
        tensors.insert("model.layers.0.self_attn.rotary_emb.inv_freq".into(), frequencies);
    });
    let after = load(folder.path()).unwrap();
    assert_eq!(after.decoder.weights_of(), before.decoder.weights_of());
}

#[test]
fn halves_become_single_precision() {
    let folder = copy("qwen2");
    let halves = [0x3C00_u16, 0xC100, 0x0001, 0x7BFF].map(u16::to_le_bytes).concat();
    let brains = [0x3F80_u16, 0xC020, 0x0001, 0x7F7F].map(u16::to_le_bytes).concat();
    change(folder.path(), |tensors| {
        let stored = |dtype, bytes: &[u8]| (dtype, vec![32], bytes.repeat(8));
        tensors.insert("model.norm.weight".into(), stored(Dtype::F16, &halves));
        let name = "model.layers.0.input_layernorm.weight";
        tensors.insert(name.into(), stored(Dtype::BF16, &brains));
    });
    let decoder = load(folder.path()).unwrap().decoder;
    let values = |name: &str| {
        let parameters = decoder.weights_of();
        let info = parameters.tensors().iter().find(|info| info.name == name).unwrap();
        parameters.values()[info.range.clone()][..4].to_vec()
    };
    assert_eq!(values("model.norm.weight"), [1.0, -2.5, 2.0_f32.powi(-24), 65504.0]);
    let brains = [1.0, -2.5, f32::from_bits(1 << 16), f32::from_bits(0x7F7F_0000)];
    assert_eq!(values("model.layers.0.input_layernorm.weight"), brains);
}

#[test]
fn indices_that_do_not_fit_are_refused() {
    let index = "model.safetensors.index.json";
    let folder = copy("qwen3-sharded");
    let path = folder.path();
    edit(path, index, "weight_map", json!({"a": "../model.safetensors"}));
    assert!(error(path).contains("index.json: a is in \"../model.safetensors\", expected"));
    edit(path, index, "weight_map", json!({"a": "model-00001-of-00004.safetensors"}));
    let missing = error(path);
    assert!(missing.contains("index.json: tensor ") && missing.contains(" more"), "{missing}");
    edit(path, index, "weight_map", json!({"a": "none.safetensors"}));
    assert!(error(path).contains("none.safetensors: No such file"));
    edit(path, index, "weight_map", json!([]));
    assert!(error(path).contains("index.json: has no object weight_map"));
    fs::remove_file(path.join(index)).unwrap();
    assert!(error(path).contains("model.safetensors: there is no such file, and no model.safe"));
    let twice = copy("qwen3-sharded");
    let file = |name: &str| twice.path().join(name);
    let first = "model-00001-of-00004.safetensors";
    fs::copy(file(first), file("again.safetensors")).unwrap();
    edit(twice.path(), index, "weight_map", json!({"a": first, "b": "again.safetensors"}));
    assert!(error(twice.path()).contains("is there a second time"));
}

#[test]
fn spoilt_files_are_errors() {
    let folder = copy("llama");
    let path = folder.path();
    let weights = fs::read(path.join("model.safetensors")).unwrap();
    for length in [0, 4, 100, weights.len() - 1] {
        files::write_atomic(&path.join("model.safetensors"), &weights[..length]).unwrap();
        assert!(error(path).contains("model.safetensors: "), "of {length} bytes");
    }
    edit(path, CONFIG_FILE, "hidden_size", json!("wide"));
    assert!(error(path).contains("config.json: hidden_size"), "{}", error(path));
    files::write_atomic(&path.join(CONFIG_FILE), b"[]").unwrap();
    assert!(error(path).contains("config.json: is not a JSON object"));
    fs::remove_file(path.join(CONFIG_FILE)).unwrap();
    assert!(error(path).contains("config.json: there is no such file"));
}

#[test]
fn a_tokenizer_has_no_more_tokens_than_the_embedding() {
    let folder = copy("llama");
    let tokenizer = PolicyTokenizer::load(folder.path()).unwrap();
    let more: String = ('a'..='z').chain('Ā'..='ſ').collect();
    PolicyTokenizer::characters(&more).unwrap().save(folder.path()).unwrap();
    assert_eq!(tokenizer.vocabulary_size(), 128);
    assert!(error(folder.path()).contains("tokenizer.json: has 156 tokens, expected at most"));
}

#[test]
fn stop_tokens_come_from_the_first_file_that_has_them() {
    let folder = copy("qwen2");
    let path = folder.path();
    let stop = || load(path).unwrap().tokenizer.stop_tokens().to_vec();
    for (generation, config, expected) in [
        (json!([5, 3, 5]), json!(9), vec![3, 5]),
        (json!(7), json!([9]), vec![7]),
        (Value::Null, json!(9), vec![127]),
    ] {
        edit(path, GENERATION_FILE, EOS, generation);
        edit(path, CONFIG_FILE, EOS, config);
        assert_eq!(stop(), expected);
    }
    fs::remove_file(path.join(GENERATION_FILE)).unwrap();
    assert_eq!(stop(), [9]);
    edit(path, CONFIG_FILE, EOS, json!(-1));
    assert!(error(path).contains("config.json: eos_token_id is -1, expected ids of tokens"));
}
