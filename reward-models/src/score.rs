//! From what the graph gives at a position to a score.

use assay_verifiers::stats::{log_sum_exp, sigmoid};

use crate::error::ModelError;
use crate::likelihood::Likelihood;
use crate::manifest::{Score, Transform};

/// What a graph gave for one text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelOutput {
    /// How many values are at a position.
    pub values: usize,
    /// The values, position by position.
    pub data: Vec<f32>,
    /// The standard deviations of the values, where the graph gives them.
    pub uncertainties: Vec<f32>,
    /// The gates of the first position, where the graph gives them.
    pub gates: Vec<f32>,
    /// Positions that hold special tokens; token embeddings leave them out.
    pub special: Vec<usize>,
    /// How likely the tokens after the positions are, where that was asked; the last has none.
    pub likelihoods: Vec<Likelihood>,
    /// What the model wrote, where that was asked.
    pub generated: Vec<Vec<u32>>,
}

impl ModelOutput {
    /// Whether the values are the same to the bit.
    pub fn same_bits(&self, other: &Self) -> bool {
        let bits = |rows: &Self| rows.data.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        bits(self) == bits(other)
    }

    /// What they take in memory.
    pub fn bytes(&self) -> usize {
        let written = self.generated.iter().map(|ids| size_of::<Vec<u32>>() + size_of_val(&**ids));
        size_of::<Self>()
            + size_of_val(&*self.data)
            + size_of_val(&*self.uncertainties)
            + size_of_val(&*self.gates)
            + size_of_val(&*self.special)
            + size_of_val(&*self.likelihoods)
            + written.sum::<usize>()
    }

    /// The values of each position.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.data.chunks_exact(self.values.max(1))
    }
}

impl Score {
    /// The score of each position.
    ///
    /// # Errors
    /// Values that are missing, not finite, or out of the range that the manifest names.
    pub fn of(&self, rows: &ModelOutput) -> Result<Vec<f64>, ModelError> {
        // The first position of a gated model carries the gates alone.
        let skipped = usize::from(self.transform == Transform::Gated && rows.iter().len() > 1);
        rows.iter().skip(skipped).map(|values| self.one(values, &rows.gates)).collect()
    }

    fn one(&self, values: &[f32], gates: &[f32]) -> Result<f64, ModelError> {
        let at = |index: usize| {
            values.get(index).map(|value| f64::from(*value)).ok_or_else(|| {
                ModelError::Run(format!("value {index} was asked for; has {}", values.len()))
            })
        };
        let score = match self.transform {
            Transform::None | Transform::TokenLogit => at(self.index)?,
            Transform::Sigmoid => sigmoid(at(self.index)?),
            Transform::Softmax => {
                at(self.index)?;
                let all: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
                (at(self.index)? - log_sum_exp(&all)).exp()
            }
            Transform::TokenSoftmax => {
                let of =
                    |ids: &[usize]| ids.iter().map(|id| at(*id)).collect::<Result<Vec<_>, _>>();
                let (yes, mut all) = (of(&self.positive)?, of(&self.negative)?);
                all.extend(&yes);
                (log_sum_exp(&yes) - log_sum_exp(&all)).exp()
            }
            Transform::Weighted => weighed(values, &self.weights)?,
            Transform::Gated => {
                let gates: Vec<f64> = gates.iter().map(|gate| f64::from(*gate)).collect();
                let weighted = gates.iter().zip(self.weights.iter().chain(std::iter::repeat(&1.0)));
                weighed(values, &weighted.map(|(gate, weight)| gate * weight).collect::<Vec<_>>())?
            }
        };
        self.calibrated(score)
    }

    /// The standard deviation of the last score, or of one of its values, where the graph tells
    /// those of values and the score is a sum of them: as if they were independent.
    pub fn uncertainty(&self, rows: &ModelOutput, value: Option<usize>) -> Option<f64> {
        let row = rows.uncertainties.chunks_exact(rows.values.max(1)).last()?;
        let of = |index: usize| row.get(index).map(|own| f64::from(*own));
        match (value, self.transform) {
            (Some(value), _) => of(value),
            (None, Transform::None | Transform::TokenLogit) => {
                Some(of(self.index)? * self.calibration.scale.abs())
            }
            (None, Transform::Weighted) => {
                let shares = row.iter().zip(&self.weights);
                let variance: f64 =
                    shares.map(|(own, weight)| (f64::from(*own) * weight).powi(2)).sum();
                Some(variance.sqrt() * self.calibration.scale.abs())
            }
            _ => None,
        }
    }

    pub(crate) fn calibrated(&self, score: f64) -> Result<f64, ModelError> {
        let calibration = &self.calibration;
        let mut score = (score + calibration.shift) * calibration.scale;
        if let Some([low, high]) = calibration.clip {
            score = score.clamp(low, high);
        }
        if !score.is_finite() {
            return Err(ModelError::Run(format!("a score is {score}: not a finite number")));
        }
        match self.range {
            Some([low, high]) if !(low..=high).contains(&score) => {
                Err(ModelError::Run(format!("score {score} is outside of [{low}, {high}]")))
            }
            _ => Ok(score),
        }
    }
}

/// The sum of values times weights.
fn weighed(values: &[f32], weights: &[f64]) -> Result<f64, ModelError> {
    if values.len() != weights.len() {
        let why = format!("{} weights for {} values", weights.len(), values.len());
        return Err(ModelError::Run(why));
    }
    Ok(values.iter().zip(weights).map(|(value, weight)| f64::from(*value) * weight).sum())
}
