//! Hugging Face folders of decoders: `config.json`, weights as safetensors, `tokenizer.json`.

mod adapter;
mod read;
mod write;

use std::path::Path;

use serde_json::{Map, Value, json};

use super::PolicyError;
use super::architecture::Architecture;
use super::decoder::Decoder;
use super::files::{self, invalid};
use super::tokenizer::{PolicyTokenizer, TOKENIZER_FILE};

const CONFIG_FILE: &str = "config.json";
const GENERATION_FILE: &str = "generation_config.json";
const ADAPTER_FOLDER: &str = "adapter";
const EOS: &str = "eos_token_id";

/// What a folder holds.
pub struct PolicyFolder {
    /// The decoder; all of its weights are trained.
    pub decoder: Decoder,
    /// The tokenizer. Its stop tokens are those of `generation_config.json`, else of `config.json`,
    /// else the end-of-sequence token of `tokenizer_config.json`. It has the chat template too.
    pub tokenizer: PolicyTokenizer,
}

/// Reads a folder of Llama, Qwen2 or Qwen3. Weights of `f32`, `f16` and `bf16`, in one file or in
/// several with an index, become `f32`.
///
/// # Errors
/// A file that is missing or is not what it has to be; a tensor that is missing, of another shape or
/// type, not finite, or that the architecture does not have; a tokenizer with more tokens than the
/// embedding.
pub fn load(path: &Path) -> Result<PolicyFolder, PolicyError> {
    let file = path.join(CONFIG_FILE);
    let Some(config) = files::read_object(&file)? else {
        return Err(invalid(&file, "there is no such file"));
    };
    let eos = match files::read_object(&path.join(GENERATION_FILE))? {
        Some(generation) if generation.contains_key(EOS) => {
            stop_tokens(&generation, &path.join(GENERATION_FILE))?
        }
        _ => stop_tokens(&config, &file)?,
    };
    let architecture = Architecture::from_config(&Value::Object(config));
    let architecture = architecture.map_err(|error| within(&file, error))?;
    let mut tokenizer = PolicyTokenizer::load(path)?;
    let (tokens, room) = (tokenizer.vocabulary_size(), architecture.vocab_size);
    if tokens > room {
        let message = format!("has {tokens} tokens, expected at most the vocab_size of {room}");
        return Err(invalid(&path.join(TOKENIZER_FILE), &message));
    }
    if !eos.is_empty() {
        tokenizer.set_stop_tokens(eos);
    }
    let parameters = read::parameters(path, &architecture)?;
    let decoder = Decoder::from_parameters(architecture, &parameters)?;
    Ok(PolicyFolder { decoder, tokenizer })
}

/// Writes a folder that [`load`] and transformers read, with weights of `f32`. Each file is written
/// under a temporary name and renamed, the weights before `config.json`.
///
/// Of a decoder with adapters the weights are merged. The adapters alone are in the folder `adapter`, in
/// the layout of PEFT; they are for the weights that the training began with, not for the merged ones.
///
/// # Errors
/// A folder that cannot be written.
pub fn save(
    path: &Path,
    decoder: &Decoder,
    tokenizer: &PolicyTokenizer,
) -> Result<(), PolicyError> {
    tokenizer.save(path)?;
    let merged = decoder.has_adapters().then(|| decoder.merged()).transpose()?;
    let parameters = merged.as_ref().unwrap_or(decoder.weights_of());
    write::parameters(path, decoder.architecture(), parameters)?;
    adapter::save(&path.join(ADAPTER_FOLDER), decoder)?;
    let mut tokens = Map::new();
    let stop = match tokenizer.stop_tokens() {
        [] => Value::Null,
        [one] => json!(one),
        several => json!(several),
    };
    tokens.insert(EOS.to_owned(), stop);
    tokens.insert("pad_token_id".to_owned(), json!(tokenizer.pad_token()));
    files::write_json(&path.join(GENERATION_FILE), &Value::Object(tokens.clone()))?;
    let mut config = decoder.architecture().to_config();
    if let Some(config) = config.as_object_mut() {
        config.extend(tokens);
    }
    files::write_json(&path.join(CONFIG_FILE), &config)
}

/// The ids under `eos_token_id`: one, a list, or none.
fn stop_tokens(config: &Map<String, Value>, path: &Path) -> Result<Vec<u32>, PolicyError> {
    let id = |value: &Value| {
        let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
        id.ok_or_else(|| invalid(path, &format!("{EOS} is {value}, expected ids of tokens")))
    };
    match config.get(EOS) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(ids)) => ids.iter().map(id).collect(),
        Some(one) => Ok(vec![id(one)?]),
    }
}

/// An error of what a file holds, with the file.
fn within(path: &Path, error: PolicyError) -> PolicyError {
    match error {
        PolicyError::Invalid { what, message } => {
            PolicyError::Invalid { what: format!("{}: {what}", path.display()), message }
        }
        error @ PolicyError::Io { .. } => error,
    }
}

#[cfg(test)]
mod tests;
