//! The policy of a training: a folder of weights, or a new decoder.

use std::collections::BTreeSet;

use assay::trainer::config::NewModelConfig;
use assay::trainer::policy::{Architecture, Decoder, PolicyError, PolicyTokenizer, folder};

use super::super::exit::Failure;
use super::prepared::Prepared;

/// A decoder, and its tokenizer.
pub(super) struct OpenPolicy {
    pub(super) decoder: Decoder,
    pub(super) tokenizer: PolicyTokenizer,
}

impl OpenPolicy {
    /// Reads the folder of the model, or makes a new one.
    pub(super) fn open(prepared: &Prepared) -> Result<Self, Failure> {
        let model = &prepared.config.model;
        let opened = match (&prepared.model, &model.new) {
            (Some(path), _) => folder::load(path)
                .map(|read| Self { decoder: read.decoder, tokenizer: read.tokenizer }),
            (None, Some(new)) => Self::new(new, prepared),
            (None, None) => Err(PolicyError::invalid("train.model", "neither `path` nor `new`")),
        };
        opened.and_then(|opened| opened.with_adapters(prepared)).map_err(refused)
    }

    /// The same with adapters, where these are to be trained.
    fn with_adapters(self, prepared: &Prepared) -> Result<Self, PolicyError> {
        let Some(lora) = &prepared.config.model.lora else { return Ok(self) };
        let decoder = self.decoder.with_adapters(lora, prepared.config.seed)?;
        Ok(Self { decoder, ..self })
    }

    /// A decoder with random weights whose tokens are characters.
    fn new(new: &NewModelConfig, prepared: &Prepared) -> Result<Self, PolicyError> {
        let alphabet = new.alphabet.clone().unwrap_or_else(|| alphabet(prepared));
        let tokenizer = PolicyTokenizer::characters(&alphabet)?;
        let architecture = Architecture::of_new(new, tokenizer.vocabulary_size())?;
        let decoder = Decoder::new(architecture, prepared.config.seed, new.initializer_range)?;
        Ok(Self { decoder, tokenizer })
    }
}

/// The characters of tasks, their references, the demonstrations and what marks calls of a tool, sorted.
fn alphabet(prepared: &Prepared) -> String {
    let sets = [&prepared.tasks, &prepared.held_out];
    let mut characters: BTreeSet<char> = BTreeSet::new();
    for set in sets {
        characters.extend(set.tasks.iter().flat_map(|task| task.prompt.chars()));
        for row in &set.rows {
            characters.extend(row.references().iter().flat_map(|text| text.chars()));
        }
    }
    for shown in &prepared.demonstrations {
        characters.extend(shown.prompt.chars().chain(shown.completion.chars()));
    }
    let marks = prepared.config.tool.iter().flat_map(|tool| tool.call.iter().chain(&tool.result));
    characters.extend(marks.flat_map(|mark| mark.chars()));
    characters.into_iter().collect()
}

/// A model that is not what it has to be is the user's; anything else failed outside.
pub(super) fn refused(error: PolicyError) -> Failure {
    match error {
        PolicyError::Invalid { .. } => Failure::usage(format!("model: {error}")),
        PolicyError::Io { .. } => anyhow::Error::from(error).into(),
    }
}
