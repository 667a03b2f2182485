//! How rewards become one: weights, expressions, and rewards by which wrong answers earn more.

use assay::engine::Planned;
use assay::engine::config::CombineBy;
use assay::verifiers::Verdict;

use super::faults::{Faults, Found, failing};
use super::problem::Problem;
use super::report::RewardReport;
use super::slips::which;
use super::sources::Role;
use super::tally::RowsTally;
use super::trial::Tried;
use super::words::{Token, Word, words};
use crate::output::count;

impl Faults<'_> {
    /// Weights that leave rewards without a say, or pay for what is wrong.
    pub(super) fn of_weights(&self, rewards: &[RewardReport], found: &mut Found) {
        let plan = self.plan();
        let weights = plan.rewards.iter().map(|planned| planned.weight.at(0));
        let how = plan.config.combine.how;
        if how != CombineBy::Expression
            && plan.gates.is_empty()
            && weights.clone().all(|own| own == 0.0)
        {
            let constant = plan.rewards.iter().all(|planned| planned.weight.constant().is_some());
            let (when, help) = if constant {
                ("", "write weight = 1.0 for what counts")
            } else {
                (" at step 0", "`assay score --step N` takes a later step")
            };
            let message = format!("no reward has a say: every weight is 0{when}");
            let error = self.document.error("reward[0].weight", message);
            let problem = Problem::new("reward.weight", error.help(Some(help.to_owned())));
            found.errors.push(problem);
        }
        let is_sum = matches!(how, CombineBy::WeightedSum | CombineBy::Gate);
        let penalty = |report: &RewardReport| report.rows.as_ref().and_then(RowsTally::penalty);
        for ((at, weight), report) in weights.enumerate().zip(rewards) {
            let Some(least) = penalty(report).filter(|_| weight != 0.0) else { continue };
            let name = &report.name;
            let (path, message, help) = match how {
                CombineBy::Product | CombineBy::Min => (
                    "combine.how".to_owned(),
                    format!(
                        "\"{name}\" is a penalty, from {least} to 0: a right answer earns no more than 0"
                    ),
                    "how = \"weighted_sum\" adds a penalty to what else is earned".to_owned(),
                ),
                _ if is_sum && weight < 0.0 => (
                    format!("reward[{at}].weight"),
                    format!(
                        "its weight is {weight}, and \"{name}\" is a penalty, from {least} to 0: what it \
                         is for is paid"
                    ),
                    format!("write weight = {}", -weight),
                ),
                _ => continue,
            };
            let error = self.document.error(&path, message).help(Some(help));
            found.warnings.push(Problem::new(format!("reward.{name}"), error));
        }
        let weights = plan.rewards.iter().map(|planned| planned.weight.at(0));
        for ((at, weight), report) in weights.enumerate().zip(rewards).filter(|_| is_sum) {
            if weight < 0.0 && report.judges_answers() {
                found.is_inverted = true;
                let message =
                    format!("its weight is {weight}: a right answer earns less than a wrong one");
                let error = self.document.error(&format!("reward[{at}].weight"), message);
                let help = Some(format!("write weight = {}", -weight));
                found
                    .warnings
                    .push(Problem::new(format!("reward.{}", report.name), error.help(help)));
            }
        }
    }

    /// Rewards of a weighted sum that abstain on some rows, which are paid as if they had given 0, where
    /// nothing says that this is meant.
    pub(super) fn of_abstained(&self, rewards: &[RewardReport]) -> Vec<Problem> {
        let plan = self.plan();
        let combine = &plan.config.combine;
        let is_sum = matches!(combine.how, CombineBy::WeightedSum | CombineBy::Gate);
        let is_silent = is_sum && combine.on_abstain.is_none();
        let step = self.trial.training.step;
        let told = |(at, report): (usize, &RewardReport)| {
            let planned = plan.rewards.get(at)?;
            let is_required = plan.config.rewards.get(at)?.required;
            if is_required || plan.gates.contains(&at) || planned.weight.at(step) <= 0.0 {
                return None;
            }
            let tally = report.rows.as_ref().filter(|tally| tally.scored > 0)?;
            let first = tally.first_abstained.as_ref()?;
            let is_missed = |tried: &&Tried<'_>| {
                let own = tried.verdicts.get(at).and_then(|verdict| verdict.outcome.reward());
                own.is_none() && tried.outcome.reward().is_some()
            };
            let is_paid = |tried: &Tried<'_>| tried.row.number == first.row && is_missed(&tried);
            self.trial.rows.iter().find(|tried| is_paid(tried))?;
            let message = format!(
                "it abstains on {} of {} rows, which are paid as if it had given 0; first on row {}: {}",
                tally.abstained,
                tally.judged(),
                first.row,
                first.reason
            );
            let help = "write combine.on_abstain: \"renormalise\" lets the others make the reward, \
                        \"abstain\" leaves such rows out, \"zero\" keeps it so";
            let error = self.document.error(&format!("reward[{at}]"), message);
            Some(Problem::new(format!("reward.{}", report.name), error.help(Some(help.to_owned()))))
        };
        rewards.iter().enumerate().filter(|_| is_silent).filter_map(told).collect()
    }

    /// Weights by which a reward moves nothing that can be told beside another one.
    fn of_vanishing(&self, rewards: &[RewardReport]) -> impl Iterator<Item = Problem> {
        /// A smaller part of the largest one was hardly meant.
        const SHARE: f64 = 1e-6;
        let plan = self.plan();
        let is_sum = matches!(plan.config.combine.how, CombineBy::WeightedSum | CombineBy::Gate);
        let most = |(planned, report): (&Planned, &RewardReport)| {
            let size = report.rows.as_ref().and_then(RowsTally::size).unwrap_or(1.0);
            Some(planned.weight.constant()?.abs() * size)
        };
        let sizes: Vec<Option<f64>> = plan.rewards.iter().zip(rewards).map(most).collect();
        let largest = sizes.iter().flatten().copied().fold(0.0, f64::max);
        let vanishing = sizes.into_iter().enumerate().filter(move |(_, size)| {
            is_sum && size.is_some_and(|size| size > 0.0 && size < SHARE * largest)
        });
        vanishing.filter_map(|(at, _)| {
            let planned = plan.rewards.get(at)?;
            let (name, weight) = (&planned.name, planned.weight.constant()?);
            let message = format!(
                "its weight is {weight:e}: beside the others \"{name}\" moves nothing that can be told"
            );
            let help = "write a weight such as 0.1, or weight = 0.0 to report it alone".to_owned();
            let error = self.document.error(&format!("reward[{at}].weight"), message);
            Some(Problem::new(format!("reward.{name}"), error.help(Some(help))))
        })
    }

    /// A reward that takes from every right answer all that it earns.
    fn wiped(&self, at: usize) -> Option<Problem> {
        let plan = self.plan();
        let step = self.trial.training.step;
        if plan.config.combine.how != CombineBy::WeightedSum
            || plan.rewards.get(at)?.weight.at(step) <= 0.0
        {
            return None;
        }
        let is_right = |tried: &&Tried<'_>| tried.shaped(at).is_some_and(|own| own >= 1.0);
        let right: Vec<&Tried<'_>> = self.trial.rows.iter().filter(is_right).collect();
        let earns = |tried: &&Tried<'_>| tried.outcome.reward().is_none_or(|own| own.get() > 0.0);
        let first = right.first().filter(|_| right.len() > 1 && !right.iter().any(earns))?;
        let takes = |(other, planned): &(usize, &Planned)| {
            let weight = planned.weight.at(step);
            weight < 0.0
                && right.iter().all(|tried| tried.shaped(*other).is_some_and(|own| own > 0.0))
        };
        let (other, planned) = plan.rewards.iter().enumerate().find(takes)?;
        let (name, weight) = (&planned.name, planned.weight.at(step));
        let message = format!(
            "{} that \"{}\" calls right earn nothing: \"{name}\" has weight {weight} and takes it from each of them",
            which(right.len(), first.row.number),
            plan.rewards.get(at)?.name
        );
        let help = format!("write weight = {} to pay for it, or take less away", -weight);
        let error = self.document.error(&format!("reward[{other}].weight"), message);
        Some(Problem::new(format!("reward.{name}"), error.help(Some(help))))
    }

    /// A clamp that cuts what a reward takes away, on every row where it does.
    fn of_clamp(&self, rewards: &[RewardReport]) -> Option<Problem> {
        let plan = self.plan();
        let combine = &plan.config.combine;
        let [low, _] = combine.clamp.filter(|_| combine.how == CombineBy::WeightedSum)?;
        let step = self.trial.training.step;
        rewards.iter().enumerate().find_map(|(at, report)| {
            let weight = plan.rewards.get(at)?.weight.at(step);
            let own = |tried: &Tried<'_>| tried.shaped(at).map(|own| weight * own);
            let takes = |tried: &&Tried<'_>| own(tried).is_some_and(|own| own < 0.0);
            let without = |tried: &Tried<'_>| -> Option<f64> {
                let part = |(at, verdict): (usize, &Verdict)| {
                    let weight = plan.rewards.get(at).map_or(0.0, |own| own.weight.at(step));
                    verdict.outcome.reward().map_or(0.0, |own| weight * own.get())
                };
                Some(tried.verdicts.iter().enumerate().map(part).sum::<f64>() - own(tried)?)
            };
            // Without it the row earns no more: all that it takes is below the end of the clamp.
            let is_cut = |tried: &Tried<'_>| without(tried).is_some_and(|rest| rest <= low);
            let mut rows = self.trial.rows.iter().filter(takes).peekable();
            let first = rows.peek()?.row.number;
            let (mut amount, mut cut) = (0, 0);
            for tried in rows {
                amount += 1;
                cut += usize::from(is_cut(tried));
            }
            (cut == amount).then(|| {
                let message = format!(
                    "{}: \"{}\" takes something away, and `clamp` gives it back on each of them: nothing is \
                     below {low}",
                    which(amount, first),
                    report.name
                );
                let help = format!("lower the first end, as in clamp = [{:.1}, ...], or leave clamp out", low - 1.0);
                let error = self.document.error("combine.clamp", message).help(Some(help));
                Problem::new("combine.clamp", error)
            })
        })
    }

    /// Rewards that the expression leaves out, and rewards by which wrong answers earn more.
    pub(super) fn of_directions(&self, rewards: &[RewardReport], found: &mut Found) {
        found.warnings.extend(self.unused());
        found.warnings.extend(self.of_clamp(rewards));
        found.warnings.extend(self.of_abstained(rewards));
        found.warnings.extend(self.of_vanishing(rewards));
        let is_asked = |tried: &Tried<'_>| {
            tried.asked || !(0..rewards.len()).any(|at| self.trial.depends.any(at))
        };
        if !self.trial.rows.iter().all(is_asked) {
            return;
        }
        for (at, report) in rewards.iter().enumerate() {
            if report.judges_answers() {
                let inverted = self.inverted(at);
                found.is_inverted |= inverted.is_some();
                found.warnings.extend(inverted.or_else(|| self.wiped(at)));
            }
        }
    }

    /// A reward that is full on some rows and 0 on others, each of which earns more than any of the first.
    fn inverted(&self, at: usize) -> Option<Problem> {
        let (plan, planned) = (self.plan(), self.plan().rewards.get(at)?);
        let how = plan.config.combine.how;
        let is_sum = matches!(how, CombineBy::WeightedSum | CombineBy::Gate);
        if is_sum && planned.weight.at(0) <= 0.0 {
            return None;
        }
        let earned = |tried: &Tried<'_>| {
            Some((tried.unshaped(at)?, tried.outcome.reward()?.get(), tried.row.number))
        };
        let earned: Vec<(f64, f64, u64)> = self.trial.rows.iter().filter_map(earned).collect();
        let right = earned.iter().filter(|(own, ..)| *own >= 1.0);
        let wrong = earned.iter().filter(|(own, ..)| *own <= 0.0);
        let (_, most, right) = right.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (_, least, wrong) = wrong.min_by(|a, b| a.1.total_cmp(&b.1))?;
        if least <= most {
            return None;
        }
        let message = format!(
            "a wrong answer earns more than a right one: row {wrong} earns {least}, row {right} {most}"
        );
        let path = if how == CombineBy::Expression {
            "combine.expression".to_owned()
        } else if planned.shapes.is_empty() {
            format!("reward[{at}].weight")
        } else {
            format!("reward[{at}].shape")
        };
        let help = "look for a sign that is turned round: in the expression, a weight or a scale";
        let error = self.document.error(&path, message).help(Some(help.to_owned()));
        Some(Problem::new(format!("reward.{}", planned.name), error))
    }

    /// Rewards that count and that neither the expression nor another reward names.
    fn unused(&self) -> Vec<Problem> {
        let Some(source) = self.source(Role::Combine) else { return Vec::new() };
        let tokens = words(&source.text, source.language);
        if takes_all(&tokens) {
            return Vec::new();
        }
        let rewards = &self.plan().config.rewards;
        let is_named = |name: &str, tokens: &[Token]| {
            tokens.iter().any(|token| match &token.word {
                Word::Name(word) | Word::Text(word) => word == name,
                _ => false,
            })
        };
        let in_settings = |name: &str| {
            let quoted = serde_json::Value::from(name).to_string();
            let reads = |settings: &serde_json::Map<String, serde_json::Value>| {
                settings.values().any(|value| value.to_string().contains(&quoted))
            };
            rewards.iter().any(|other| reads(&other.config) || other.shape.iter().any(reads))
        };
        let by_others = |name: &str| {
            let others = self.sources.iter().filter(|other| other.role != Role::Combine);
            others.into_iter().any(|other| is_named(name, &words(&other.text, other.language)))
        };
        let problem = |(at, name): (usize, &str)| {
            let message =
                format!("`expression` does not name the reward \"{name}\": it has no say");
            let help = "name it there, or write weight = 0.0 to report it alone".to_owned();
            let error =
                self.document.error(&format!("reward[{at}].name"), message).help(Some(help));
            Problem::new(format!("reward.{name}"), error)
        };
        let named = rewards.iter().enumerate();
        let silent = named.filter(|(_, reward)| reward.weight.constant() != Some(0.0));
        let silent = silent.map(|(at, reward)| (at, reward.name.as_str()));
        let silent = silent
            .filter(|(_, name)| !is_named(name, &tokens) && !in_settings(name) && !by_others(name));
        silent.map(problem).collect()
    }

    /// What is wrong with how rewards become one.
    pub(super) fn of_combination(&self, tally: &RowsTally, named: &[Role], found: &mut Found) {
        let is_told = found.warnings.iter().any(|problem| problem.key.starts_with("reward."));
        let is_whole = !(0..self.plan().rewards.len()).any(|at| self.trial.depends.any(at));
        let is_silent = !is_told && is_whole && self.completions_differ();
        if let Some(reward) = tally.constant().filter(|_| is_silent) {
            let rows = count(tally.scored);
            let message =
                format!("each of {rows} rows earns {reward}, and nothing tells them apart");
            let key =
                if self.source(Role::Combine).is_some() { "combine.expression" } else { "combine" };
            let help = "see how rewards become one: weight, clamp, gates, expression".to_owned();
            let error = self.document.error(key, message).help(Some(help));
            found.warnings.push(Problem::new(key, error));
        }
        let Some(first) = tally.first_failed.as_ref().filter(|_| !named.contains(&Role::Combine))
        else {
            return;
        };
        let (failed, all) = (tally.failed, tally.judged());
        let message = failing("the combination", failed, all, first);
        let problem = if let Some(source) = self.source(Role::Combine) {
            let part = source.place_in(&first.reason);
            let line = part.as_ref().and_then(|part| source.text.get(part.start..));
            let help = self.of_expression(&first.reason, line.unwrap_or(&source.text));
            let help = help.unwrap_or_else(|| self.look(first));
            source.problem(self.document, part, message, Some(help))
        } else {
            let error = self.document.error("combine.how", message);
            Problem::new("combine.how", error.help(Some(self.look(first))))
        };
        let told = if failed == all { &mut found.errors } else { &mut found.warnings };
        told.push(problem);
    }
}

impl Faults<'_> {
    /// What to type where an expression fails for this reason; `rest` is what stands at the place and behind it.
    fn of_expression(&self, reason: &str, rest: &str) -> Option<String> {
        let name = self.plan().names.first().map_or("NAME", String::as_str);
        if self.plan().names.iter().any(|name| name == "rewards") {
            let help =
                "`rewards` is the map of all rewards: give the reward of that name another one";
            return Some(help.to_owned());
        }
        if reason.contains("a finite number") {
            return Some(format!(
                "what is divided by 0, and the logarithm of 0, is no reward: write if {name} > 0.0 {{ ... }} else \
                 {{ 0.0 }}, with what is divided by"
            ));
        }
        if let Some((_, told)) = reason.split_once("Unknown property '") {
            let property = told.split('\'').next().unwrap_or_default();
            if told.contains("looked for in number") {
                return Some(match property {
                    "weight" => format!(
                        "a reward is a number and has no `weight`: write the number, as in {name} * 0.5"
                    ),
                    _ => format!(
                        "a reward is a number and has no `{property}`: write {name}, or rewards.{name}"
                    ),
                });
            }
        }
        if let Some((_, told)) = reason.split_once("Function not found: ") {
            let (function, given) = told.split_once(" (")?;
            if ["min", "max"].contains(&function)
                && (given.starts_with("array)") || given.matches(", ").count() > 1)
            {
                let nested = two_by_two(function, rest)?;
                return Some(format!("`{function}` takes two numbers: write {nested}"));
            }
        }
        if reason.contains("expecting bool") {
            let truth = "`&&`, `||` and `!` take what is true or false: write a * b for both, or a > 0.0 && b > 0.0";
            return Some(truth.to_owned());
        }
        // What abstained is (), with which no function calculates.
        let is_unit = reason.contains("()") || !reason.contains("Function not found");
        is_unit.then(|| "a reward that abstained is (): write (NAME ?? 0.0)".to_owned())
    }
}

/// A call of a function of two numbers, in the place of one of more.
fn two_by_two(function: &str, rest: &str) -> Option<String> {
    let (_, inner) = rest.split_once(&format!("{function}("))?;
    // The comma of a call within it parts nothing.
    let inner = inner.split(')').next().filter(|inner| !inner.contains('('))?;
    let inner = inner.trim().trim_matches(['[', ']']);
    let mut parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
    let first = parts.next()?.to_owned();
    Some(parts.fold(first, |all, part| format!("{function}({all}, {part})")))
}

/// Whether an expression reads `rewards` otherwise than by a name that is written in it.
fn takes_all(tokens: &[Token]) -> bool {
    let word = |at: usize| tokens.get(at).map(|token| &token.word);
    let is_whole = |at: usize| {
        let by_name = match (word(at + 1), word(at + 2)) {
            (Some(Word::Sign('.')), Some(Word::Name(_))) => word(at + 3) != Some(&Word::Sign('(')),
            (Some(Word::Sign('[')), Some(Word::Text(_))) => true,
            _ => false,
        };
        matches!(word(at), Some(Word::Name(name)) if name == "rewards") && !by_name
    };
    (0..tokens.len()).any(is_whole)
}
