//! How near two texts are, by their embeddings.

use crate::score::ModelOutput;

/// The cosine of two vectors, or BMAS of two lists of them; `None` where one has no length.
pub(crate) fn nearness(one: &ModelOutput, two: &ModelOutput) -> Option<f64> {
    if let (1, 1) = (one.iter().len(), two.iter().len()) {
        let (one, two) = (unit(one.iter().next()?)?, unit(two.iter().next()?)?);
        return Some(dot(&one, &two).clamp(-1.0, 1.0));
    }
    let units = |rows: &ModelOutput| {
        let plain = rows.iter().enumerate().filter(|(at, _)| !rows.special.contains(at));
        plain.map(|(_, values)| unit(values)).collect::<Option<Vec<Vec<f64>>>>()
    };
    let (one, two) = (units(one)?, units(two)?);
    let best = |own: &[f64], others: &[Vec<f64>]| {
        others.iter().map(|other| dot(own, other)).fold(f64::NEG_INFINITY, f64::max)
    };
    let mean = |own: &[Vec<f64>], others: &[Vec<f64>]| {
        let (sum, count) =
            own.iter().fold((0.0, 0.0), |(sum, count), own| (sum + best(own, others), count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    Some(f64::midpoint(mean(&one, &two), mean(&two, &one)).clamp(0.0, 1.0))
}

pub(crate) fn unit(values: &[f32]) -> Option<Vec<f64>> {
    let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
    let length = dot(&wide, &wide).sqrt();
    (length > 0.0 && length.is_finite()).then(|| wide.iter().map(|value| value / length).collect())
}

pub(crate) fn dot(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: usize, data: &[f32]) -> ModelOutput {
        ModelOutput { values, data: data.to_vec(), ..ModelOutput::default() }
    }

    #[test]
    fn one_vector_a_text_is_the_cosine() {
        let cosine = nearness(&rows(2, &[3.0, 0.0]), &rows(2, &[1.0, 1.0])).unwrap();
        assert!((cosine - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(nearness(&rows(2, &[0.0, 0.0]), &rows(2, &[1.0, 1.0])), None);
    }

    #[test]
    fn one_vector_a_token_is_the_mean_of_the_best_matches() {
        let one = rows(2, &[1.0, 0.0, 0.0, 1.0]);
        let two = rows(2, &[1.0, 0.0]);
        // Of the two tokens one is matched; the single one is matched.
        assert!((nearness(&one, &two).unwrap() - 0.75).abs() < 1e-12);
        let swapped = rows(2, &[0.0, 1.0, 1.0, 0.0]);
        assert!((nearness(&one, &swapped).unwrap() - 1.0).abs() < 1e-12);
    }
}
