//! The frequencies of rotary positions, and how they are stretched to longer contexts.

use super::{Architecture, RopeScaling};

impl Architecture {
    /// The angle of one position, for each pair of dimensions of a head.
    pub(crate) fn rope_frequencies(&self) -> Vec<f32> {
        let half = self.head_dim / 2;
        #[expect(clippy::cast_precision_loss, reason = "the width of a head is far below 2^52")]
        let exponents = (0..half).map(|at| at as f64 / half as f64);
        #[expect(clippy::cast_possible_truncation, reason = "as transformers: frequencies are f32")]
        let scaled = exponents
            .map(|exponent| scale(self.rope_theta.powf(-exponent), self.rope_scaling) as f32);
        scaled.collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "positions are far below 2^52")]
fn scale(frequency: f64, scaling: RopeScaling) -> f64 {
    match scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        RopeScaling::Llama3 {
            factor,
            low_freq_factor,
            high_freq_factor,
            original_max_position_embeddings,
        } => {
            let turns = original_max_position_embeddings as f64 * frequency / std::f64::consts::TAU;
            let share = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
            let kept = if turns < low_freq_factor {
                0.0
            } else if turns > high_freq_factor {
                1.0
            } else {
                share
            };
            frequency * (kept + (1.0 - kept) / factor)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn architecture(scaling: RopeScaling) -> Architecture {
        let config = json!({
            "model_type": "llama", "vocab_size": 8, "hidden_size": 8, "intermediate_size": 8,
            "num_hidden_layers": 1, "num_attention_heads": 2, "rope_theta": 100.0,
        });
        let mut architecture = Architecture::from_config(&config).unwrap();
        architecture.rope_scaling = scaling;
        architecture
    }

    #[test]
    fn scaled_frequencies() {
        let linear = architecture(RopeScaling::Linear { factor: 4.0 }).rope_frequencies();
        assert_eq!(linear, [0.25, 0.025]);
        let llama3 = RopeScaling::Llama3 {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_max_position_embeddings: 20,
        };
        let scaled = architecture(llama3).rope_frequencies();
        let turns = 20.0 / std::f64::consts::TAU;
        let share = (turns - 1.0) / 3.0;
        assert!((f64::from(scaled[0]) - (share + (1.0 - share) / 8.0)).abs() < 1e-6);
        assert!((scaled[1] - 0.1 / 8.0).abs() < 1e-7);
    }
}
