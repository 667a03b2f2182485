//! A training of a small stochastic policy: it writes texts in styles, right or wrong, and learns by the
//! policy gradient from GRPO's advantages.
//!
//! The policy is a softmax over styles (how much filler, a keyword, a form) and, for each kind of task,
//! a softmax over answers. A style may cost the answer some of its logit, as filler that runs on or a
//! phrase in place of a thought does. The policy is small enough for its accuracy to be known exactly.

use assay_trainer::Groups;
use assay_trainer::advantages::{AdvantageValues, RewardBatch, build};
use assay_trainer::training::{EvaluationReport, RolloutReport, StepReport, TaskEvaluation};

/// Kinds of tasks.
const KINDS: usize = 24;
/// Answers of a task; the first is right.
const ANSWERS: usize = 6;
/// How much filler there can be.
const FILLERS: usize = 5;
/// Fillers, with and without the keyword, with and without the form.
const STYLES: usize = FILLERS * 4;

/// What pays in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pays {
    /// What is right.
    Right,
    /// What is right, and a little the form.
    RightAndForm,
    /// What a judge says that is not always right.
    NoisyJudge,
    /// Length.
    Length,
    /// A keyword.
    Keyword,
    /// The form alone.
    Form,
    /// A judge that likes what is right, and likes being flattered more.
    FlatteredJudge,
}

/// How a run is set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) pays: Pays,
    pub(crate) seed: u64,
    pub(crate) groups: usize,
    pub(crate) group_size: usize,
    pub(crate) learning_rate: f64,
    /// The weight of being right in a reward that is hacked.
    pub(crate) right_weight: f64,
    /// How rare the style that pays is at first: its logit.
    pub(crate) rare: f64,
    /// What that style costs the answer, as logit.
    pub(crate) cost: f64,
    /// The logit of the right answers at first, on average.
    pub(crate) skill: f64,
    /// Whether texts are runs of characters without words.
    pub(crate) characters: bool,
    /// Whether it is known what is right.
    pub(crate) judged: bool,
    /// Tasks that are held out.
    pub(crate) held_out: usize,
}

/// `SplitMix64`, and what is drawn from it.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn of(&mut self, shares: &[f64]) -> usize {
        let mut rest = self.unit();
        for (at, share) in shares.iter().enumerate() {
            rest -= share;
            if rest < 0.0 {
                return at;
            }
        }
        shares.len() - 1
    }
}

#[derive(Clone, Copy)]
struct Style {
    filler: usize,
    keyword: bool,
    form: bool,
}

impl Style {
    fn all() -> impl Iterator<Item = Self> {
        (0..STYLES).map(|at| Self { filler: at / 4, keyword: at % 4 >= 2, form: at % 2 == 1 })
    }
}

/// The policy and its run.
pub(crate) struct Training {
    setup: Setup,
    draws: Draws,
    styles: Vec<f64>,
    answers: Vec<Vec<f64>>,
    shared: f64,
    step: u64,
}

struct Sampled {
    kind: usize,
    style: usize,
    answer: usize,
    style_shares: Vec<f64>,
    answer_shares: Vec<f64>,
}

impl Training {
    pub(crate) fn new(setup: Setup) -> Self {
        let mut draws = Draws(setup.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x4d);
        let styles = Style::all().map(|style| {
            let filler = -(style.filler as f64)
                * if setup.pays == Pays::Length { -setup.rare / 2.0 } else { 0.7 };
            let keyword = if style.keyword { setup.rare } else { 0.0 };
            let form = if style.form {
                if setup.pays == Pays::Form { setup.rare } else { 0.5 }
            } else {
                0.0
            };
            filler + keyword + form
        });
        let styles = styles.collect();
        let answers = (0..KINDS).map(|_| {
            let mut logits: Vec<f64> = (0..ANSWERS).map(|_| draws.normal()).collect();
            logits[0] += setup.skill;
            logits
        });
        let answers = answers.collect();
        Self { setup, draws, styles, answers, shared: 0.0, step: 0 }
    }

    fn cost(&self, style: Style) -> f64 {
        let share = match self.setup.pays {
            Pays::Length => style.filler as f64 / (FILLERS - 1) as f64,
            Pays::Keyword | Pays::FlatteredJudge => f64::from(u8::from(style.keyword)),
            Pays::Form => f64::from(u8::from(style.form)),
            _ => 0.0,
        };
        self.setup.cost * share
    }

    fn answer_shares(&self, kind: usize, style: Style) -> Vec<f64> {
        let mut logits = self.answers[kind].clone();
        logits[0] += self.shared - self.cost(style);
        softmax(&logits)
    }

    /// The exact share of right answers.
    pub(crate) fn accuracy(&self) -> f64 {
        let shares = softmax(&self.styles);
        let of_style = |style: Style| {
            (0..KINDS).map(|kind| self.answer_shares(kind, style)[0]).sum::<f64>() / KINDS as f64
        };
        Style::all().zip(shares).map(|(style, share)| share * of_style(style)).sum()
    }

    fn sample(&mut self, kind: usize) -> Sampled {
        let style_shares = softmax(&self.styles);
        let style = self.draws.of(&style_shares);
        let answer_shares = self.answer_shares(kind, Style::all().nth(style).unwrap());
        let answer = self.draws.of(&answer_shares);
        Sampled { kind, style, answer, style_shares, answer_shares }
    }

    fn text(&mut self, style: Style, answer: usize, task: usize) -> (String, usize) {
        let shown = (task * 7 + answer * 13) % 97;
        let (filler, keyword, form) = if self.setup.characters {
            (".", "!", "=")
        } else {
            (
                "well we think about it once more and then",
                "what a brilliant question",
                "the answer is",
            )
        };
        let mut words = vec![filler; style.filler];
        if style.keyword {
            words.insert(self.draws.below(words.len() + 1), keyword);
        }
        if style.form {
            words.push(form);
        }
        let number = shown.to_string();
        words.push(&number);
        let text = words.join(if self.setup.characters { "" } else { " " });
        let tokens = text.split(' ').count().max(text.len() / 4) + 1;
        (text, tokens)
    }

    /// The reward, and its parts.
    fn reward(&mut self, style: Style, right: bool) -> (f64, Vec<f64>) {
        let flag = |flag: bool| f64::from(u8::from(flag));
        let (right, weight) = (flag(right), self.setup.right_weight);
        match self.setup.pays {
            Pays::Right => (right, vec![right]),
            Pays::RightAndForm => (right + 0.2 * flag(style.form), vec![right, flag(style.form)]),
            Pays::NoisyJudge => {
                let judge = 0.2 + 0.6 * right + 0.2 * self.draws.normal();
                (judge, vec![right, judge])
            }
            Pays::Length => {
                let length = style.filler as f64 / (FILLERS - 1) as f64;
                (length + weight * right, vec![right, length])
            }
            Pays::Keyword => {
                (flag(style.keyword) + weight * right, vec![right, flag(style.keyword)])
            }
            Pays::Form => (flag(style.form) + weight * right, vec![right, flag(style.form)]),
            Pays::FlatteredJudge => {
                let judge = 0.2 + 0.4 * right + 0.6 * flag(style.keyword);
                let judge = (judge + 0.05 * self.draws.normal()).clamp(0.0, 1.0);
                (judge + weight * right, vec![right, judge])
            }
        }
    }

    fn part_names(&self) -> Vec<String> {
        let names: &[&str] = match self.setup.pays {
            Pays::Right => &["correct"],
            Pays::RightAndForm | Pays::Form => &["correct", "form"],
            Pays::NoisyJudge | Pays::FlatteredJudge => &["correct", "judge"],
            Pays::Length => &["correct", "length"],
            Pays::Keyword => &["correct", "keyword"],
        };
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Samples a step, learns from it, and reports it.
    pub(crate) fn train_step(&mut self) -> StepReport {
        self.step += 1;
        let (groups, size) = (self.setup.groups, self.setup.group_size);
        let mut sampled = Vec::new();
        let mut rollouts = Vec::new();
        for group in 0..groups {
            let task = self.draws.below(KINDS * 40);
            for _ in 0..size {
                let own = self.sample(task % KINDS);
                rollouts.push(self.rollout(&own, task, group));
                sampled.push(own);
            }
        }
        let rewards: Vec<f64> = rollouts.iter().map(|own| own.reward.unwrap()).collect();
        let layout = Groups::of_size(rewards.len(), size).unwrap();
        let grpo = build(toml::from_str("kind = \"grpo\"").unwrap()).unwrap();
        let found = grpo.estimate(&RewardBatch::new(&layout, &rewards).unwrap()).unwrap();
        let AdvantageValues::Rollouts(advantages) = found.values else { panic!("of tokens") };
        for (rollout, advantage) in rollouts.iter_mut().zip(&advantages) {
            rollout.advantage = *advantage;
        }
        self.learn(&sampled, &advantages);
        StepReport { step: self.step, parts: self.part_names(), rollouts, ..StepReport::default() }
    }

    fn rollout(&mut self, own: &Sampled, task: usize, group: usize) -> RolloutReport {
        let style = Style::all().nth(own.style).unwrap();
        let right = own.answer == 0;
        let (completion, tokens) = self.text(style, own.answer, task);
        let (reward, parts) = self.reward(style, right);
        let nats = entropy(&own.style_shares) + entropy(&own.answer_shares);
        RolloutReport {
            task: format!("task-{task}"),
            group: group as u64,
            completion,
            tokens,
            truncated: style.filler + 1 == FILLERS,
            reward: Some(reward),
            parts: parts.into_iter().map(Some).collect(),
            correct: self.setup.judged.then(|| f64::from(u8::from(right))),
            entropy: nats / tokens as f64,
            ..RolloutReport::default()
        }
    }

    fn learn(&mut self, sampled: &[Sampled], advantages: &[f64]) {
        let rate = self.setup.learning_rate / sampled.len() as f64;
        for (own, advantage) in sampled.iter().zip(advantages) {
            let gain = rate * advantage;
            for (at, (logit, share)) in self.styles.iter_mut().zip(&own.style_shares).enumerate() {
                *logit += gain * (f64::from(u8::from(at == own.style)) - share);
            }
            let logits = self.answers[own.kind].iter_mut().zip(&own.answer_shares);
            for (at, (logit, share)) in logits.enumerate() {
                // A kind of task is seen once in so many groups.
                let delta = f64::from(u8::from(at == own.answer)) - share;
                *logit += gain * KINDS as f64 / 3.0 * delta;
            }
            self.shared += gain * (f64::from(u8::from(own.answer == 0)) - own.answer_shares[0]);
        }
    }

    /// Greedy answers to the tasks that are held out.
    pub(crate) fn evaluate(&self) -> EvaluationReport {
        let mut tasks_of = Draws(4711);
        let shares = softmax(&self.styles);
        let best = (0..STYLES).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap();
        let style = Style::all().nth(best).unwrap();
        let task = |at: usize| {
            let (kind, harder) = (at % KINDS, 0.7 * tasks_of.normal());
            let mut logits = self.answers[kind].clone();
            logits[0] += self.shared - self.cost(style) - harder;
            let right = logits.iter().skip(1).all(|logit| *logit < logits[0]);
            let correct = Some(f64::from(u8::from(right)));
            TaskEvaluation { id: format!("held-{at}"), correct, ..TaskEvaluation::default() }
        };
        let tasks: Vec<TaskEvaluation> = (0..self.setup.held_out).map(task).collect();
        let accuracy =
            tasks.iter().filter_map(|task| task.correct).sum::<f64>() / tasks.len().max(1) as f64;
        EvaluationReport { step: self.step, accuracy, tasks, ..EvaluationReport::default() }
    }
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sizes: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f64 = sizes.iter().sum();
    sizes.iter().map(|size| size / sum).collect()
}

fn entropy(shares: &[f64]) -> f64 {
    shares.iter().filter(|share| **share > 0.0).map(|share| -share * share.ln()).sum()
}
