//! Self-consistency of critiques: the majority vote of several generations, step by step.
//!
//! Source: "SPARK: Stepwise Process-Aware Rewards for Reference-Free Reinforcement Learning",
//! step-level consistency: each of several verifications judges every step, and a step is what most
//! of them say.

use assay_verifiers::stats::mean;

use crate::manifest::Generate;

/// The score of each of `steps` steps over the critiques that judge it. Every match of the pattern in a
/// critique is the verdict on the next step: a word that `verdicts` names, whose most frequent one is
/// the label of the step, NaN where several are equally frequent and nothing is decided; or a number,
/// whose mean is taken. A critique that ends early says nothing of the rest; steps that none of them
/// reaches stand as the last one that was reached. `None` where no critique judges the first step.
pub fn consensus(generate: &Generate, critiques: &[String], steps: usize) -> Option<Vec<f64>> {
    let told: Vec<Vec<f64>> =
        critiques.iter().map(|critique| verdicts(generate, critique)).collect();
    let mut scores = Vec::with_capacity(steps);
    for step in 0..steps {
        let votes: Vec<f64> = told.iter().filter_map(|one| one.get(step).copied()).collect();
        let is_label =
            |vote: &f64| generate.verdicts.values().any(|label| label.total_cmp(vote).is_eq());
        let score = if votes.iter().all(is_label) { majority(&votes) } else { mean(&votes) };
        scores.push(score.or(scores.last().copied())?);
    }
    Some(scores)
}

/// The verdicts of one critique, in order. What is neither a known word nor a number in range is
/// none.
fn verdicts(generate: &Generate, critique: &str) -> Vec<f64> {
    let Some(pattern) = &generate.parse else { return Vec::new() };
    let words = pattern.captures_iter(critique).filter_map(|found| found.get(1));
    words.filter_map(|word| value(generate, word.as_str())).collect()
}

/// The scores in what the model wrote: the last match of each text, where it is in the range.
pub fn votes(generate: &Generate, texts: &[String]) -> Vec<f64> {
    let Some(pattern) = &generate.parse else { return Vec::new() };
    let read = |text: &String| {
        let found = pattern.captures_iter(text).last()?.get(1)?;
        value(generate, found.as_str())
    };
    texts.iter().filter_map(read).collect()
}

/// What a verdict is worth: as `verdicts` says, or itself; `None` where it is out of range.
fn value(generate: &Generate, word: &str) -> Option<f64> {
    let known = generate.verdicts.get(word.trim().to_lowercase().as_str()).copied();
    let found = known.or_else(|| word.trim().parse().ok())?;
    let within = |[low, high]: [f64; 2]| (low..=high).contains(&found);
    generate.parse_range.is_none_or(within).then_some(found)
}

/// The most frequent vote, NaN where there is not one alone; `None` of none.
fn majority(votes: &[f64]) -> Option<f64> {
    let count = |label: f64| votes.iter().filter(|vote| vote.total_cmp(&label).is_eq()).count();
    let most = votes.iter().map(|vote| count(*vote)).max()?;
    let mut labels = votes.iter().copied().filter(|vote| count(*vote) == most);
    let first = labels.next()?;
    Some(if labels.all(|label| label.total_cmp(&first).is_eq()) { first } else { f64::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_verifiers::Pattern;

    fn words() -> Generate {
        Generate {
            parse: Some(Pattern::new(r"Step \d+: (\w+)").unwrap()),
            verdicts: [("correct".to_owned(), 1.0), ("incorrect".to_owned(), 0.0)].into(),
            ..Generate::default()
        }
    }

    #[test]
    fn a_step_is_what_most_critiques_say() {
        let critiques = [
            "Step 1: correct. Step 2: Incorrect.",
            "Step 1: correct. Step 2: correct. Step 3: correct.",
            "Step 1: correct. Step 2: incorrect. Step 3: perhaps.",
        ];
        let critiques = critiques.map(str::to_owned);
        // Step 1: 3 of 3. Step 2: 1 of 3. Step 3: 1 of 1; "perhaps" is not a verdict. Step 4: as step 3.
        assert_eq!(consensus(&words(), &critiques, 4), Some(vec![1.0, 0.0, 1.0, 1.0]));
        let tied = &critiques[..2];
        let scores = consensus(&words(), tied, 3).unwrap();
        let decided: Vec<Option<f64>> =
            scores.iter().map(|score| Some(*score).filter(|score| !score.is_nan())).collect();
        assert_eq!(decided, [Some(1.0), None, Some(1.0)]);
        assert_eq!(consensus(&words(), &["It is fine.".to_owned()], 1), None);
    }

    #[test]
    fn verdicts_may_be_numbers_of_a_range() {
        let range = Some([0.0, 10.0]);
        let pattern = Pattern::new(r"\[(\d+)\]").unwrap();
        let generate = Generate { parse: Some(pattern), parse_range: range, ..Generate::default() };
        let critiques = ["[8] [99] [2]".to_owned()];
        assert_eq!(consensus(&generate, &critiques, 2), Some(vec![8.0, 2.0]));
    }
}
