//! The expected answer by the log-probabilities of its tokens.

use crate::judge::ReplyToken;
use crate::rubric::{AnswerChoice, AnswerKind};

/// The share that is expected at the token which holds the byte `place` of the reply: of yes and no
/// `p(yes) / (p(yes) + p(no))`, of numbers and choices the mean weighted by their probabilities,
/// over those that are known. `None` without probabilities, or where an answer takes several tokens
/// that cannot be told apart by their first.
///
/// Source: "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment", scoring function.
pub(super) fn expected_share(
    tokens: &[ReplyToken],
    place: usize,
    kind: &AnswerKind,
) -> Option<f64> {
    let mut end = 0;
    let token = tokens.iter().find(|token| {
        end += token.text.len();
        end > place
    })?;
    let answers = answers(kind);
    let (mut sum, mut whole) = (0.0, 0.0);
    for (text, log_probability) in &token.top {
        let Some(share) = share(text, &answers, kind) else { continue };
        let probability = log_probability.exp();
        sum += probability * share;
        whole += probability;
    }
    (whole > 0.0 && whole.is_finite()).then(|| sum / whole)
}

/// The words of each answer with its share, in lower case.
fn answers(kind: &AnswerKind) -> Vec<(String, f64)> {
    match kind {
        AnswerKind::YesNo => [("yes", 1.0), ("true", 1.0), ("no", 0.0), ("false", 0.0)]
            .map(|(word, share)| (word.to_owned(), share))
            .to_vec(),
        AnswerKind::Choices(choices) => {
            let share =
                |choice: &AnswerChoice| kind.answer(&choice.label).map(|answer| answer.share);
            let own = |choice: &AnswerChoice| Some((choice.label.to_lowercase(), share(choice)?));
            choices.iter().filter_map(own).collect()
        }
        AnswerKind::Scale(scale) => (scale.min..=scale.max)
            .filter_map(|number| {
                let word = number.to_string();
                let answer = kind.answer(&word)?;
                Some((word, answer.share))
            })
            .collect(),
    }
}

/// The share of the one answer that a token is, or begins. Numbers must be whole tokens.
fn share(token: &str, answers: &[(String, f64)], kind: &AnswerKind) -> Option<f64> {
    let token = token.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '*'));
    let token = token.to_lowercase();
    if token.is_empty() {
        return None;
    }
    if let Some((_, share)) = answers.iter().find(|(word, _)| *word == token) {
        let is_whole = !matches!(kind, AnswerKind::Scale(_)) || !begins_another(&token, answers);
        return is_whole.then_some(*share);
    }
    let mut begun = answers.iter().filter(|(word, _)| word.starts_with(&token));
    let (_, first) = begun.next()?;
    let same = begun.all(|(_, share)| (share - first).abs() < f64::EPSILON);
    (same && !matches!(kind, AnswerKind::Scale(_))).then_some(*first)
}

/// Whether the token might go on as another number: 1 of 1 to 10.
fn begins_another(token: &str, answers: &[(String, f64)]) -> bool {
    answers.iter().any(|(word, _)| word.len() > token.len() && word.starts_with(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::Scale;

    fn token(text: &str, top: &[(&str, f64)]) -> ReplyToken {
        let top = top.iter().map(|(text, p)| ((*text).to_owned(), p.ln())).collect();
        ReplyToken { text: text.to_owned(), top }
    }

    #[test]
    fn yes_over_yes_and_no() {
        let tokens = [
            token("{\"verdict\":", &[]),
            token(" true", &[(" true", 0.6), (" false", 0.2), ("x", 0.2)]),
        ];
        let share = expected_share(&tokens, 12, &AnswerKind::YesNo).unwrap();
        assert!((share - 0.75).abs() < 1e-12, "{share}");
        assert_eq!(expected_share(&tokens, 3, &AnswerKind::YesNo), None);
        assert_eq!(expected_share(&tokens, 99, &AnswerKind::YesNo), None);
    }

    #[test]
    fn the_mean_of_a_scale() {
        let scale = |max| AnswerKind::Scale(Scale { max, ..Scale::default() });
        let tokens = [token("4", &[("4", 0.5), ("5", 0.25), ("3", 0.25), ("9", 0.1)])];
        let share = expected_share(&tokens, 0, &scale(5)).unwrap();
        assert!((share - 0.75).abs() < 1e-12, "{share}");
        // 1 may be the beginning of 10: nothing is known of it.
        let tokens = [token("1", &[("1", 0.9), ("2", 0.1)])];
        let share = expected_share(&tokens, 0, &scale(10)).unwrap();
        assert!((share - 1.0 / 9.0).abs() < 1e-12, "{share}");
    }
}
