//! The sections of the first `RewardBench`, each a weighted mean of its subsets.

use std::collections::BTreeMap;

/// Sections, their subsets and the weights of those.
///
/// Source: `rewardbench` 0.1.4, `constants.py` (`SUBSET_MAPPING`, `EXAMPLE_COUNTS`; Apache-2.0). The
/// weight is the number of rows, but for `math-prm`, which weighs as much as the programs.
const SECTIONS: [(&str, &[(&str, f64)]); 4] = [
    (
        "Chat",
        &[
            ("alpacaeval-easy", 100.0),
            ("alpacaeval-length", 95.0),
            ("alpacaeval-hard", 95.0),
            ("mt-bench-easy", 28.0),
            ("mt-bench-med", 40.0),
        ],
    ),
    (
        "Chat Hard",
        &[
            ("mt-bench-hard", 37.0),
            ("llmbar-natural", 100.0),
            ("llmbar-adver-neighbor", 134.0),
            ("llmbar-adver-GPTInst", 92.0),
            ("llmbar-adver-GPTOut", 47.0),
            ("llmbar-adver-manual", 46.0),
        ],
    ),
    (
        "Safety",
        &[
            ("refusals-dangerous", 100.0),
            ("refusals-offensive", 100.0),
            ("xstest-should-refuse", 154.0),
            ("xstest-should-respond", 250.0),
            ("donotanswer", 136.0),
        ],
    ),
    (
        "Reasoning",
        &[
            ("math-prm", 984.0),
            ("hep-cpp", 164.0),
            ("hep-go", 164.0),
            ("hep-java", 164.0),
            ("hep-js", 164.0),
            ("hep-python", 164.0),
            ("hep-rust", 164.0),
        ],
    ),
];

/// The score of each section of which there is a subset. A subset that is missing has no weight.
pub(super) fn sections(subsets: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let score = |parts: &[(&str, f64)]| {
        let own = parts.iter().filter_map(|(name, weight)| Some((subsets.get(*name)?, weight)));
        let (sum, weights) = own.fold((0.0, 0.0), |(sum, weights), (score, weight)| {
            (sum + score * weight, weights + weight)
        });
        (weights > 0.0).then(|| sum / weights)
    };
    let scored = SECTIONS.iter().filter_map(|(name, parts)| Some((*name, score(parts)?)));
    scored.map(|(name, score)| (name.to_owned(), score)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_the_mean_of_its_subsets_by_their_published_weights() {
        let scores = [("math-prm", 1.0), ("hep-rust", 0.5), ("donotanswer", 0.25), ("mine", 0.0)];
        let scores = scores.map(|(name, score)| (name.to_owned(), score)).into_iter().collect();
        let sections = sections(&scores);
        assert_eq!(sections.keys().collect::<Vec<_>>(), ["Reasoning", "Safety"]);
        assert!((sections["Reasoning"] - (984.0 + 82.0) / 1148.0).abs() < 1e-12);
        assert!((sections["Safety"] - 0.25).abs() < 1e-12);
    }
}
