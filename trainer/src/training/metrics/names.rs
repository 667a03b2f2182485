//! The measurements of an evaluation, by name.

use std::collections::BTreeMap;

use crate::reports::EvaluationReport;

/// The measurements of an evaluation: `eval_accuracy`, `eval_reward` where there is one,
/// `eval_mean_length`, and, where completions were sampled, `eval_pass@K` and `eval_support/NAME` (see
/// [`SupportDynamics`](crate::diagnostics::SupportDynamics)).
pub fn evaluation_metrics(report: &EvaluationReport) -> BTreeMap<String, f64> {
    let always = [("accuracy", Some(report.accuracy)), ("reward", report.reward)];
    let length = [("mean_length", Some(report.mean_length))];
    let support = report.support.as_ref().map(|support| {
        [
            ("support/retention", support.retention),
            ("support/discovery", support.discovery),
            ("support/dynamic_score", support.dynamic_score),
            ("support/net_change", support.net_change),
        ]
    });
    let named = always.into_iter().chain(length).chain(support.into_iter().flatten());
    let named = named.filter_map(|(name, value)| Some((format!("eval_{name}"), value?)));
    let passed = report.pass_at_k.iter().map(|(k, share)| (format!("eval_pass@{k}"), *share));
    named.chain(passed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::SupportDynamics;

    #[test]
    fn what_was_not_measured_has_no_name() {
        let plain = EvaluationReport { accuracy: 0.5, mean_length: 3.0, ..Default::default() };
        let names: Vec<String> = evaluation_metrics(&plain).into_keys().collect();
        assert_eq!(names, ["eval_accuracy", "eval_mean_length"]);
        let support = SupportDynamics { retention: Some(0.75), ..Default::default() };
        let sampled = EvaluationReport {
            reward: Some(0.25),
            pass_at_k: vec![(1, 0.5), (8, 1.0)],
            support: Some(support),
            ..plain
        };
        let metrics = evaluation_metrics(&sampled);
        let numbers: Vec<(&str, f64)> =
            metrics.iter().map(|(name, number)| (&**name, *number)).collect();
        let expected = [
            ("eval_accuracy", 0.5),
            ("eval_mean_length", 3.0),
            ("eval_pass@1", 0.5),
            ("eval_pass@8", 1.0),
            ("eval_reward", 0.25),
            ("eval_support/retention", 0.75),
        ];
        assert_eq!(numbers, expected);
    }
}
