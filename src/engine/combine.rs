//! Reward combination: many rewards become one (weighted sum, product, minimum, gates, expression).

use std::fmt::Write as _;

use assay_verifiers::deviation::EPS;
use assay_verifiers::schedule::Schedule;
use assay_verifiers::script::{Script, shared_engine, type_words};
use assay_verifiers::{Cancellation, Fault, Meter, Outcome, Reward, Verdict};
use rhai::{Dynamic, Map, Scope};

use super::combine_formula::CombineFormula;
use super::config::{CombineBy, CombineConfig, Config, OnAbstain, OnFault, RewardConfig};
use super::scale::{Normalise, Scale};

/// Why a reward abstains to which a sample does not apply.
pub(super) const WHEN_IS_FALSE: &str = "`when` is false";

/// Why a sample has no reward.
const ALL_ABSTAINED: &str = "every verifier that counts abstained";
const NO_SAY: &str = "no reward has a say: the weight of each is 0";

/// The rule by which the rewards of a sample become its reward.
pub struct Combiner {
    how: CombineBy,
    clamp: Option<(f64, f64)>,
    on_abstain: OnAbstain,
    on_fault: OnFault,
    floor: Reward,
    pass: f64,
    open: bool,
    expression: Option<Script>,
    formula: Option<CombineFormula>,
    parts: Vec<Part>,
    pub(super) normalise: Normalise,
    pub(super) scale: Scale,
}

/// What the verdicts of a sample say of its sum beside the rewards.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    /// No gate is closed.
    is_open: bool,
    /// What the weights of the rewards that are there grow by.
    factor: f64,
}

struct Part {
    name: String,
    weight: Schedule,
    gate: bool,
    required: bool,
    /// A formula reads it.
    is_read: bool,
}

impl Combiner {
    /// Builds the rule, with the expression of the configuration where it has one. An error is the path of the
    /// key at fault and what is wrong with it.
    pub(super) fn build(
        config: &Config,
        gates: &[usize],
        expression: Option<Script>,
        formula: Option<CombineFormula>,
    ) -> Result<Self, (String, String)> {
        let fail = |key: &str, message: &str| Err((format!("combine.{key}"), message.to_owned()));
        let combine = &config.combine;
        let clamp = combine.clamp.map(|[low, high]| (low, high));
        if clamp.is_some_and(|(low, high)| !(low.is_finite() && high.is_finite() && low <= high)) {
            return fail("clamp", "`clamp` must be two finite numbers, the lower one first");
        }
        if combine.floor.is_some() && combine.on_fault != OnFault::Floor {
            return fail("floor", "`floor` needs on_fault = \"floor\"");
        }
        if combine.pass.to_bits() != 1.0_f64.to_bits() && combine.how != CombineBy::Gate {
            return fail("pass", "`pass` needs how = \"gate\"");
        }
        if combine.open && combine.how != CombineBy::Gate {
            return fail("open", "`open` needs how = \"gate\"");
        }
        let is_sum = matches!(combine.how, CombineBy::WeightedSum | CombineBy::Gate);
        if combine.on_abstain.is_some() && !is_sum {
            return fail("on_abstain", "`on_abstain` needs how = \"weighted_sum\" or \"gate\"");
        }
        let floor = combine.floor.or(clamp.map(|(low, _)| low)).unwrap_or(0.0);
        let Some(floor) = Reward::new(floor) else {
            return fail("floor", "`floor` must be a finite number");
        };
        if let Some((low, high)) =
            clamp.filter(|(low, high)| !(*low..=*high).contains(&floor.get()))
        {
            let message = format!(
                "`floor` is {}, outside of `clamp`: write a number from {low} to {high}",
                floor.get()
            );
            return fail("floor", &message);
        }
        let expression = match (expression, combine.how) {
            (Some(expression), CombineBy::Expression) => Some(expression),
            (None, CombineBy::Expression) => {
                return fail("how", "how = \"expression\" needs `expression`");
            }
            (Some(_), _) => return fail("expression", "`expression` needs how = \"expression\""),
            (None, _) => None,
        };
        let part = |(at, reward): (usize, &RewardConfig)| Part {
            name: reward.name.clone(),
            weight: reward.weight.clone(),
            gate: gates.contains(&at),
            required: reward.required,
            is_read: formula.as_ref().is_some_and(|formula| formula.reads(at)),
        };
        let parts = config.rewards.iter().enumerate().map(part).collect();
        Ok(Self {
            how: combine.how,
            clamp,
            on_abstain: combine.on_abstain.unwrap_or_default(),
            on_fault: combine.on_fault,
            floor,
            pass: combine.pass,
            open: combine.open,
            expression,
            formula,
            parts,
            normalise: combine.normalise,
            scale: scale(combine)?,
        })
    }

    /// Whether a gate with this verdict lets the rest count. One that abstained does where `open` says
    /// so, and where its `when` rules it out.
    pub fn passes(&self, verdict: &Verdict) -> bool {
        match &verdict.outcome {
            Outcome::Scored(reward) => reward.get() >= self.pass,
            Outcome::Abstained(why) => self.open || why == WHEN_IS_FALSE,
            Outcome::Failed(_) => false,
        }
    }

    /// The outcome of the sample at a training step. `verdicts` are in the order of the rewards.
    pub fn combine(&self, verdicts: &[Verdict], step: u64) -> Outcome {
        self.combine_within(verdicts, step, None)
    }

    /// The same, by the time of `limit`.
    pub(super) fn combine_within(
        &self,
        verdicts: &[Verdict],
        step: u64,
        limit: Option<&dyn Cancellation>,
    ) -> Outcome {
        if let Some(outcome) = self.unrewarded(verdicts, step) {
            return outcome;
        }
        let reward = |verdict: &Verdict| verdict.outcome.reward().map(Reward::get);
        let rewards: Vec<Option<f64>> = verdicts.iter().map(reward).collect();
        self.total(&rewards, self.standing(verdicts, step), step, limit)
    }

    /// What becomes of a sample of whose verdicts one that counts failed, or a required one abstained;
    /// `None` where neither did.
    pub fn unrewarded(&self, verdicts: &[Verdict], step: u64) -> Option<Outcome> {
        let Some(fault) = self.fault(verdicts, step) else { return self.lacking(verdicts, step) };
        Some(match self.on_fault {
            OnFault::Mask | OnFault::DropGroup => Outcome::Failed(fault),
            OnFault::Floor => Outcome::Scored(self.floor),
        })
    }

    /// What becomes of a sample on which a required reward abstained. What `when` or a closed gate ruled
    /// out is not asked for.
    fn lacking(&self, verdicts: &[Verdict], step: u64) -> Option<Outcome> {
        let is_open = self.is_open(verdicts);
        let all = self.on_abstain == OnAbstain::Abstain;
        let is_required = |part: &Part| part.required || (all && self.is_summed(part, step));
        let abstained = |(part, verdict): (&Part, &Verdict)| match &verdict.outcome {
            Outcome::Abstained(why)
                if is_required(part) && (part.gate || is_open) && why != WHEN_IS_FALSE =>
            {
                Some(Outcome::Abstained(format!("{} is required: {why}", part.name).into()))
            }
            _ => None,
        };
        self.parts.iter().zip(verdicts).find_map(abstained)
    }

    /// The outcome of a sample of these rewards, of which none failed; `None` where one abstained.
    pub(super) fn total(
        &self,
        rewards: &[Option<f64>],
        standing: Standing,
        step: u64,
        limit: Option<&dyn Cancellation>,
    ) -> Outcome {
        let Standing { is_open, factor } = standing;
        let scored: Vec<(&Part, f64)> = self
            .parts
            .iter()
            .zip(rewards)
            .filter(|(part, _)| self.counts(part, step))
            .filter_map(|(part, reward)| Some((part, (*reward)?)))
            .collect();
        let own = || scored.iter().map(|(_, reward)| *reward);
        let total = match self.how {
            _ if scored.is_empty() => None,
            CombineBy::WeightedSum => {
                let weighted = |(part, reward): &(&Part, f64)| part.weight.at(step) * reward;
                Some(factor * scored.iter().map(weighted).sum::<f64>())
            }
            CombineBy::Product => Some(own().product()),
            CombineBy::Min => own().reduce(f64::min),
            CombineBy::Gate if !is_open => Some(0.0),
            CombineBy::Gate => self.behind_gates(&scored, step).map(|sum| factor * sum),
            CombineBy::Expression => match self.evaluate(rewards, step, limit) {
                Ok(total) => Some(total),
                Err(fault) => return Outcome::Failed(fault),
            },
            CombineBy::Formula => match self.computed(rewards, step) {
                Ok(total) => total,
                Err(fault) => return Outcome::Failed(fault),
            },
        };
        let Some(total) = total else {
            let silent = !self.parts.iter().any(|part| self.counts(part, step));
            return Outcome::Abstained(if silent { NO_SAY } else { ALL_ABSTAINED }.into());
        };
        // A clamp is for numbers: it would make its upper end of a division by zero.
        let clamp = |total: f64| self.clamp.map_or(total, |(low, high)| total.clamp(low, high));
        let clamped = Reward::new(total).and_then(|total| Reward::new(clamp(total.get())));
        clamped.map_or_else(|| Outcome::Failed(self.not_finite(total)), Outcome::Scored)
    }

    /// Whether a gate is closed, and by how much the weights of what did not abstain grow.
    pub(super) fn standing(&self, verdicts: &[Verdict], step: u64) -> Standing {
        let is_open = self.is_open(verdicts);
        if self.on_abstain != OnAbstain::Renormalise {
            return Standing { is_open, factor: 1.0 };
        }
        let (mut scored, mut missing) = (0.0, 0.0);
        for (part, verdict) in self.parts.iter().zip(verdicts) {
            match &verdict.outcome {
                _ if !self.is_summed(part, step) => {}
                Outcome::Abstained(why) if why == WHEN_IS_FALSE => {}
                Outcome::Scored(_) => scored += part.weight.at(step).abs(),
                _ => missing += part.weight.at(step).abs(),
            }
        }
        let is_some = missing > 0.0 && scored > 0.0;
        let factor = if is_some { (scored + missing) / scored } else { 1.0 };
        Standing { is_open, factor }
    }

    /// Whether no gate is closed. The gates see rewards as they were judged.
    fn is_open(&self, verdicts: &[Verdict]) -> bool {
        let gates = self.parts.iter().zip(verdicts).filter(|(part, _)| part.gate);
        gates.into_iter().all(|(_, verdict)| self.passes(verdict))
    }

    /// How the numbers became one, for people.
    pub fn explain(&self, verdicts: &[Verdict], step: u64) -> String {
        let mut text = String::new();
        for (part, verdict) in self.parts.iter().zip(verdicts) {
            let Some(reward) = verdict.outcome.reward() else { continue };
            let gap = if text.is_empty() { "" } else { self.sign() };
            let (name, weight, reward) = (&part.name, part.weight.at(step), reward.get());
            let weighted = matches!(self.how, CombineBy::WeightedSum | CombineBy::Gate);
            // Writing to a text cannot fail.
            let _ = if part.gate {
                write!(text, "{gap}gate {name} {reward}")
            } else if weighted {
                write!(text, "{gap}{weight} x {reward} ({name})")
            } else {
                write!(text, "{gap}{name} {reward}")
            };
        }
        match self.standing(verdicts, step).factor {
            factor if factor > 1.0 => text = format!("{factor} x ({text})"),
            _ => {}
        }
        let clamped = self.clamp.map(|(low, high)| format!(", clamped to [{low}, {high}]"));
        let clamped = clamped.unwrap_or_default();
        match self.normalise {
            Normalise::None => format!("{text}{clamped}"),
            Normalise::SumThen => format!("{text}{clamped}, then normalised over its group"),
            Normalise::ThenSum => format!("{text}, each normalised over its group{clamped}"),
        }
    }

    fn sign(&self) -> &'static str {
        match self.how {
            CombineBy::WeightedSum => " + ",
            CombineBy::Product => " * ",
            _ => ", ",
        }
    }

    /// The first fault that matters: one behind weight 0 is reported and counts for nothing.
    fn fault(&self, verdicts: &[Verdict], step: u64) -> Option<Fault> {
        self.parts.iter().zip(verdicts).find_map(|(part, verdict)| match &verdict.outcome {
            Outcome::Failed(fault) if self.counts(part, step) => {
                Some(Fault::new(fault.kind, format!("{}: {}", part.name, fault.why)))
            }
            _ => None,
        })
    }

    /// Whether a reward has a say. One of weight 0 is reported and has none.
    fn counts(&self, part: &Part, step: u64) -> bool {
        match self.how {
            CombineBy::Formula => part.is_read,
            how => part.weight.at(step) != 0.0 || part.gate || how == CombineBy::Expression,
        }
    }

    /// Whether it is a term of the weighted sum.
    fn is_summed(&self, part: &Part, step: u64) -> bool {
        !part.gate && self.counts(part, step)
    }

    /// The weighted sum of what is behind the gates; 1 where there is nothing but gates, and nothing
    /// where all of the rest abstained.
    fn behind_gates(&self, scored: &[(&Part, f64)], step: u64) -> Option<f64> {
        if self.parts.iter().all(|part| part.gate || !self.counts(part, step)) {
            return Some(1.0);
        }
        let rest = scored.iter().filter(|(part, _)| !part.gate);
        rest.map(|(part, reward)| part.weight.at(step) * reward).reduce(|sum, term| sum + term)
    }

    fn computed(&self, rewards: &[Option<f64>], step: u64) -> Result<Option<f64>, Fault> {
        let unset = || Fault::internal("no formula was compiled");
        self.formula.as_ref().ok_or_else(unset)?.total(rewards, step)
    }

    fn evaluate(
        &self,
        given: &[Option<f64>],
        step: u64,
        limit: Option<&dyn Cancellation>,
    ) -> Result<f64, Fault> {
        let Some(program) = &self.expression else {
            return Err(Fault::internal("no expression was compiled"));
        };
        let mut scope = Scope::new();
        push_step(&mut scope, step);
        let mut rewards = Map::new();
        for (part, reward) in self.parts.iter().zip(given) {
            let reward = reward.map_or(Dynamic::UNIT, Dynamic::from);
            scope.push_constant_dynamic(part.name.as_str(), reward.clone());
            rewards.insert(part.name.as_str().into(), reward);
        }
        scope.push_constant("rewards", rewards);
        let mut meter = Meter::default();
        if let Some(limit) = limit {
            meter = meter.with_cancellation(limit);
        }
        let value = program.run(&shared_engine(), &mut scope, &mut meter)?;
        number(&value).ok_or_else(|| {
            let found = type_words(value.type_name());
            Fault::trap(format!("`expression` gave {found}, expected a number"))
        })
    }

    /// What the numbers of a configuration make of a sample where they divide by zero or grow beyond all
    /// bounds.
    fn not_finite(&self, total: f64) -> Fault {
        let rule = if self.expression.is_some() { "`expression`" } else { "`combine`" };
        Fault::trap(format!("{rule} gave {total}, expected a finite number"))
    }
}

/// By what `normalise` divides.
fn scale(combine: &CombineConfig) -> Result<Scale, (String, String)> {
    let given = [("eps", combine.eps.is_some()), ("std", combine.std.is_some())];
    if combine.normalise.is_none()
        && let Some((key, _)) = given.iter().find(|(_, given)| *given)
    {
        let message = format!("`{key}` needs normalise = \"sum_then\" or \"then_sum\"");
        return Err((format!("combine.{key}"), message));
    }
    let eps = combine.eps.unwrap_or(EPS);
    if !(eps.is_finite() && eps >= 0.0) {
        let message = "`eps` must be a finite number, 0 or more".to_owned();
        return Err(("combine.eps".to_owned(), message));
    }
    Ok(Scale { std: combine.std.unwrap_or_default(), eps })
}

/// Shows scripts the training step as `step`.
pub(super) fn push_step(scope: &mut Scope<'_>, step: u64) {
    scope.push_constant("step", i64::try_from(step).unwrap_or(i64::MAX));
}

#[expect(clippy::cast_precision_loss, reason = "a reward of 2^53 is not told from its neighbour")]
fn number(value: &Dynamic) -> Option<f64> {
    match (value.as_float(), value.as_int(), value.as_bool()) {
        (Ok(float), _, _) => Some(float),
        (_, Ok(integer), _) => Some(integer as f64),
        (_, _, Ok(right)) => Some(f64::from(u8::from(right))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::rubrics::judge::JudgeParts;
    use assay_verifiers::{FaultKind, NoFiles};
    use proptest::prelude::*;

    use super::*;
    use crate::engine::{Document, Plan, Registry};

    /// A combiner of three rewards `a`, `b` and `c`, of weights 1, 0.5 (1 where none are read) and 0.
    fn combiner(rule: &str) -> Combiner {
        let mut text = String::from("version = 1\n");
        let reads_none =
            ["'product'", "'min'", "'expression'"].iter().any(|how| rule.contains(how));
        let half = if reads_none { 1.0 } else { 0.5 };
        for (name, weight) in [("a", 1.0), ("b", half), ("c", 0.0)] {
            let _ = writeln!(
                text,
                "[[reward]]\nname = '{name}'\nverifier = 'exact'\nweight = {weight:?}"
            );
        }
        let document = Document::parse("t.toml", &format!("{text}[combine]\n{rule}")).unwrap();
        Plan::build(
            &document,
            &Registry::standard(&std::sync::Arc::default(), &std::sync::Arc::default()),
            &NoFiles,
            &JudgeParts::default(),
        )
        .unwrap()
        .combiner
    }

    fn scored(reward: f64) -> Verdict {
        Verdict::scored(Reward::new(reward).unwrap())
    }

    fn failed() -> Verdict {
        Verdict::failed(Fault::bad_reference("broken"))
    }

    fn total(rule: &str, verdicts: &[Verdict; 3]) -> Option<f64> {
        combiner(rule).combine(verdicts, 0).reward().map(Reward::get)
    }

    const RULES: [&str; 5] = [
        "how = 'weighted_sum'",
        "how = 'product'",
        "how = 'min'",
        "how = 'gate'",
        "how = 'expression'\nexpression = 'a + (b ?? 0.0)'",
    ];

    #[test]
    fn rewards_become_one() {
        let verdicts = || [scored(1.0), scored(0.5), scored(0.25)];
        let totals = RULES.map(|rule| total(rule, &verdicts()));
        assert_eq!(totals, [Some(1.25), Some(0.5), Some(0.5), Some(0.25), Some(1.5)]);
        assert_eq!(total("clamp = [0.0, 1.0]", &verdicts()), Some(1.0));
        let closed = [scored(0.9), scored(1.0), scored(1.0)];
        assert_eq!(total("how = 'gate'", &closed), Some(0.0));
        assert_eq!(total("how = 'gate'\npass = 0.9", &closed), Some(0.5));
    }

    #[test]
    fn what_abstained_takes_no_part() {
        let abstained = || Verdict::abstained("no");
        for rule in RULES {
            let verdicts = [scored(0.75), abstained(), abstained()];
            let closed = rule.contains("gate");
            assert_eq!(total(rule, &verdicts), Some(if closed { 0.0 } else { 0.75 }), "{rule}");
            let none = combiner(rule).combine(&[abstained(), abstained(), abstained()], 0);
            assert!(matches!(none, Outcome::Abstained(_)), "{rule}");
        }
        assert_eq!(total("how = 'gate'", &[scored(1.0), abstained(), abstained()]), None);
        // A gate that cannot tell is closed.
        let unknown = || [abstained(), scored(1.0), scored(1.0)];
        assert_eq!(total("how = 'gate'", &unknown()), Some(0.0));
        assert_eq!(total("how = 'gate'\nopen = true", &unknown()), Some(0.5));
        let ruled_out = [Verdict::abstained(WHEN_IS_FALSE), scored(1.0), scored(1.0)];
        assert_eq!(total("how = 'gate'", &ruled_out), Some(0.5));
        let two = "how = 'gate'\ngates = ['a', 'c']";
        assert_eq!(total(two, &[scored(1.0), scored(1.0), abstained()]), Some(0.0));
        // A reward of weight 0 does not make a zero of a sample that nothing else judged.
        let none = combiner("").combine(&[abstained(), abstained(), scored(1.0)], 0);
        assert!(matches!(none, Outcome::Abstained(_)));
        assert_eq!(
            total("how = 'gate'\ngates = ['a', 'b', 'c']", &[1.0; 3].map(scored)),
            Some(1.0)
        );
    }

    #[test]
    fn on_abstain_says_what_a_missing_reward_is() {
        let missing = || [scored(0.5), Verdict::abstained("no"), scored(1.0)];
        // Weights 1, 0.5 and 0; the second is missing: 0.5, or 0.5 (1 + 0.5) / 1.
        assert_eq!(total("on_abstain = 'zero'", &missing()), Some(0.5));
        assert_eq!(total("on_abstain = 'renormalise'", &missing()), Some(0.75));
        assert_eq!(total("on_abstain = 'abstain'", &missing()), None);
        let first = || [Verdict::abstained("no"), scored(1.0), scored(1.0)];
        assert_eq!(total("on_abstain = 'renormalise'", &first()), Some(1.5));
        let clamped = "on_abstain = 'renormalise'\nclamp = [0.0, 1.0]";
        assert_eq!(total(clamped, &first()), Some(1.0));
        for rule in ["zero", "renormalise", "abstain"].map(|way| format!("on_abstain = '{way}'")) {
            // What `when` rules out, and what has no weight, is not missed.
            let apart = [scored(0.5), Verdict::abstained(WHEN_IS_FALSE), Verdict::abstained("no")];
            assert_eq!(total(&rule, &apart), Some(0.5), "{rule}");
            let whole = [scored(0.5), scored(1.0), scored(1.0)];
            assert_eq!(total(&rule, &whole), Some(1.0), "{rule}");
            let failed = combiner(&rule).combine(&[scored(1.0), failed(), scored(1.0)], 0);
            assert!(matches!(failed, Outcome::Failed(_)), "{rule}");
        }
        let gated = "how = 'gate'\ngates = ['c']\non_abstain = 'renormalise'";
        assert_eq!(total(gated, &missing()), Some(0.75));
        let closed = [scored(0.5), Verdict::abstained("no"), scored(0.0)];
        assert_eq!(total(gated, &closed), Some(0.0));
        let explained = combiner("on_abstain = 'renormalise'").explain(&missing(), 0);
        assert_eq!(explained, "1.5 x (1 x 0.5 (a) + 0 x 1 (c))");
    }

    #[test]
    fn a_fault_is_never_a_reward() {
        for rule in RULES {
            for at in 0..2 {
                let mut verdicts = [scored(1.0), scored(1.0), scored(1.0)];
                verdicts[at] = failed();
                let outcome = combiner(rule).combine(&verdicts, 0);
                assert!(matches!(outcome, Outcome::Failed(_)), "{rule} {at}: {outcome:?}");
            }
        }
        let verdicts = || [scored(1.0), failed(), scored(1.0)];
        assert_eq!(total("on_fault = 'floor'\nfloor = -1.0", &verdicts()), Some(-1.0));
        assert_eq!(total("on_fault = 'floor'\nclamp = [0.25, 1.0]", &verdicts()), Some(0.25));
        // Weight 0 only reports.
        assert_eq!(total("", &[scored(1.0), scored(1.0), failed()]), Some(1.5));
    }

    #[test]
    fn an_expression_that_gives_no_number_is_a_fault() {
        for expression in ["`text`", "()", "1.0 / 0.0", "if a == 1.0 { `x` } else { 2 }"] {
            for clamp in ["", "clamp = [0.0, 1.0]\n"] {
                let rule = format!("{clamp}how = 'expression'\nexpression = {expression:?}");
                let verdicts = [scored(1.0), scored(1.0), scored(1.0)];
                match combiner(&rule).combine(&verdicts, 0) {
                    // What the user wrote is at fault, and a retry changes nothing.
                    Outcome::Failed(fault) => assert_eq!(fault.kind, FaultKind::Trap, "{rule}"),
                    other => panic!("{rule}: {other:?}"),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_total_is_finite_and_within_the_clamp(a in -1e300..1e300_f64, b in -1e300..1e300_f64) {
            for rule in RULES {
                let rule = format!("clamp = [-1.0, 2.0]\n{rule}");
                if let Some(total) = total(&rule, &[scored(a), scored(b), scored(a)]) {
                    prop_assert!((-1.0..=2.0).contains(&total));
                }
            }
        }
    }
}
