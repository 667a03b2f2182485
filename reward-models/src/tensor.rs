//! What goes into a graph and comes out of it.

/// Numbers with a shape, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The length of each dimension.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: TensorData,
}

/// The numbers of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// Token ids, masks and positions. A backend whose graph takes narrower integers narrows them.
    Int(Vec<i64>),
    /// Everything else. 16-bit floats of a graph are widened.
    Float(Vec<f32>),
}

impl Tensor {
    /// A matrix of integers.
    pub fn ints(rows: usize, columns: usize, data: Vec<i64>) -> Self {
        Self { shape: vec![rows, columns], data: TensorData::Int(data) }
    }

    /// Floats of a shape.
    pub fn floats(shape: Vec<usize>, data: Vec<f32>) -> Self {
        Self { shape, data: TensorData::Float(data) }
    }

    /// The numbers of a batch of one, as those of a batch of so many.
    #[must_use]
    pub fn repeated(&self, rows: usize) -> Self {
        let mut shape = self.shape.clone();
        if let Some(first) = shape.first_mut() {
            *first = rows;
        }
        let data = match &self.data {
            TensorData::Float(data) => TensorData::Float(data.repeat(rows)),
            TensorData::Int(data) => TensorData::Int(data.repeat(rows)),
        };
        Self { shape, data }
    }

    /// The floats; none of a tensor of integers.
    pub fn as_floats(&self) -> &[f32] {
        match &self.data {
            TensorData::Float(data) => data,
            TensorData::Int(_) => &[],
        }
    }
}
