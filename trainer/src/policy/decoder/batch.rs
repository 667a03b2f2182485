//! Sequences of different lengths as chunks of tokens without padding.

use std::ops::Range;

use crate::policy::{PolicyError, Sequences};

/// Sequences are put together up to about so many tokens: what a layer keeps of them then stays in the
/// cache of a core. It does not depend on the number of threads.
const CHUNK_TOKENS: usize = 512;

/// Whole sequences, one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chunk {
    /// The tokens that predict, and those before them. The last token of a sequence predicts nothing
    /// and is left out.
    pub(crate) tokens: Vec<u32>,
    /// Where each sequence lies among the tokens.
    pub(crate) sequences: Vec<Range<usize>>,
    /// The rows that predict a token of a completion, in the order of the completions.
    pub(crate) predicting: Vec<usize>,
}

impl Chunk {
    /// Prompts as chunks, of which the last token of each predicts.
    pub(crate) fn of_prompts<'a>(prompts: impl Iterator<Item = &'a [u32]>) -> Vec<Self> {
        let mut chunks = Vec::new();
        for prompt in prompts {
            Self::push(&mut chunks, prompt.iter().copied(), 1);
        }
        chunks
    }

    /// Adds a sequence, whose last `predicting` tokens predict, to the last chunk or a new one.
    fn push(chunks: &mut Vec<Self>, tokens: impl ExactSizeIterator<Item = u32>, predicting: usize) {
        let length = tokens.len();
        let room = |chunk: &Self| chunk.tokens.len() + length <= CHUNK_TOKENS;
        if !chunks.last().is_some_and(room) {
            chunks.push(Self::default());
        }
        let Some(chunk) = chunks.last_mut() else { return };
        let start = chunk.tokens.len();
        let end = start + length;
        chunk.tokens.extend(tokens);
        chunk.sequences.push(start..end);
        chunk.predicting.extend(end.saturating_sub(predicting)..end);
    }
}

/// Sequences as chunks, and the tokens that they predict.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PackedBatch {
    pub(crate) chunks: Vec<Chunk>,
    /// The tokens of all completions, one after another.
    pub(crate) targets: Vec<u32>,
    /// The lengths of the completions.
    pub(crate) lengths: Vec<usize>,
    /// The length of the longest sequence.
    pub(crate) positions: usize,
}

/// What a sequence may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Ids are below it.
    pub(crate) vocabulary: usize,
    /// The most tokens.
    pub(crate) positions: usize,
}

impl PackedBatch {
    /// Packs sequences. Those without a completion predict nothing, and are left out.
    ///
    /// # Errors
    /// An empty prompt, an id outside of the vocabulary, too many tokens.
    pub(crate) fn new(sequences: &Sequences, bounds: Bounds) -> Result<Self, PolicyError> {
        if sequences.prompts.rows() != sequences.completions.rows() {
            let (prompts, completions) = (sequences.prompts.rows(), sequences.completions.rows());
            let message = format!("{prompts} prompts, {completions} completions");
            return Err(PolicyError::invalid("sequences", message));
        }
        let mut packed = Self::default();
        let rows = sequences.prompts.iter().zip(sequences.completions.iter());
        for (at, (prompt, completion)) in rows.enumerate() {
            bounds.check(&format!("sequence {at}"), prompt, completion)?;
            packed.push(prompt, completion);
        }
        Ok(packed)
    }

    fn push(&mut self, prompt: &[u32], completion: &[u32]) {
        self.lengths.push(completion.len());
        self.targets.extend_from_slice(completion);
        let Some((_, predicting)) = completion.split_last() else { return };
        let tokens: Vec<u32> = prompt.iter().chain(predicting).copied().collect();
        self.positions = self.positions.max(tokens.len());
        Chunk::push(&mut self.chunks, tokens.into_iter(), completion.len());
    }
}

impl Bounds {
    /// Checks a prompt and its completion.
    ///
    /// # Errors
    /// Names `what`.
    pub(crate) fn check(
        self,
        what: &str,
        prompt: &[u32],
        completion: &[u32],
    ) -> Result<(), PolicyError> {
        if prompt.is_empty() {
            return Err(PolicyError::invalid(what, "the prompt is empty"));
        }
        let length = prompt.len() + completion.len();
        if length > self.positions {
            let message = format!("{length} tokens, expected at most {}", self.positions);
            return Err(PolicyError::invalid(what, message));
        }
        self.check_ids(what, prompt)?;
        self.check_ids(what, completion)
    }

    /// Checks that ids are those of the vocabulary.
    ///
    /// # Errors
    /// Names `what` and the first that is not.
    pub(crate) fn check_ids(self, what: &str, ids: &[u32]) -> Result<(), PolicyError> {
        match ids.iter().find(|id| **id as usize >= self.vocabulary) {
            None => Ok(()),
            Some(id) => {
                let message = format!("token {id}, expected ids below {}", self.vocabulary);
                Err(PolicyError::invalid(what, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { vocabulary: 10, positions: 400 };

    #[test]
    fn what_predicts_nothing_is_left_out() {
        let mut sequences = Sequences::default();
        sequences.push(&[1, 2, 3], &[4, 5]);
        sequences.push(&[6], &[]);
        sequences.push(&[7], &[8]);
        let packed = PackedBatch::new(&sequences, BOUNDS).unwrap();
        assert_eq!((packed.targets, packed.lengths), (vec![4, 5, 8], vec![2, 0, 1]));
        let chunk = &packed.chunks[0];
        assert_eq!(chunk.tokens, [1, 2, 3, 4, 7]);
        assert_eq!(
            (&chunk.sequences[..], &chunk.predicting[..]),
            (&[0..4, 4..5][..], &[2, 3, 4][..])
        );
        assert_eq!((packed.chunks.len(), packed.positions), (1, 4));
    }

    #[test]
    fn chunks_have_whole_sequences() {
        let mut sequences = Sequences::default();
        (0..4).for_each(|_| sequences.push(&[1; 100], &[2; 200]));
        let packed = PackedBatch::new(&sequences, BOUNDS).unwrap();
        let sizes: Vec<usize> = packed.chunks.iter().map(|chunk| chunk.tokens.len()).collect();
        assert_eq!(sizes, [299; 4]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let said = |prompt: &[u32], completion: &[u32]| {
            let mut sequences = Sequences::default();
            sequences.push(prompt, completion);
            PackedBatch::new(&sequences, BOUNDS).unwrap_err().to_string()
        };
        assert_eq!(said(&[], &[1]), "sequence 0: the prompt is empty");
        assert_eq!(said(&[1], &[10]), "sequence 0: token 10, expected ids below 10");
        assert_eq!(said(&[1; 300], &[1; 101]), "sequence 0: 401 tokens, expected at most 400");
    }
}
