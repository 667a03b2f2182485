//! What the files of an exported model say of it: its kind, its text, its limits.

use std::path::Path;

use assay_verifiers::canonical;
use serde_json::Value as Json;
use toml::{Table, Value, toml};

use crate::digests;
use crate::error::ModelError;
use crate::files;
use crate::graph::GraphInfo;
use crate::manifest::{ModelKind, Precision};

/// What may be said of a folder beyond what lies in it.
#[derive(Clone, Debug, Default)]
pub struct AdoptOptions {
    /// The graph, where it is not `model.onnx` or `onnx/model.onnx`.
    pub graph: Option<String>,
    /// The name of the model; by default that of the folder.
    pub name: Option<String>,
    /// The longest text, where the folder does not say it.
    pub max_tokens: Option<usize>,
}

pub(super) const TOKENIZER: &str = "tokenizer.json";
pub(super) const CHAT: &str = "chat.jinja";
/// The most bytes of a file that describes a model.
const TEXT_BYTES_MAX: u64 = 16 << 20;
/// The most labels of a score.
const LABELS_MAX: usize = 1 << 12;
/// The longest text that a folder may claim; more stands for no limit.
const TOKENS_MAX: u64 = 1 << 20;

/// Architectures by the end of their name: what their output is no score of, and what to do.
const OTHER_HEADS: [(&str, &str); 5] = [
    (
        "ForTokenClassification",
        "a class of each token: export a process model with `--preset trl-prm`",
    ),
    ("ForCausalLM", "a distribution over tokens: export a judge with `--preset yes-no-judge`"),
    (
        "ForConditionalGeneration",
        "a distribution over tokens: export a judge with `--preset yes-no-judge`",
    ),
    ("ForMaskedLM", "a distribution over tokens; it has no head that judges"),
    ("ForQuestionAnswering", "the borders of an answer; it has no head that judges"),
];
/// Architectures whose positions count from behind the id of the padding.
const SHIFTED: [&str; 4] = ["roberta", "xlm-roberta", "camembert", "xlm-roberta-xl"];
const CONVERSATION: &str =
    "{{ chat(messages + [{\"role\": \"assistant\", \"content\": completion}]) }}";
const PAIR: &str = "{{ prompt }}{{ pair }}{{ completion }}";
const TEXT: &str = "{{ completion }}";
const TOKENS: [&str; 7] =
    ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

/// What is known of a model.
pub(super) struct Described {
    pub(super) kind: ModelKind,
    /// The output that is read.
    pub(super) output: String,
    pub(super) template: &'static str,
    /// The chat template.
    pub(super) chat: Option<String>,
    pub(super) max_tokens: usize,
    name: String,
    tokens: Table,
    pad: u64,
    /// How many values a score is made of, where they are labels.
    pub(super) labels: Option<usize>,
    score: Table,
}

impl Described {
    /// Reads what lies beside the graph.
    pub(super) fn of(
        folder: &Path,
        info: &GraphInfo,
        options: &AdoptOptions,
    ) -> Result<Self, ModelError> {
        let tokenizer = folder.join(TOKENIZER);
        if !tokenizer.is_file() {
            let why = "missing: Optimum writes it for a fast tokenizer; one without it is not read";
            return Err(ModelError::file(&tokenizer, why));
        }
        let path = folder.join("config.json");
        let config = json(&path)?.ok_or_else(|| {
            ModelError::file(
                &path,
                "missing: it says what the model is; take it from the checkpoint",
            )
        })?;
        let settings = json(&folder.join("tokenizer_config.json"))?.unwrap_or_default();
        let special = json(&folder.join("special_tokens_map.json"))?.unwrap_or_default();
        let (kind, output) = read_output(folder, info, &config)?;
        let chat = chat(folder, &settings)?;
        let template = match (kind, &chat) {
            (ModelKind::Embedding, _) => TEXT,
            (_, Some(_)) => CONVERSATION,
            (_, None) => PAIR,
        };
        let tokens = TOKENS.iter().filter_map(|name| {
            let text = token(&settings, name).or_else(|| token(&special, name))?;
            Some(((*name).to_owned(), Value::from(text)))
        });
        let own = folder.canonicalize().ok();
        let own = own.as_deref().and_then(Path::file_name).map(|name| name.display().to_string());
        Ok(Self {
            kind,
            output,
            template,
            chat: chat.filter(|_| kind != ModelKind::Embedding),
            max_tokens: options.max_tokens.map_or_else(|| limit(&path, &config, &settings), Ok)?,
            name: options.name.clone().or(own).unwrap_or_else(|| "model".to_owned()),
            tokens: tokens.collect(),
            pad: config.get("pad_token_id").and_then(Json::as_u64).unwrap_or(0),
            labels: (kind != ModelKind::Embedding).then(|| labels(&config)),
            score: if kind == ModelKind::Embedding { Table::new() } else { score(&path, &config)? },
        })
    }

    /// The manifest without its golden pairs.
    pub(super) fn table(
        &self,
        folder: &Path,
        graph: &str,
        info: &GraphInfo,
    ) -> Result<Table, ModelError> {
        let path = folder.join(graph);
        let mut about = Table::new();
        about.insert("file".to_owned(), graph.into());
        about.insert("sha256".to_owned(), sha256(&path)?.into());
        let data = info.external.keys().map(|file| {
            let mut data = Table::new();
            let beside = Path::new(graph).with_file_name(file);
            data.insert("file".to_owned(), beside.display().to_string().into());
            data.insert("sha256".to_owned(), sha256(&folder.join(beside))?.into());
            Ok(Value::Table(data))
        });
        let data = data.collect::<Result<Vec<Value>, ModelError>>()?;
        if !data.is_empty() {
            about.insert("data".to_owned(), data.into());
        }
        let precision = serde_json::to_value(precision(info)).unwrap_or_default();
        about.insert("precision".to_owned(), precision.as_str().unwrap_or("fp32").into());
        let standard = if self.kind == ModelKind::Embedding { "embeddings" } else { "scores" };
        let outputs = Table::from_iter([(standard.to_owned(), self.output.clone().into())]);
        about.insert("outputs".to_owned(), outputs.into());
        let kind = serde_json::to_value(self.kind).unwrap_or_default();
        let mut table = toml! {
            version = 1
            [tokenizer]
            file = "tokenizer.json"
            [template]
        };
        table.insert("name".to_owned(), self.name.clone().into());
        table.insert("kind".to_owned(), kind.as_str().unwrap_or_default().into());
        table.insert("graph".to_owned(), Value::Array(vec![about.into()]));
        table.insert("score".to_owned(), self.score.clone().into());
        let most = i64::try_from(self.max_tokens).unwrap_or(i64::MAX);
        table.insert(
            "limits".to_owned(),
            Table::from_iter([("max_tokens".to_owned(), most.into())]).into(),
        );
        let mut put = |at: &str, key: &str, value: Value| {
            if let Some(inner) = table.get_mut(at).and_then(Value::as_table_mut) {
                inner.insert(key.to_owned(), value);
            }
        };
        put("tokenizer", "sha256", sha256(&folder.join(TOKENIZER))?.into());
        put("tokenizer", "add_special_tokens", (self.template != CONVERSATION).into());
        put("tokenizer", "tokens", self.tokens.clone().into());
        put("tokenizer", "pad_token_id", i64::try_from(self.pad).unwrap_or(0).into());
        put("template", "text", self.template.into());
        if self.chat.is_some() {
            put("template", "chat", CHAT.into());
        }
        Ok(table)
    }
}

fn json(path: &Path) -> Result<Option<Json>, ModelError> {
    if !path.is_file() {
        return Ok(None);
    }
    let found: Result<Json, _> = serde_json::from_str(&files::text(path, TEXT_BYTES_MAX)?);
    let found = found.map_err(|error| ModelError::file(path, error))?;
    if found.is_object() {
        Ok(Some(found))
    } else {
        Err(ModelError::file(path, "expected an object"))
    }
}

/// What the model judges, and which output says it.
fn read_output(
    folder: &Path,
    info: &GraphInfo,
    config: &Json,
) -> Result<(ModelKind, String), ModelError> {
    let architecture =
        config.pointer("/architectures/0").and_then(Json::as_str).unwrap_or_default();
    let other = OTHER_HEADS.iter().find(|(end, _)| architecture.ends_with(end));
    let file = folder.join("config.json");
    if let Some((_, what)) = other {
        return Err(ModelError::file(&file, format!("architectures: {architecture} gives {what}")));
    }
    let has = |name: &str| info.outputs.contains(name);
    if has("logits") {
        return Ok((ModelKind::Outcome, "logits".to_owned()));
    }
    if has("sentence_embedding") {
        return Ok((ModelKind::Embedding, "sentence_embedding".to_owned()));
    }
    let states = ["last_hidden_state", "token_embeddings"].into_iter().find(|name| has(name));
    match states {
        Some(_) if folder.join("1_Pooling/config.json").is_file() => {
            let why = "the graph gives states of tokens, and this pooling is not in it: export it with \
                       `--task sentence-similarity`, or by `python -m assay.export --preset sentence-embedding`";
            Err(ModelError::file(&folder.join("1_Pooling/config.json"), why))
        }
        Some(states) => Ok((ModelKind::Embedding, states.to_owned())),
        None => {
            let have: Vec<&str> = info.outputs.iter().map(String::as_str).collect();
            let why = format!(
                "its outputs are {}; expected `logits`, `sentence_embedding` or `last_hidden_state`",
                have.join(", ")
            );
            Err(ModelError::file(folder, why))
        }
    }
}

/// The chat template: a file of its own, or a key of the tokenizer's settings.
fn chat(folder: &Path, settings: &Json) -> Result<Option<String>, ModelError> {
    let path = folder.join("chat_template.jinja");
    let text = if path.is_file() {
        Some(files::text(&path, TEXT_BYTES_MAX)?)
    } else {
        match settings.get("chat_template") {
            Some(Json::Array(named)) => {
                let default = named.iter().find(|one| one.get("name") == Some(&"default".into()));
                let text = default.and_then(|one| one.get("template"));
                text.and_then(Json::as_str).map(str::to_owned)
            }
            found => found.and_then(Json::as_str).map(str::to_owned),
        }
    };
    // Names that transformers always sets.
    let unset = "{%- set tools = none %}{% set documents = none %}";
    Ok(text.map(|text| format!("{unset}{text}")))
}

fn token(settings: &Json, name: &str) -> Option<String> {
    let found = settings.get(name)?;
    let text = found.as_str().or_else(|| found.get("content")?.as_str());
    text.map(str::to_owned)
}

/// The longest text.
fn limit(path: &Path, config: &Json, settings: &Json) -> Result<usize, ModelError> {
    let number = |value: &Json, key: &str| value.get(key).and_then(Json::as_u64);
    let kind = config.get("model_type").and_then(Json::as_str).unwrap_or_default();
    let places = number(config, "max_position_embeddings").map(|places| {
        let padding = number(config, "pad_token_id").unwrap_or(0);
        if SHIFTED.contains(&kind) { places.saturating_sub(padding + 1) } else { places }
    });
    let told = number(settings, "model_max_length").filter(|most| *most <= TOKENS_MAX);
    let most = places.into_iter().chain(told).filter(|most| *most > 0).min();
    most.and_then(|most| usize::try_from(most).ok()).ok_or_else(|| {
        let why = "neither max_position_embeddings here nor model_max_length in tokenizer_config.json \
                   says how long a text may be: give --max-tokens";
        ModelError::file(path, why)
    })
}

/// How many labels there are; transformers writes nothing where there are two without names.
fn labels(config: &Json) -> usize {
    let named = config.get("id2label").and_then(Json::as_object).map(serde_json::Map::len);
    named.or_else(|| usize::try_from(config.get("num_labels")?.as_u64()?).ok()).unwrap_or(2)
}

/// From logits to a score: one label is taken as it is; of several, the probability of the last.
fn score(path: &Path, config: &Json) -> Result<Table, ModelError> {
    let count = labels(config);
    let mut score = Table::new();
    if count < 2 {
        return Ok(score);
    }
    if count > LABELS_MAX {
        let why = format!("{count} labels; at most {LABELS_MAX} are taken");
        return Err(ModelError::file(path, why));
    }
    let labels = config.get("id2label").and_then(Json::as_object);
    let name = |at: usize| {
        let found = labels.and_then(|labels| labels.get(&at.to_string())?.as_str());
        found.map_or_else(|| format!("LABEL_{at}"), str::to_owned)
    };
    let names: Vec<Value> = (0..count).map(|at| Value::from(name(at))).collect();
    score.insert("labels".to_owned(), names.into());
    let kind = config.get("problem_type").and_then(Json::as_str);
    if kind == Some("regression") {
        return Ok(score);
    }
    let transform = if kind == Some("multi_label_classification") { "sigmoid" } else { "softmax" };
    score.insert("transform".to_owned(), transform.into());
    score.insert("index".to_owned(), i64::try_from(count - 1).unwrap_or(0).into());
    score.insert("range".to_owned(), vec![0.0, 1.0].into());
    Ok(score)
}

/// How exact the graph is: its weights say it.
fn precision(info: &GraphInfo) -> Precision {
    if info.dynamic_int8 {
        return Precision::Int8;
    }
    match info.blocks.first() {
        Some(..=4) => Precision::Int4Blocks,
        Some(_) => Precision::Int8Blocks,
        None if info.half => Precision::Fp16,
        None => Precision::Fp32,
    }
}

/// The SHA-256 of a file, in hexadecimal digits.
fn sha256(path: &Path) -> Result<String, ModelError> {
    let (mut file, _) = files::open(path, u64::MAX)?;
    let digest = digests::of(&mut file).map_err(|error| ModelError::file(path, error))?;
    Ok(canonical::hex(&digest))
}
