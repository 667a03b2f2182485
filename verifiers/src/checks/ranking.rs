//! `ranking`: the order of a list against the relevance of its items.

use assay_metrics::ranking::{Gain, Ranked, kendall};

use crate::likeness::{self, Measured};
use crate::prelude::*;
use crate::stats::{CorrelationSums, ranks};

/// How well a list is ordered: NDCG, MRR, MAP, precision and recall at `k`, Kendall's tau, Spearman's rho.
///
/// The reference is the relevance of each item, `{ doc1 = 3, doc2 = 1 }`, or the list of relevant items,
/// which for `kendall` and `spearman` is in order. An item that is not in the reference, or that is
/// listed again, takes a rank and earns nothing. For `kendall` and `spearman` items that are not listed
/// share the last rank, and a negative correlation earns nothing. The list stands where `set_match`
/// finds it.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ranking {
    /// Which measure pays.
    metric: Metric,
    /// How many items count, from the first; all by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    /// In NDCG an item is worth 2 to the power of its relevance, less 1, in place of its relevance.
    exponential: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Metric {
    /// The discounted gain over the greatest one.
    #[default]
    Ndcg,
    /// 1 over the rank of the first relevant item.
    Mrr,
    /// The mean of the precisions at relevant items.
    Map,
    /// The share of relevant items that are listed.
    Recall,
    /// The share of listed items that are relevant.
    Precision,
    /// Kendall's tau-b.
    Kendall,
    /// Spearman's rho.
    Spearman,
}

/// The greatest relevance, so that its power of 2 is a number.
const RELEVANCE_MAX: f64 = 100.0;

impl Check for Ranking {
    const ID: &'static str = "ranking";
    const ASPECT: Aspect = Aspect::Value;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let orders = matches!(self.metric, Metric::Kendall | Metric::Spearman);
        if self.k == Some(0) || (self.k.is_some() && orders) {
            return Err(BuildError::new("k", "at least 1, and none for correlations"));
        }
        if self.exponential && self.metric != Metric::Ndcg {
            return Err(BuildError::new("exponential", "only ndcg has gains"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = self.wanted(reference)?;
        let given = likeness::items(sample, meter)?;
        meter.spend(100 * (given.len() + wanted.len()) as u64)?;
        if given.is_empty() {
            return Ok(Verdict::graded(false).because("no-list"));
        }
        let k = self.k.unwrap_or(usize::MAX);
        // The first rank of each item.
        let mut places = std::collections::BTreeMap::new();
        let mut gains = Vec::with_capacity(given.len());
        for (rank, item) in given.iter().enumerate() {
            let relevance = wanted.get(item.as_str()).copied().unwrap_or(0.0);
            let is_new = !places.contains_key(item.as_str());
            gains.push(if is_new { relevance } else { 0.0 });
            places.entry(item.as_str()).or_insert(rank);
        }
        let ranked = Ranked { given: gains, wanted: wanted.values().copied().collect() };
        let gain = if self.exponential { Gain::Exponential } else { Gain::Linear };
        let score = match self.metric {
            Metric::Ndcg => ranked.ndcg(k, gain),
            Metric::Mrr => ranked.reciprocal_rank(k),
            Metric::Map => ranked.average_precision(k),
            Metric::Recall => ranked.recall(k),
            Metric::Precision => ranked.precision(k),
            Metric::Kendall | Metric::Spearman => {
                let last = given.len();
                let rank = |item: &String| {
                    -crate::stats::float(places.get(item.as_str()).copied().unwrap_or(last))
                };
                let found: Vec<f64> = wanted.keys().map(rank).collect();
                let due = &ranked.wanted;
                let correlation = if self.metric == Metric::Kendall {
                    kendall(&found, due, &mut |units| meter.spend(units))?
                } else {
                    CorrelationSums::of(&ranks(&found), &ranks(due)).pearson()
                };
                correlation.unwrap_or(0.0)
            }
        };
        let found = wanted.keys().filter(|item| places.contains_key(item.as_str())).count();
        let parts =
            vec![("score", score.into()), ("given", given.len().into()), ("found", found.into())];
        Ok(likeness::earned(Measured { score, parts }, self.threshold))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let mut items: Vec<(String, f64)> =
            self.wanted(sample.reference()?).ok()?.into_iter().collect();
        items.retain(|(_, relevance)| *relevance > 0.0);
        items.sort_by(|one, two| two.1.total_cmp(&one.1));
        let items: Vec<String> = items.into_iter().map(|(item, _)| item).collect();
        Some(vec![json!(items).to_string()])
    }
}

impl Ranking {
    /// The relevance of each item; of a list, 1, or where its order counts, less from item to item.
    fn wanted(&self, reference: &Value) -> Result<std::collections::BTreeMap<String, f64>, Fault> {
        let orders = matches!(self.metric, Metric::Kendall | Metric::Spearman);
        let bad = || {
            Fault::bad_reference(
                "the reference is no relevance of items, and no list of different items",
            )
        };
        let pairs: Vec<(String, f64)> = match reference {
            Value::Object(items) => {
                let pair = |(item, value): (&String, &Value)| Some((likeness::item(item), value.as_f64()?));
                items.iter().map(pair).collect::<Option<_>>().ok_or_else(bad)?
            }
            other => {
                let items = likeness::listed_reference(other)?;
                let last = items.len();
                let worth = |place| if orders { crate::stats::float(last - place) } else { 1.0 };
                items.into_iter().enumerate().map(|(place, item)| (item, worth(place))).collect()
            }
        };
        let count = pairs.len();
        let is_listed = reference.is_array();
        let within = |value: &f64| (0.0..=RELEVANCE_MAX).contains(value);
        let wanted: std::collections::BTreeMap<String, f64> = pairs.into_iter().collect();
        let any = wanted.values().any(|value| *value > 0.0);
        let good = any && wanted.len() == count && (is_listed || wanted.values().all(within));
        if good && (!orders || count > 1) { Ok(wanted) } else { Err(bad()) }
    }
}
