//! Sampling of completions, many at once, with the keys and values of the tokens so far in a cache.
//!
//! A completion has a stream of random numbers of its own, from its seed, of which each token takes one:
//! what is drawn depends on the prompt, the seed and the weights, not on the rest of the batch. A prompt
//! is read once for all of its completions. Completions that ended leave the batch.

mod row;
mod sampler;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rayon::prelude::*;

use self::sampler::{Draw, Sampler};
use super::decoder::Decoder;
use super::{EndsAt, FinishReason, Generated, GenerationConfig, PolicyError};
use crate::ragged::Ragged;

/// Logits of which one thread draws at least.
const VALUES: usize = 1 << 13;

/// The completions that are sampled.
pub struct Sampled<'a> {
    /// The seed of each.
    pub seeds: &'a [u64],
    /// Whether one ends after the token that it has last, beside the stop tokens.
    pub ends: &'a EndsAt<'a>,
}

/// Samples one completion for each seed: completion `i` continues prompt
/// `i / (seeds.len() / prompts.rows())`. It ends with the first of the stop tokens of `config`, after
/// `max_new_tokens`, or where the decoder has no more positions.
///
/// # Errors
/// A setting outside of its range; a prompt that is empty, leaves no position for a completion, or has
/// an id outside of the vocabulary; seeds that the prompts do not divide; weights whose logits are not
/// finite.
pub fn generate(
    decoder: &Decoder,
    prompts: &Ragged<u32>,
    config: &GenerationConfig,
    seeds: &[u64],
) -> Result<Vec<Generated>, PolicyError> {
    generate_until(decoder, prompts, config, Sampled { seeds, ends: &|_, _| false })
}

/// The same, where a completion also ends after the token at which its `ends` says so.
///
/// # Errors
/// As for [`generate`].
pub fn generate_until(
    decoder: &Decoder,
    prompts: &Ragged<u32>,
    config: &GenerationConfig,
    Sampled { seeds, ends }: Sampled<'_>,
) -> Result<Vec<Generated>, PolicyError> {
    let sampler = Sampler::new(config)?;
    let share = completions_of_a_prompt(prompts.rows(), seeds.len())?;
    let limits = limits(decoder, prompts, config)?;
    let by_prompt = (0..).zip(limits).flat_map(|place| std::iter::repeat_n(place, share));
    let open = by_prompt.zip(seeds).enumerate();
    let mut completions: Vec<Completion> = open
        .map(|(place, ((prompt, limit), seed))| Completion::new(place, prompt, limit, *seed))
        .collect();
    if config.max_new_tokens > 0 && !completions.is_empty() {
        let drawing = Drawing { sampler, stop_tokens: &config.stop_tokens, ends, decoder };
        drawing.run(prompts, completions.iter_mut().collect())?;
    }
    Ok(completions.into_iter().map(|completion| completion.generated).collect())
}

/// How many seeds there are for each prompt.
fn completions_of_a_prompt(prompts: usize, seeds: usize) -> Result<usize, PolicyError> {
    match seeds.checked_rem(prompts) {
        Some(0) => Ok(seeds / prompts),
        None if seeds == 0 => Ok(0),
        _ => {
            let message = format!("{seeds} of them are not shared equally by {prompts} prompts");
            Err(PolicyError::invalid("seeds", message))
        }
    }
}

/// The most tokens that the completions of each prompt may have.
fn limits(
    decoder: &Decoder,
    prompts: &Ragged<u32>,
    config: &GenerationConfig,
) -> Result<Vec<usize>, PolicyError> {
    let positions = decoder.architecture().max_position_embeddings;
    let limit = |(at, length): (usize, usize)| match positions.checked_sub(length) {
        Some(left) if left > 0 => Ok(left.min(config.max_new_tokens)),
        _ => {
            let message =
                format!("has {length} tokens, which leaves none of {positions} for a completion");
            Err(PolicyError::invalid(format!("prompt {at}"), message))
        }
    };
    prompts.lengths().enumerate().map(limit).collect()
}

/// What all rows of a batch have in common.
struct Drawing<'a> {
    decoder: &'a Decoder,
    sampler: Sampler,
    stop_tokens: &'a [u32],
    ends: &'a EndsAt<'a>,
}

impl Drawing<'_> {
    /// Draws tokens until all completions have ended. They lie by their prompts.
    #[expect(clippy::indexing_slicing, reason = "there are logits for each prompt")]
    fn run(
        &self,
        prompts: &Ragged<u32>,
        mut running: Vec<&mut Completion>,
    ) -> Result<(), PolicyError> {
        let end =
            |completion: &&mut Completion| prompts.row(completion.prompt).len() + completion.limit;
        let steps = self.decoder.steps(running.iter().map(end).max().unwrap_or(0));
        let (mut cache, logits) = steps.prefill(prompts)?;
        let vocabulary = self.decoder.architecture().vocab_size;
        let mut first = Vec::with_capacity(running.len() * vocabulary);
        for completion in &running {
            let start = completion.prompt * vocabulary;
            first.extend_from_slice(&logits[start..start + vocabulary]);
        }
        drop(logits);
        self.draw(first, &mut running)?;
        running.retain(|completion| completion.is_open);
        let rows: Vec<usize> = running.iter().map(|completion| completion.prompt).collect();
        cache = cache.select(&rows);
        while !running.is_empty() {
            let tokens: Vec<u32> = running.iter().map(|completion| completion.last()).collect();
            let logits = steps.step(&mut cache, &tokens)?;
            self.draw(logits, &mut running)?;
            cache.retain(|row| running.get(row).is_some_and(|completion| completion.is_open));
            running.retain(|completion| completion.is_open);
        }
        Ok(())
    }

    /// Draws a token for each row of logits.
    fn draw(&self, mut logits: Vec<f32>, rows: &mut [&mut Completion]) -> Result<(), PolicyError> {
        let vocabulary = self.decoder.architecture().vocab_size;
        let pairs = logits.par_chunks_exact_mut(vocabulary).zip(rows);
        pairs.with_min_len(VALUES / vocabulary).try_for_each(|(logits, completion)| {
            let draw = self.sampler.draw(logits, &mut completion.random)?;
            completion.push(draw, self.stop_tokens);
            completion.is_open &= !(self.ends)(completion.place, &completion.generated.tokens);
            Ok(())
        })
    }
}

/// A completion that is made.
struct Completion {
    /// Its place among all.
    place: usize,
    /// Which prompt it continues.
    prompt: usize,
    /// The most tokens that it may have.
    limit: usize,
    random: StdRng,
    generated: Generated,
    is_open: bool,
}

impl Completion {
    fn new(place: usize, prompt: usize, limit: usize, seed: u64) -> Self {
        Self {
            place,
            prompt,
            limit,
            random: StdRng::seed_from_u64(seed),
            generated: Generated {
                tokens: Vec::new(),
                log_probs: Vec::new(),
                finish: FinishReason::Length,
            },
            is_open: true,
        }
    }

    fn last(&self) -> u32 {
        self.generated.tokens.last().copied().unwrap_or(0)
    }

    fn push(&mut self, draw: Draw, stop_tokens: &[u32]) {
        let generated = &mut self.generated;
        generated.tokens.push(draw.token);
        generated.log_probs.push(draw.log_prob);
        if stop_tokens.contains(&draw.token) {
            generated.finish = FinishReason::Stop;
        }
        let has_stopped = generated.finish == FinishReason::Stop;
        self.is_open = !has_stopped && generated.tokens.len() < self.limit;
    }
}

#[cfg(test)]
mod tests;
