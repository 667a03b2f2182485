//! The forward pass of a graph over a batch of texts.

use std::panic::resume_unwind;
use std::sync::Arc;

use rand::rngs::StdRng;

use crate::backend::Session;
use crate::compatibility::{BatchCompatibility, Compatibility};
use crate::error::ModelError;
use crate::graph::{GraphInfo, past_names};
use crate::likelihood::Likelihood;
use crate::manifest::{Graph, Manifest, ModelKind, PastShape, Transform};
use crate::score::ModelOutput;
use crate::tensor::Tensor;
use crate::tokens::Tokens;

/// What is known before the first batch: which inputs a graph takes and how its outputs are read.
pub struct Forward {
    ids: String,
    mask: Option<String>,
    types: Option<String>,
    position_ids: Option<String>,
    score_positions: Option<String>,
    past: Option<Names>,
    main: String,
    gates: Option<String>,
    uncertainties: Option<String>,
    pad: u32,
    /// The fused attention of this backend takes no mask with zeros; with causal attention and
    /// padding on the right, ones say the same.
    ones: bool,
}

struct Names {
    shape: PastShape,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// Keys and values of a text that came before, as the graph gave them.
#[derive(Debug)]
pub struct Past {
    /// Tokens.
    pub length: usize,
    /// Along the graph's inputs.
    pub tensors: Vec<Tensor>,
}

/// Lengths, and lengths of padding, at which compatibility is tried: on both sides of the widths of
/// vector registers.
const PROBED: [usize; 5] = [3, 8, 17, 30, 41];

impl Past {
    /// What it takes in memory.
    pub fn bytes(&self) -> usize {
        self.tensors.iter().map(|tensor| size_of_val(tensor.as_floats())).sum()
    }
}

/// A text of so many tokens that every vocabulary has, read at its last `places`.
pub(crate) fn probe(length: usize, places: usize) -> Tokens {
    let ids = (0..length).map(|at| u32::try_from(at % 5).unwrap_or(0)).collect();
    let positions = (0..places).map(|place| (length + place).saturating_sub(places)).collect();
    Tokens { ids, positions, ..Tokens::default() }
}

impl Forward {
    /// How `graph` is run.
    pub fn new(manifest: &Manifest, graph: &Graph, info: &GraphInfo, backend: &str) -> Self {
        let optional = |standard: &str| {
            let name = graph.input(standard);
            info.inputs.contains(name).then(|| name.to_owned())
        };
        let names = |shape: PastShape| Names {
            shape,
            inputs: past_names(Some(shape), "past_key_values"),
            outputs: past_names(Some(shape), "present"),
        };
        let main = if manifest.kind == ModelKind::Embedding { "embeddings" } else { "scores" };
        let gated = manifest.score.transform == Transform::Gated;
        Self {
            ids: graph.input("input_ids").to_owned(),
            mask: optional("attention_mask"),
            types: optional("token_type_ids"),
            position_ids: optional("position_ids"),
            score_positions: optional("score_positions"),
            past: graph.past.map(names),
            main: graph.output(main).to_owned(),
            gates: gated.then(|| graph.output("gates").to_owned()),
            uncertainties: Some(graph.output("uncertainties").to_owned())
                .filter(|name| info.outputs.contains(name)),
            pad: manifest.tokenizer.pad_token_id,
            ones: info.grouped_attention && backend.starts_with("rten"),
        }
    }

    /// What a text may share a batch with without another score, as this graph does it on this
    /// backend: the softmax of some kernels adds up in another order behind padding. Texts are
    /// read at so many `places`.
    ///
    /// # Errors
    /// What the backend says.
    pub fn compatibility(
        &self,
        sessions: &mut [Box<dyn Session>],
        places: usize,
    ) -> Result<Compatibility, ModelError> {
        let workers = sessions.len();
        let probe = |worker: usize, session: &mut dyn Session| {
            let own = (0..PROBED.len()).zip(PROBED).skip(worker).step_by(workers);
            let found = own.map(|(at, length)| self.compatibility_of(session, at, length, places));
            found.collect::<Result<Vec<Compatibility>, ModelError>>()
        };
        std::thread::scope(|scope| {
            let workers = sessions.iter_mut().enumerate();
            let probes: Vec<_> = workers
                .map(|(worker, session)| scope.spawn(move || probe(worker, &mut **session)))
                .collect();
            let mut compatibility = Compatibility::default();
            for probe in probes {
                let found = probe.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                compatibility = found.into_iter().fold(compatibility, Compatibility::strictest);
            }
            Ok(compatibility)
        })
    }

    /// What a text of `length`, which is `PROBED[at]`, may share a batch with.
    fn compatibility_of(
        &self,
        session: &mut dyn Session,
        at: usize,
        length: usize,
        places: usize,
    ) -> Result<Compatibility, ModelError> {
        let whole = self.compatibility_behind(session, at, length, places, None)?;
        if !self.takes_past() {
            return Ok(Compatibility { whole, behind: whole });
        }
        let before = PROBED.into_iter().cycle().nth(at + 2).unwrap_or(length);
        let past = self.remember(session, &probe(before, 1))?;
        let behind = self.compatibility_behind(session, at, length, places, Some(&past))?;
        Ok(Compatibility { whole, behind })
    }

    fn compatibility_behind(
        &self,
        session: &mut dyn Session,
        at: usize,
        length: usize,
        places: usize,
        past: Option<&Past>,
    ) -> Result<BatchCompatibility, ModelError> {
        let own = probe(length, places);
        let alone = self.run(session, &[&own], past)?;
        let same = |rows: &ModelOutput| alone.first().is_some_and(|alone| alone.same_bits(rows));
        if !self.run(session, &[&own, &own, &own], past)?.iter().all(same) {
            return Ok(BatchCompatibility::None);
        }
        // Each length beside two of the paddings, so that loading stays quick.
        for padding in PROBED.into_iter().cycle().skip(at + 1).step_by(2).take(2) {
            let batch = self.run(session, &[&probe(length + padding, places), &own], past)?;
            if !batch.last().is_some_and(same) {
                return Ok(BatchCompatibility::SameLength);
            }
        }
        Ok(BatchCompatibility::Any)
    }

    /// Bytes of the keys and values of a token, in 32 bits.
    pub fn past_bytes(&self) -> usize {
        let of =
            |shape: PastShape| 2 * shape.layers * shape.heads * shape.head_dim * size_of::<f32>();
        self.past.as_ref().map_or(0, |names| of(names.shape))
    }

    /// Whether the graph takes keys and values of what came before.
    pub fn takes_past(&self) -> bool {
        self.past.is_some()
    }

    /// Runs texts of a batch: what the graph gives at the positions of each. With `past`, the
    /// texts go on where it ends, and their positions count from there.
    ///
    /// # Errors
    /// What the backend says, or outputs of another shape than the manifest promises.
    pub fn run(
        &self,
        session: &mut dyn Session,
        batch: &[&Tokens],
        past: Option<&Past>,
    ) -> Result<Vec<ModelOutput>, ModelError> {
        let mut outputs = vec![self.main.as_str()];
        outputs.extend(self.gates.as_deref());
        outputs.extend(self.uncertainties.as_deref());
        let mut found = self.raw(session, batch, past, &outputs)?.into_iter();
        let mut next = || {
            let output = found.next();
            let missing = || ModelError::Run("the graph gave no output".to_owned());
            self.rows(&output.ok_or_else(missing)?, batch)
        };
        let mut rows = next()?;
        if self.gates.is_some() {
            for (row, gates) in rows.iter_mut().zip(next()?) {
                row.gates = gates.iter().next().unwrap_or_default().to_vec();
            }
        }
        if self.uncertainties.is_some() {
            for (row, uncertainties) in rows.iter_mut().zip(next()?) {
                row.uncertainties = uncertainties.data;
            }
        }
        Ok(rows)
    }

    /// The keys and values of a text, for texts that go on after it.
    ///
    /// # Errors
    /// What the backend says.
    pub fn remember(
        &self,
        session: &mut dyn Session,
        text: &Tokens,
    ) -> Result<Arc<Past>, ModelError> {
        let Some(names) = &self.past else {
            return Err(ModelError::Run("the graph takes no past".to_owned()));
        };
        let outputs: Vec<&str> = names.outputs.iter().map(String::as_str).collect();
        // Nothing is read of a prefix, but a graph that takes positions wants one.
        let text = Tokens { positions: vec![0], ..text.clone() };
        let tensors = self.raw(session, &[&text], None, &outputs)?;
        Ok(Arc::new(Past { length: text.ids.len(), tensors }))
    }

    /// Continues a text, as it asks for. All continuations run in step, over keys and values that
    /// begin alike.
    ///
    /// # Errors
    /// What the backend says, or a graph that takes no past.
    pub fn generate(
        &self,
        session: &mut dyn Session,
        text: &Tokens,
        past: Option<&Past>,
    ) -> Result<ModelOutput, ModelError> {
        let (Some(names), Some(sampling)) = (&self.past, &text.sampling) else {
            return Err(ModelError::Run("the graph takes no past: it cannot write".to_owned()));
        };
        let mut outputs = vec![self.main.as_str()];
        outputs.extend(names.outputs.iter().map(String::as_str));
        let mut found = self.raw(session, &[text], past, &outputs)?;
        let logits = found.remove(0);
        let first = self.rows(&logits, &[text])?.into_iter().next().unwrap_or_default();
        let votes = sampling.votes.max(1);
        let mut past = Past {
            length: past.map_or(0, |past| past.length) + text.ids.len(),
            tensors: found.iter().map(|tensor| tensor.repeated(votes)).collect(),
        };
        let mut random: Vec<StdRng> = (0..votes).map(|vote| sampling.random(vote)).collect();
        let mut written: Vec<Vec<u32>> = vec![Vec::new(); votes];
        let mut ended = vec![false; votes];
        let mut rows: Vec<ModelOutput> = vec![first; votes];
        for _ in 0..sampling.tokens_max {
            let mut next = Vec::with_capacity(votes);
            for (vote, row) in rows.iter().enumerate() {
                let (Some(random), Some(own), Some(ended)) =
                    (random.get_mut(vote), written.get_mut(vote), ended.get_mut(vote))
                else {
                    continue;
                };
                let token = sampling.next(row.iter().last().unwrap_or_default(), random);
                if !*ended {
                    *ended = sampling.ends.contains(&token);
                    if !*ended {
                        own.push(token);
                        *ended = (sampling.stops)(own);
                    }
                }
                next.push(Tokens { ids: vec![token], positions: vec![0], ..Tokens::default() });
            }
            if ended.iter().all(|ended| *ended) {
                break;
            }
            let batch: Vec<&Tokens> = next.iter().collect();
            let mut found = self.raw(session, &batch, Some(&past), &outputs)?;
            let logits = found.remove(0);
            rows = self.rows(&logits, &batch)?;
            past = Past { length: past.length + 1, tensors: found };
        }
        Ok(ModelOutput { generated: written, ..ModelOutput::default() })
    }

    fn raw(
        &self,
        session: &mut dyn Session,
        batch: &[&Tokens],
        past: Option<&Past>,
        outputs: &[&str],
    ) -> Result<Vec<Tensor>, ModelError> {
        let length = batch.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        let before = past.map_or(0, |past| past.length);
        let mut inputs: Vec<(&str, Tensor)> = vec![(&self.ids, self.ids(batch, length))];
        if let Some(name) = &self.mask {
            inputs.push((name, self.mask(batch, before, length)));
        }
        if let Some(name) = &self.types {
            inputs.push((name, types(batch, length)));
        }
        if let Some(name) = &self.position_ids {
            let row = (before..before + length).map(index);
            let data = batch.iter().flat_map(|_| row.clone()).collect();
            inputs.push((name, Tensor::ints(batch.len(), length, data)));
        }
        if let Some(name) = &self.score_positions {
            inputs.push((name, positions(batch)));
        }
        let copies = self.past_of(batch.len(), past);
        let mut given: Vec<(&str, &Tensor)> =
            inputs.iter().map(|(name, tensor)| (*name, tensor)).collect();
        if let Some(names) = &self.past {
            let tensors = past.filter(|_| copies.is_empty()).map_or(&copies, |past| &past.tensors);
            given.extend(names.inputs.iter().map(String::as_str).zip(tensors));
        }
        session.run(&given, outputs)
    }

    fn ids(&self, batch: &[&Tokens], length: usize) -> Tensor {
        let mut data = Vec::with_capacity(batch.len() * length);
        for text in batch {
            data.extend(text.ids.iter().map(|id| i64::from(*id)));
            data.resize(data.len() + length - text.ids.len(), i64::from(self.pad));
        }
        Tensor::ints(batch.len(), length, data)
    }

    fn mask(&self, batch: &[&Tokens], before: usize, length: usize) -> Tensor {
        let mut data = Vec::with_capacity(batch.len() * (before + length));
        for text in batch {
            data.resize(data.len() + before + text.ids.len(), 1);
            data.resize(data.len() + length - text.ids.len(), i64::from(self.ones));
        }
        Tensor::ints(batch.len(), before + length, data)
    }

    /// The past of so many rows, where it is not what is there: one of no tokens, or copies of that of one row.
    fn past_of(&self, rows: usize, past: Option<&Past>) -> Vec<Tensor> {
        let Some(names) = &self.past else { return Vec::new() };
        let Some(past) = past else {
            let shape = vec![rows, names.shape.heads, 0, names.shape.head_dim];
            return names
                .inputs
                .iter()
                .map(|_| Tensor::floats(shape.clone(), Vec::new()))
                .collect();
        };
        let is_of = past.tensors.first().and_then(|tensor| tensor.shape.first());
        if rows == 1 || is_of != Some(&1) {
            return Vec::new();
        }
        past.tensors.iter().map(|tensor| tensor.repeated(rows)).collect()
    }

    /// Takes an output apart, row by row.
    fn rows(&self, output: &Tensor, batch: &[&Tokens]) -> Result<Vec<ModelOutput>, ModelError> {
        let odd = || {
            let why = format!("output \"{}\" has the shape {:?}", self.main, output.shape);
            ModelError::Run(format!("{why}; the batch has {} texts", batch.len()))
        };
        let data = output.as_floats();
        if output.shape.first() != Some(&batch.len()) || data.is_empty() {
            return Err(odd());
        }
        let (middle, values) = match output.shape.as_slice() {
            [_, values] => (1, *values),
            [_, middle, values] => (*middle, *values),
            _ => return Err(odd()),
        };
        let size = middle.checked_mul(values).filter(|size| size * batch.len() == data.len());
        let size = size.filter(|size| *size > 0).ok_or_else(odd)?;
        let pooled = output.shape.len() == 2;
        let row = |(text, row): (&&Tokens, &[f32])| {
            let places: Vec<usize> = match (&self.score_positions, pooled) {
                (_, true) => vec![0],
                (Some(_), _) => (0..text.positions.len()).collect(),
                (None, _) => text.positions.clone(),
            };
            let at = |place: usize| row.get(place * values..(place + 1) * values).ok_or_else(odd);
            let mut rows = ModelOutput { values, ..ModelOutput::default() };
            if text.targets.is_empty() {
                for place in places {
                    rows.data.extend_from_slice(at(place)?);
                }
            } else {
                // A vocabulary a position is too much to hand on.
                for (nth, place) in places.into_iter().enumerate() {
                    let target = text.targets.get(nth).copied();
                    rows.likelihoods.push(Likelihood::of(at(place)?, target));
                }
            }
            Ok(rows)
        };
        batch.iter().zip(data.chunks_exact(size)).map(row).collect()
    }
}

/// A place in a text, as graphs take it.
fn index(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

fn types(batch: &[&Tokens], length: usize) -> Tensor {
    let mut data = Vec::with_capacity(batch.len() * length);
    for (at, text) in batch.iter().enumerate() {
        data.extend(text.types.iter().map(|one| i64::from(*one)));
        data.resize((at + 1) * length, 0);
    }
    Tensor::ints(batch.len(), length, data)
}

fn positions(batch: &[&Tokens]) -> Tensor {
    let most = batch.iter().map(|text| text.positions.len()).max().unwrap_or(0);
    let mut data = Vec::with_capacity(batch.len() * most);
    for (at, text) in batch.iter().enumerate() {
        data.extend(text.positions.iter().copied().map(index));
        data.resize((at + 1) * most, -1);
    }
    Tensor::ints(batch.len(), most, data)
}
