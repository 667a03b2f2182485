//! The weights of a policy, in one piece, and their gradients.

#![expect(
    clippy::indexing_slicing,
    reason = "an id, and what is known of a tensor, come from these weights"
)]

use std::ops::Range;

/// The place of a tensor among [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorId(usize);

/// A tensor among [`Parameters`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name in a file of weights, such as `model.layers.0.self_attn.q_proj.weight`.
    pub name: String,
    /// Its shape; the last dimension varies fastest.
    pub shape: Vec<usize>,
    /// Whether it is trained.
    pub trainable: bool,
    /// Whether weight decay applies to it: matrices, but neither norms nor biases.
    pub decays: bool,
    /// Where it lies among the weights.
    pub range: Range<usize>,
    /// Where its gradient lies, if it is trained.
    pub gradient: Range<usize>,
}

/// The weights of a policy: named tensors in one vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    values: Vec<f32>,
    tensors: Vec<TensorInfo>,
    trained: usize,
}

/// The gradients of the tensors that are trained, in one vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradients {
    values: Vec<f32>,
}

impl Parameters {
    /// Adds a tensor.
    pub fn push(
        &mut self,
        name: &str,
        shape: &[usize],
        values: &[f32],
        trainable: bool,
    ) -> TensorId {
        let size: usize = shape.iter().product();
        let start = self.values.len();
        self.values.extend(values.iter().copied().chain(std::iter::repeat(0.0)).take(size));
        let gradient = self.trained..self.trained + if trainable { size } else { 0 };
        self.trained = gradient.end;
        self.tensors.push(TensorInfo {
            name: name.to_owned(),
            shape: shape.to_vec(),
            trainable,
            decays: shape.len() > 1,
            range: start..self.values.len(),
            gradient,
        });
        TensorId(self.tensors.len() - 1)
    }

    /// The weights of a tensor.
    pub fn tensor(&self, id: TensorId) -> &[f32] {
        self.values_of(&self.tensors[id.0])
    }

    /// The weights of a tensor of which this is known.
    pub fn values_of(&self, info: &TensorInfo) -> &[f32] {
        &self.values[info.range.clone()]
    }

    /// The weights of a tensor, to be changed.
    pub fn tensor_mut(&mut self, id: TensorId) -> &mut [f32] {
        &mut self.values[self.tensors[id.0].range.clone()]
    }

    /// What is known of a tensor.
    pub fn info(&self, id: TensorId) -> Option<&TensorInfo> {
        self.tensors.get(id.0)
    }

    /// All tensors, in the order in which they were added.
    pub fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    /// All weights.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All weights, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// How many weights are trained.
    pub fn trained(&self) -> usize {
        self.trained
    }

    /// Gradients of 0 for all that is trained.
    pub fn gradients(&self) -> Gradients {
        Gradients { values: vec![0.0; self.trained] }
    }
}

impl Gradients {
    /// The gradient of a tensor; `None` where it is not trained.
    pub fn tensor_mut(&mut self, info: &TensorInfo) -> Option<&mut [f32]> {
        if info.trainable { self.values.get_mut(info.gradient.clone()) } else { None }
    }

    /// The gradient of a tensor; empty where it is not trained.
    pub fn tensor(&self, info: &TensorInfo) -> &[f32] {
        &self.values[info.gradient.clone()]
    }

    /// All gradients.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All gradients, to be changed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Makes all of them 0.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_trained_has_no_gradient() {
        let mut parameters = Parameters::default();
        let frozen = parameters.push("frozen", &[2], &[1.0, 2.0], false);
        let trained = parameters.push("trained", &[2, 2], &[3.0; 4], true);
        parameters.tensor_mut(frozen)[1] = 5.0;
        assert_eq!(parameters.values(), [1.0, 5.0, 3.0, 3.0, 3.0, 3.0]);
        let mut gradients = parameters.gradients();
        assert_eq!((parameters.trained(), gradients.values().len()), (4, 4));
        let info = |id| parameters.info(id).unwrap();
        assert!(gradients.tensor_mut(info(frozen)).is_none());
        gradients.tensor_mut(info(trained)).unwrap()[3] = 1.0;
        assert_eq!(gradients.values(), [0.0, 0.0, 0.0, 1.0]);
        assert!(info(trained).decays && !info(frozen).decays);
        gradients.clear();
        assert_eq!(gradients.tensor(info(trained)), [0.0; 4]);
    }
}
