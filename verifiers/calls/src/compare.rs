//! Calls against the calls that are expected.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value as Json};

use crate::call::Call;
use crate::equal::typed;
use crate::key::Key;
use crate::matching;
use crate::value::{Equality, Object, Value};

/// How the value of an argument is compared with the expected one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Rule {
    /// Equal as JSON: `1` is `1.0`, objects in any order.
    #[default]
    Exact,
    /// The expected value is a list, of which one is equal.
    OneOf,
    /// Lists with equal elements in any order, each as often as expected.
    Set,
    /// Numbers that differ by at most the greater of `abs` and `rel` times the expected one.
    Number {
        /// Share of the expected number.
        rel: f64,
        /// Units.
        abs: f64,
    },
    /// Texts of the same words: letters and digits of any script, in lower case.
    Text,
    /// Any value, or none.
    Any,
    /// Whatever the caller makes of it.
    Other(usize),
}

/// A call that is expected.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'r> {
    /// The tool.
    pub name: &'r str,
    /// The arguments.
    pub arguments: &'r Map<String, Json>,
    /// Calls of a stage come after all calls of earlier stages. One stage is no order.
    pub stage: usize,
}

/// How calls are compared and priced.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// What a call earns whose name alone is right; the rest is shared by its arguments.
    pub name: f64,
    /// How much a missing call counts, relative to one that is there.
    pub missing: f64,
    /// How much a call counts that nothing expects.
    pub extra: f64,
}

impl Default for Prices {
    fn default() -> Self {
        Self { name: 0.0, missing: 1.0, extra: 1.0 }
    }
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// All calls are there with equal arguments, no other call is, and the order is kept.
    pub is_right: bool,
    /// In 0 to 1: the sum over pairs, by the count of pairs and the prices of missing and extra
    /// calls, times `order`.
    pub score: f64,
    /// The pairs: the expected call, the found one, and what the pair earns.
    pub pairs: Vec<(usize, usize, f64)>,
    /// How many expected calls have no pair.
    pub missing: usize,
    /// How many found calls have no pair.
    pub extra: usize,
    /// The mean of what arguments earn, over pairs; 1 without pairs.
    pub arguments: f64,
    /// The share of pairs of stages that stand in order; 1 without such pairs.
    pub order: f64,
}

/// The comparer of an argument: `(tool, argument)` to a rule.
pub type RuleOf<'a> = &'a dyn Fn(&str, &str) -> Rule;

/// The hook behind [`Rule::Other`]: what it was called with, the expected value and the found one,
/// to a number in 0 to 1.
pub type Other<'a, E> = &'a mut dyn FnMut(usize, &Json, &Value) -> Result<f64, E>;

/// Compares calls. Calls of one name are matched so that the sum over pairs is greatest; `pay` is
/// asked for each pair by the size of its arguments, and for the matching.
///
/// # Errors
/// What `pay` or `other` refuses.
pub fn compare<E>(
    expected: &[Expected<'_>],
    found: &[Call],
    rule: RuleOf<'_>,
    prices: &Prices,
    other: Other<'_, E>,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Comparison, E> {
    pay(4 * (expected.len() + found.len()) as u64)?;
    let mut groups: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (at, call) in expected.iter().enumerate() {
        groups.entry(call.name).or_default().0.push(at);
    }
    for (at, call) in found.iter().enumerate() {
        if let Some(group) = groups.get_mut(call.name.as_str()) {
            group.1.push(at);
        }
    }
    let mut pairs = Vec::new();
    for (wanted, given) in groups.values() {
        pairs.extend(matched((expected, wanted), (found, given), rule, other, pay)?);
    }
    pairs.sort_unstable_by_key(|(one, two, _)| (*one, *two));
    Ok(summary(expected, found.len(), prices, pairs))
}

/// The pairs of the calls of one name. Of many calls, what equal ones earn is computed once. Where values are
/// compared exactly, equal calls are paired first: the share of different arguments is a distance with a
/// triangle inequality, so that no other assignment has a greater sum.
#[expect(clippy::indexing_slicing, reason = "places are those of calls, and classes have members")]
fn matched<E>(
    (expected, wanted): (&[Expected<'_>], &[usize]),
    (found, given): (&[Call], &[usize]),
    rule: RuleOf<'_>,
    other: Other<'_, E>,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Vec<(usize, usize, f64)>, E> {
    let (mut rows, mut columns) = (Classes::alone(wanted), Classes::alone(given));
    let mut pairs = Vec::new();
    if wanted.len().min(given.len()) > ALONE_MAX {
        let own = |at: usize| match Value::from(&Json::Object(expected[at].arguments.clone())) {
            Value::Object(own) => Key::of(&own, &[]),
            other => Key::of(&Object::default(), &[other]),
        };
        rows = Classes::of(wanted, &own, pay)?;
        let own = |at: usize| Key::of(&found[at].arguments, &found[at].positional);
        columns = Classes::of(given, &own, pay)?;
        let is_exact = |at: &usize| {
            let Expected { name, arguments, .. } = &expected[*at];
            arguments.keys().all(|argument| rule(name, argument) == Rule::Exact)
        };
        let are_exact = rows.are_plain && columns.are_plain && wanted.iter().all(is_exact);
        let are_free = |at: &usize| {
            let Call { name, arguments, .. } = &found[*at];
            arguments.iter().any(|(argument, _)| rule(name, argument) == Rule::Any)
        };
        if are_exact && !given.iter().any(are_free) {
            pairs = rows.take_equal(&mut columns);
        }
    }
    let mut weights = Vec::new();
    for one in &rows.members {
        for two in &columns.members {
            weights.push(arguments(&expected[*one], &found[*two], rule, other, pay)?);
        }
    }
    let (rows, columns, wide) = (rows.places, columns.places, columns.members.len());
    let weight = |row: usize, column: usize| weights[rows[row].1 * wide + columns[column].1];
    let assigned = matching::assign((rows.len(), columns.len()), &weight, pay)?;
    let pair = |(row, column): (usize, Option<usize>)| {
        column.map(|column| (rows[row].0, columns[column].0, weight(row, column)))
    };
    pairs.extend(assigned.into_iter().enumerate().filter_map(pair));
    Ok(pairs)
}

/// Groups of calls of at most this size are not searched for equal ones.
const ALONE_MAX: usize = 16;

/// Calls, equal ones in one class.
struct Classes {
    /// The place of each call, and its class.
    places: Vec<(usize, usize)>,
    /// A call of each class.
    members: Vec<usize>,
    /// The class by the key of its calls.
    known: BTreeMap<String, usize>,
    are_plain: bool,
}

impl Classes {
    /// Each call in a class of its own.
    fn alone(places: &[usize]) -> Self {
        Self {
            places: places.iter().enumerate().map(|(class, at)| (*at, class)).collect(),
            members: places.to_vec(),
            known: BTreeMap::new(),
            are_plain: false,
        }
    }

    fn of<E>(
        places: &[usize],
        key: &dyn Fn(usize) -> Key,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut own = Self {
            places: Vec::new(),
            members: Vec::new(),
            known: BTreeMap::new(),
            are_plain: true,
        };
        for at in places {
            let key = key(*at);
            pay(40 + 2 * key.text.len() as u64)?;
            own.are_plain &= key.is_plain;
            let class = *own.known.entry(key.text).or_insert(own.members.len());
            if class == own.members.len() {
                own.members.push(*at);
            }
            own.places.push((*at, class));
        }
        Ok(own)
    }

    /// Takes out the calls that are equal to calls of others, in their order, and gives the pairs.
    #[expect(clippy::indexing_slicing, reason = "classes have members and queues")]
    fn take_equal(&mut self, others: &mut Self) -> Vec<(usize, usize, f64)> {
        let mut queues = vec![VecDeque::new(); others.members.len()];
        for (at, class) in &others.places {
            queues[*class].push_back(*at);
        }
        let mut twins = vec![None; self.members.len()];
        for (key, class) in &self.known {
            twins[*class] = others.known.get(key).copied();
        }
        let mut pairs = Vec::new();
        self.places.retain(|(at, class)| {
            let two = twins[*class].and_then(|twin: usize| queues[twin].pop_front());
            pairs.extend(two.map(|two| (*at, two, 1.0)));
            two.is_none()
        });
        let taken: BTreeSet<usize> = pairs.iter().map(|(_, two, _)| *two).collect();
        others.places.retain(|(at, _)| !taken.contains(at));
        self.tidy();
        others.tidy();
        pairs
    }

    /// Leaves out classes without calls.
    fn tidy(&mut self) {
        let mut new = BTreeMap::new();
        let mut members = Vec::new();
        for (at, class) in &mut self.places {
            *class = *new.entry(*class).or_insert_with(|| {
                members.push(*at);
                members.len() - 1
            });
        }
        self.members = members;
    }
}

fn summary(
    expected: &[Expected<'_>],
    found: usize,
    prices: &Prices,
    mut pairs: Vec<(usize, usize, f64)>,
) -> Comparison {
    let (missing, extra) = (expected.len() - pairs.len(), found - pairs.len());
    let order = order(expected, &pairs);
    let whole: f64 = pairs.iter().map(|(.., weight)| weight).sum();
    let is_right =
        missing == 0 && extra == 0 && order >= 1.0 && pairs.iter().all(|(.., own)| *own >= 1.0);
    let arguments = if pairs.is_empty() { 1.0 } else { whole / count(pairs.len()) };
    for (.., weight) in &mut pairs {
        *weight = prices.name + (1.0 - prices.name) * *weight;
    }
    let sum: f64 = pairs.iter().map(|(.., weight)| weight).sum();
    let due = count(pairs.len()) + prices.missing * count(missing) + prices.extra * count(extra);
    let score = match (expected.is_empty(), found) {
        (true, 0) => 1.0,
        _ if due > 0.0 => (sum / due * order).clamp(0.0, 1.0),
        _ => 0.0,
    };
    Comparison { is_right, score, pairs, missing, extra, arguments, order }
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls are far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

/// The share of pairs of different stages that stand in order.
fn order(expected: &[Expected<'_>], pairs: &[(usize, usize, f64)]) -> f64 {
    let mut stages: Vec<(usize, usize)> =
        pairs.iter().filter_map(|(one, two, _)| Some((expected.get(*one)?.stage, *two))).collect();
    let wrong = matching::inversions(&mut stages);
    let of = |number: usize| number * number.saturating_sub(1) / 2;
    let same: usize = stages.chunk_by(|one, two| one.0 == two.0).map(|chunk| of(chunk.len())).sum();
    let all = of(stages.len()) - same;
    if all == 0 {
        1.0
    } else {
        1.0 - count(usize::try_from(wrong).unwrap_or(usize::MAX)) / count(all)
    }
}

/// What the arguments of a pair earn: the mean over the arguments of both.
fn arguments<E>(
    expected: &Expected<'_>,
    found: &Call,
    rule: RuleOf<'_>,
    other: Other<'_, E>,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let own = found.arguments.len();
    pay(8 + 4 * (expected.arguments.len() * (own + 1) + own) as u64)?;
    let is_free = |name: &str| rule(expected.name, name) == Rule::Any;
    let (mut sum, mut all) = (0.0, 0_usize);
    for (name, wanted) in expected.arguments {
        all += 1;
        sum += match (rule(expected.name, name), found.arguments.get(name)) {
            (Rule::Any, _) => 1.0,
            (_, None) => 0.0,
            (rule, Some(value)) => {
                pay(2 * value.size())?;
                same(rule, wanted, value, other, pay)?
            }
        };
    }
    let names = found.arguments.iter().map(|(name, _)| name);
    all += names.filter(|name| !expected.arguments.contains_key(*name) && !is_free(name)).count();
    all += found.positional.len();
    Ok(if all == 0 { 1.0 } else { sum / count(all) })
}

fn same<E>(
    rule: Rule,
    wanted: &Json,
    value: &Value,
    other: Other<'_, E>,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let exact = |value: &Value, wanted: &Json| value.is(wanted, Equality::Json);
    let is_same = match (rule, wanted) {
        (Rule::Any, _) => true,
        (Rule::Other(which), _) => {
            return other(which, wanted, value).map(|number| number.clamp(0.0, 1.0));
        }
        (Rule::OneOf, Json::Array(options)) => {
            pay(options.len() as u64 * value.size())?;
            options.iter().any(|option| exact(value, option))
        }
        (Rule::Set, Json::Array(wanted)) => {
            let raw = if let Value::Raw(raw) = value { typed(raw) } else { None };
            let elements = raw.as_ref().unwrap_or(value).as_list();
            pay(wanted.len() as u64 * value.size())?;
            elements.is_some_and(|elements| is_same_set(wanted, elements))
        }
        (Rule::Number { rel, abs }, Json::Number(wanted)) => {
            let raw = if let Value::Raw(raw) = value { typed(raw) } else { None };
            let number = raw.as_ref().unwrap_or(value).as_f64();
            wanted.as_f64().zip(number).is_some_and(|(wanted, number)| {
                (number - wanted).abs() <= (rel * wanted.abs()).max(abs)
            })
        }
        (Rule::Text, Json::String(wanted)) => {
            pay(wanted.len() as u64)?;
            value.as_text().is_some_and(|text| text == wanted || is_same_words(text, wanted))
        }
        (Rule::Exact | Rule::OneOf | Rule::Set | Rule::Number { .. } | Rule::Text, wanted) => {
            exact(value, wanted)
        }
    };
    Ok(if is_same { 1.0 } else { 0.0 })
}

fn is_same_set(wanted: &[Json], elements: &[Value]) -> bool {
    let mut left: Vec<&Json> = wanted.iter().collect();
    wanted.len() == elements.len()
        && elements.iter().all(|element| {
            let at = left.iter().position(|other| element.is(other, Equality::Json));
            at.map(|at| left.swap_remove(at)).is_some()
        })
}

/// Whether two texts have the same words, of which there are some.
fn is_same_words(one: &str, two: &str) -> bool {
    let words = |text: &str| {
        let words =
            text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>()
    };
    let own = words(one);
    !own.is_empty() && own == words(two)
}
