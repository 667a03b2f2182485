//! Sampling of completions.

use super::decoder::Decoder;
use super::{Generated, GenerationConfig, PolicyError};
use crate::ragged::Ragged;

/// Samples one completion for each seed.
///
/// # Errors
/// Always, for now.
pub fn generate(
    _decoder: &Decoder,
    _prompts: &Ragged<u32>,
    _config: &GenerationConfig,
    _seeds: &[u64],
) -> Result<Vec<Generated>, PolicyError> {
    Err(PolicyError::invalid("generation", "not there yet"))
}
