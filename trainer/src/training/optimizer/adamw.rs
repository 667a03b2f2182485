//! `AdamW` ("Decoupled Weight Decay Regularization", algorithm 2), as `torch.optim.AdamW` does it: the
//! epsilon is added to the root after its bias is corrected.

use rayon::prelude::*;

use super::schedule::learning_rate;
use crate::config::OptimizerConfig;
use crate::error::TrainerError;
use crate::policy::{Gradients, Parameters};
use crate::ranges::within;
use crate::statistics::float;

/// How many weights are updated in one piece: those, their gradients and moments fit into a cache.
const CHUNK: usize = 1 << 14;

/// `AdamW` over the weights that are trained.
#[derive(Clone, Debug)]
pub struct AdamW {
    config: OptimizerConfig,
    total_updates: u64,
    state: AdamWState,
    spans: Vec<Span>,
    weights: usize,
}

/// What [`AdamW`] keeps from update to update.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdamWState {
    /// Updates that were made.
    pub updates: u64,
    /// The running mean of the gradients, along [`Gradients::values`].
    pub first: Vec<f32>,
    /// The running mean of their squares.
    pub second: Vec<f32>,
}

/// What was done in an update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateReport {
    /// The learning rate that was used.
    pub learning_rate: f64,
}

/// Weights side by side that are trained alike.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    /// How many weights before them are not trained.
    frozen: usize,
    len: usize,
    decays: bool,
}

/// Weights that are updated in one piece.
struct Piece<'a> {
    decays: bool,
    weights: &'a mut [f32],
    gradients: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

/// The numbers of an update.
#[derive(Clone, Copy)]
struct Coefficients {
    keep: f32,
    first: f32,
    second: f32,
    second_rest: f32,
    root: f32,
    epsilon: f32,
    step: f32,
}

impl AdamW {
    /// An optimiser for these weights. `total_updates` is how many there will be, which the learning
    /// rate falls over.
    ///
    /// # Errors
    /// A setting that is out of range, by its name.
    pub fn new(
        config: &OptimizerConfig,
        parameters: &Parameters,
        total_updates: u64,
    ) -> Result<Self, TrainerError> {
        check(config)?;
        let moments = vec![0.0; parameters.trained()];
        let state = AdamWState { updates: 0, first: moments.clone(), second: moments };
        let weights = parameters.values().len();
        Ok(Self { config: config.clone(), total_updates, state, spans: spans(parameters), weights })
    }

    /// Updates the weights that are trained, at the learning rate of this update.
    ///
    /// # Errors
    /// Weights or gradients that are not as many as those that the optimiser was made for. Nothing is
    /// changed then.
    pub fn update(
        &mut self,
        parameters: &mut Parameters,
        gradients: &Gradients,
    ) -> Result<UpdateReport, TrainerError> {
        agree("weights", parameters.values().len(), self.weights)?;
        agree("gradients", gradients.values().len(), self.state.first.len())?;
        let learning_rate = learning_rate(&self.config, self.total_updates, self.state.updates);
        self.state.updates += 1;
        let coefficients = self.coefficients(learning_rate);
        self.pieces(parameters, gradients)
            .into_par_iter()
            .for_each(|piece| piece.update(coefficients));
        Ok(UpdateReport { learning_rate })
    }

    /// What the next update depends on, besides weights and gradients.
    pub fn state(&self) -> &AdamWState {
        &self.state
    }

    /// Goes on from a state that was taken before.
    ///
    /// # Errors
    /// Moments that are not as many as the weights that are trained. Nothing is changed then.
    pub fn restore(&mut self, state: AdamWState) -> Result<(), TrainerError> {
        agree("first moments", state.first.len(), self.state.first.len())?;
        agree("second moments", state.second.len(), self.state.second.len())?;
        self.state = state;
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "weights have single precision")]
    fn coefficients(&self, learning_rate: f64) -> Coefficients {
        let (beta1, beta2) = (self.config.adam_beta1, self.config.adam_beta2);
        let bias = |beta: f64| 1.0 - beta.powf(float(self.state.updates));
        Coefficients {
            keep: (1.0 - learning_rate * self.config.weight_decay) as f32,
            first: (1.0 - beta1) as f32,
            second: beta2 as f32,
            second_rest: (1.0 - beta2) as f32,
            root: bias(beta2).sqrt() as f32,
            epsilon: self.config.adam_epsilon as f32,
            step: (-learning_rate / bias(beta1)) as f32,
        }
    }

    fn pieces<'a>(
        &'a mut self,
        parameters: &'a mut Parameters,
        gradients: &'a Gradients,
    ) -> Vec<Piece<'a>> {
        let mut weights = parameters.values_mut();
        let mut gradients = gradients.values();
        let (mut first, mut second) = (&mut *self.state.first, &mut *self.state.second);
        let mut pieces = Vec::with_capacity(gradients.len() / CHUNK + self.spans.len());
        for span in &self.spans {
            let _ = weights.split_off_mut(..span.frozen);
            let weights = weights.split_off_mut(..span.len).unwrap_or_default();
            let gradients = gradients.split_off(..span.len).unwrap_or_default();
            let first = first.split_off_mut(..span.len).unwrap_or_default();
            let second = second.split_off_mut(..span.len).unwrap_or_default();
            let moments = first.chunks_mut(CHUNK).zip(second.chunks_mut(CHUNK));
            let weights = weights.chunks_mut(CHUNK).zip(gradients.chunks(CHUNK));
            pieces.extend(weights.zip(moments).map(|((weights, gradients), (first, second))| {
                Piece { decays: span.decays, weights, gradients, first, second }
            }));
        }
        pieces
    }
}

impl Piece<'_> {
    fn update(self, by: Coefficients) {
        let keep = if self.decays { by.keep } else { 1.0 };
        let moments = self.first.iter_mut().zip(self.second);
        for ((weight, gradient), (first, second)) in
            self.weights.iter_mut().zip(self.gradients).zip(moments)
        {
            *first += by.first * (gradient - *first);
            *second = *second * by.second + by.second_rest * gradient * gradient;
            let root = second.sqrt() / by.root + by.epsilon;
            *weight = *weight * keep + by.step * *first / root;
        }
    }
}

/// Fails where a setting is out of range.
fn check(config: &OptimizerConfig) -> Result<(), TrainerError> {
    within("learning_rate", config.learning_rate, 0.0..)?;
    within("adam_beta1", config.adam_beta1, 0.0..1.0)?;
    within("adam_beta2", config.adam_beta2, 0.0..1.0)?;
    within("adam_epsilon", config.adam_epsilon, 0.0..)?;
    within("weight_decay", config.weight_decay, 0.0..)?;
    within("max_grad_norm", config.max_grad_norm, 0.0..)
}

/// The weights that are trained, as few spans as there can be.
fn spans(parameters: &Parameters) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut end = 0;
    for tensor in parameters.tensors().iter().filter(|tensor| tensor.trainable) {
        let frozen = tensor.range.start.saturating_sub(end);
        let len = tensor.range.len();
        end = tensor.range.end;
        match spans.last_mut() {
            Some(last) if frozen == 0 && last.decays == tensor.decays => last.len += len,
            _ => spans.push(Span { frozen, len, decays: tensor.decays }),
        }
    }
    spans
}

fn agree(what: &str, have: usize, expected: usize) -> Result<(), TrainerError> {
    if have == expected {
        return Ok(());
    }
    Err(TrainerError::input(format!("{what} of an update"), have.to_string(), expected.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        let mut parameters = Parameters::default();
        parameters.push("frozen", &[2, 2], &[1.0; 4], false);
        parameters.push("matrix", &[2, 1], &[1.0, 2.0], true);
        parameters.push("matrix.2", &[1, 1], &[3.0], true);
        parameters.push("frozen.2", &[1], &[1.0], false);
        parameters.push("bias", &[2], &[4.0, 5.0], true);
        parameters
    }

    fn config(weight_decay: f64) -> OptimizerConfig {
        let lr_scheduler_type = crate::config::LrScheduler::Constant;
        OptimizerConfig {
            learning_rate: 0.5,
            lr_scheduler_type,
            weight_decay,
            ..Default::default()
        }
    }

    #[test]
    fn a_first_update_goes_one_learning_rate_down() {
        let mut parameters = parameters();
        let mut adamw = AdamW::new(&config(0.5), &parameters, 1).unwrap();
        let mut gradients = parameters.gradients();
        gradients.values_mut().copy_from_slice(&[1.0, -2.0, 0.0, 4.0, -8.0]);
        let report = adamw.update(&mut parameters, &gradients).unwrap();
        assert_eq!(report, UpdateReport { learning_rate: 0.5 });
        let expected = [1.0, 1.0, 1.0, 1.0, 0.25, 2.0, 2.25, 1.0, 3.5, 5.5];
        for (have, expected) in parameters.values().iter().zip(expected) {
            assert!((have - expected).abs() < 1e-6, "{have} is not {expected}");
        }
        assert_eq!(adamw.state().updates, 1);
        assert!((adamw.state().first[3] - 0.4).abs() < 1e-6);
        assert!((adamw.state().second[4] - 0.064).abs() < 1e-6);
    }

    #[test]
    fn weights_that_are_trained_alike_are_one_span() {
        let span = |frozen, len, decays| Span { frozen, len, decays };
        assert_eq!(spans(&parameters()), [span(4, 3, true), span(1, 2, false)]);
    }

    #[test]
    fn a_training_goes_on_from_a_state() {
        let gradients = |update: u8| {
            let mut gradients = parameters().gradients();
            for (at, gradient) in (1_u8..).zip(gradients.values_mut()) {
                *gradient = f32::from(at * 7 + update).sin();
            }
            gradients
        };
        let mut weights = parameters();
        let mut whole = AdamW::new(&config(0.1), &weights, 4).unwrap();
        let mut stopped = (weights.clone(), whole.state().clone());
        for update in 0..4 {
            if update == 2 {
                stopped = (weights.clone(), whole.state().clone());
            }
            whole.update(&mut weights, &gradients(update)).unwrap();
        }
        let mut resumed = AdamW::new(&config(0.1), &weights, 4).unwrap();
        resumed.restore(stopped.1).unwrap();
        resumed.update(&mut stopped.0, &gradients(2)).unwrap();
        resumed.update(&mut stopped.0, &gradients(3)).unwrap();
        assert_eq!(stopped.0, weights);
        assert_eq!(resumed.state(), whole.state());
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut weights = Parameters::default();
            let values: Vec<f32> = (0..60_001_u16).map(|at| f32::from(at).sin()).collect();
            weights.push("weight", &[60_001, 1], &values, true);
            let mut gradients = weights.gradients();
            gradients.values_mut().copy_from_slice(&values);
            let mut adamw = AdamW::new(&config(0.1), &weights, 2).unwrap();
            pool.install(|| adamw.update(&mut weights, &gradients)).unwrap();
            pool.install(|| adamw.update(&mut weights, &gradients)).unwrap();
            (weights, adamw.state().clone())
        };
        assert!(with(1) == with(3));
    }

    #[test]
    fn other_weights_are_refused() {
        let mut weights = parameters();
        let mut adamw = AdamW::new(&config(0.0), &weights, 1).unwrap();
        let mut others = Parameters::default();
        others.push("weight", &[3], &[0.0; 3], true);
        let error = adamw.update(&mut weights, &others.gradients()).unwrap_err();
        assert_eq!(error.to_string(), "gradients of an update: 3, expected 5");
        let gradients = weights.gradients();
        let error = adamw.update(&mut others, &gradients).unwrap_err();
        assert_eq!(error.to_string(), "weights of an update: 3, expected 10");
        let error = adamw.restore(AdamWState::default()).unwrap_err();
        assert_eq!(error.to_string(), "first moments of an update: 0, expected 5");
        assert_eq!(adamw.state().updates, 0);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let weights = parameters();
        let refused = |config: OptimizerConfig| {
            AdamW::new(&config, &weights, 1).map(|_| ()).unwrap_err().to_string()
        };
        let beta = refused(OptimizerConfig { adam_beta2: 1.0, ..OptimizerConfig::default() });
        assert_eq!(beta, "`adam_beta2` is 1, expected 0 to below 1");
        let rate = refused(OptimizerConfig { learning_rate: f64::NAN, ..config(0.0) });
        assert_eq!(rate, "`learning_rate` is NaN, expected 0 or more");
        assert!(refused(config(-0.1)).contains("`weight_decay` is -0.1"));
    }
}
