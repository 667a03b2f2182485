//! An assignment of values to variables, held to a list of constraints.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde_json::Value;

/// A value of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assigned {
    /// True or false.
    Bit(bool),
    /// A whole number.
    Number(i64),
    /// Anything else, in small letters.
    Text(String),
}

/// The values of variables.
pub type ValuesByName = BTreeMap<String, Assigned>;

/// A problem: variables, their domains, and what must hold.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The variables with their domains; an empty domain is anything.
    domains: BTreeMap<String, BTreeSet<Assigned>>,
    /// Who says the statements, in their order.
    speakers: Vec<&'a str>,
    /// The words for one who tells the truth, and for one who does not.
    roles: [Assigned; 2],
    constraints: Vec<&'a Value>,
    statements: Vec<&'a Value>,
    clauses: Vec<&'a Value>,
}

/// Why a constraint has no truth value.
#[derive(Debug)]
pub enum Halt<E> {
    /// It is not a constraint.
    Bad(String),
    /// What `pay` returned.
    Pay(E),
}

/// What is wrong with a name.
const NAMELESS: &str = "the name of a variable is a text";
/// How deep constraints nest.
const DEPTH_MAX: usize = 64;

/// A value as JSON has it. Texts lose case, `_` and blanks around them.
fn assigned(value: &Value) -> Option<Assigned> {
    match value {
        Value::Bool(bit) => Some(Assigned::Bit(*bit)),
        // `1.0` is 1.
        Value::Number(number) => {
            let shown = number.to_string();
            shown.strip_suffix(".0").unwrap_or(&shown).parse().ok().map(Assigned::Number)
        }
        Value::String(text) => Some(plain(text)),
        _ => None,
    }
}

/// A value as a text has it: a whole number, a truth value, or a text.
fn plain(text: &str) -> Assigned {
    let text = text.trim().trim_matches(['"', '\'', '*', '`']).replace('_', " ").to_lowercase();
    match (text.as_str(), text.parse()) {
        (_, Ok(number)) => Assigned::Number(number),
        ("true", _) => Assigned::Bit(true),
        ("false", _) => Assigned::Bit(false),
        _ => Assigned::Text(text),
    }
}

/// A truth value: of words too, and of 0 and 1.
fn bit(value: &Assigned) -> Option<bool> {
    match value {
        Assigned::Bit(bit) => Some(*bit),
        Assigned::Number(0) => Some(false),
        Assigned::Number(1) => Some(true),
        Assigned::Text(word) => {
            let known = matches!(word.as_str(), "yes" | "t");
            (known || matches!(word.as_str(), "no" | "f")).then_some(known)
        }
        Assigned::Number(_) => None,
    }
}

impl<'a> Problem<'a> {
    /// The problem of a description: `variables`, a list of names or an object from names to domains (a
    /// list of values, `{"range": [first, last]}`, or `"bool"`), and `constraints`; or `clauses` of
    /// whole numbers as in DIMACS; or `names` and `statements`, each of which is true where the one of
    /// that name tells the truth; `knight_knave_terms` has other words for them.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(value: &'a Value) -> Result<Self, String> {
        let list = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
        let all = |key: &str| list(key).collect::<Vec<&Value>>();
        let named = |key: &str| list(key).map(Value::as_str).collect::<Option<Vec<&str>>>();
        let mut domains = BTreeMap::new();
        for name in named("variables").ok_or(NAMELESS)? {
            domains.insert(name.to_owned(), BTreeSet::new());
        }
        let speakers = named("names").ok_or(NAMELESS)?;
        domains.extend(speakers.iter().map(|name| ((*name).to_owned(), bits())));
        for (name, own) in value.get("variables").and_then(Value::as_object).into_iter().flatten() {
            domains.insert(name.clone(), domain(own)?);
        }
        for literal in list("clauses").filter_map(Value::as_array).flatten() {
            let number = literal.as_i64().filter(|number| *number != 0);
            let number = number.ok_or("a literal is a whole number other than 0")?;
            domains.insert(number.unsigned_abs().to_string(), bits());
        }
        for key in ["constraints", "clauses", "statements", "names"] {
            if value.get(key).is_some_and(|own| !own.is_array() && !own.is_null()) {
                return Err(format!("`{key}` is not a list"));
            }
        }
        for rule in list("constraints").chain(list("statements")) {
            let operator = rule.get(0).and_then(Value::as_str).and_then(operands_of);
            let is_name = rule.as_str().is_some_and(|name| domains.contains_key(name));
            if operator.is_none() && !is_name {
                return Err(format!("a constraint is a list with an operator first: {rule}"));
            }
        }
        let statements = all("statements");
        if statements.len() != speakers.len() {
            return Err("there are not as many `statements` as `names`".to_owned());
        }
        let (constraints, clauses) = (all("constraints"), all("clauses"));
        let role = |key: &str| {
            let word = value.get("knight_knave_terms").and_then(|terms| terms.get(key)?.as_str());
            plain(word.unwrap_or(key))
        };
        let roles = [role("knight"), role("knave")];
        let problem = Self { domains, speakers, roles, constraints, statements, clauses };
        match problem.rules() {
            0 => Err("there are neither constraints nor clauses nor statements".to_owned()),
            _ => Ok(problem),
        }
    }

    /// How many constraints there are.
    pub fn rules(&self) -> usize {
        self.constraints.len() + self.statements.len() + self.clauses.len()
    }

    /// The assignment that a text gives: an object of JSON, `name: value`, `name = value` or `name is a
    /// value` in lines, between commas or "and", or the literals of clauses. A second value that differs from
    /// the first voids a name. Linear in the text, times the logarithm of the names.
    pub fn read<'t>(&self, text: &'t str) -> ValuesByName {
        let mut found: BTreeMap<&str, Option<Assigned>> = BTreeMap::new();
        let own: BTreeMap<String, &str> =
            self.domains.keys().map(|name| (name.to_lowercase(), name.as_str())).collect();
        let known = |name: &str| {
            let name = name.trim().trim_start_matches(['-', '*', ' ']);
            own.get(&name.trim_matches(['"', '\'', '*', '`']).to_lowercase()).copied()
        };
        let mut put = |name: &str, value: Assigned| {
            if let Some(name) = known(name) {
                let kept = found.entry(name).or_insert_with(|| Some(value.clone()));
                kept.take_if(|kept| *kept != value);
            }
        };
        let json = serde_json::from_str::<Value>(text.trim()).ok();
        if let Some(map) = json.as_ref().and_then(Value::as_object) {
            for (name, value) in map {
                if let Some(value) = assigned(value) {
                    put(name, value);
                }
            }
        } else if !self.clauses.is_empty() && !text.contains([':', '=']) {
            let words = text.split(|c: char| c.is_whitespace() || ",[]".contains(c));
            for literal in words.filter_map(|word| word.parse::<i64>().ok()) {
                put(&literal.unsigned_abs().to_string(), Assigned::Bit(literal > 0));
            }
        } else {
            let split =
                |part: &'t str| part.split_once([':', '=']).or_else(|| part.split_once(" is "));
            let is_pair =
                |part: &'t str| split(part).is_some_and(|(name, _)| known(name).is_some());
            let parts =
                text.trim_matches(['{', '}', ' ', '\n']).split(['\n', ',', ';']).map(|part| {
                    let part = part.trim().trim_end_matches('.');
                    let part = part.strip_prefix("and ").unwrap_or(part);
                    // "The answer: red = 1"
                    let label = part.split_once(':').filter(|(label, rest)| {
                        label.to_lowercase().contains("answer") && is_pair(rest)
                    });
                    label.map_or(part, |(_, rest)| rest)
                });
            let each = parts.flat_map(|part| {
                let several: Vec<&str> = part.split(" and ").collect();
                if several.iter().all(|one| is_pair(one)) { several } else { vec![part] }
            });
            for part in each {
                if let Some((name, value)) = split(part) {
                    let value = value.trim();
                    let articles = ["a ", "an ", "the "];
                    let bare = articles.iter().find_map(|word| value.strip_prefix(word));
                    put(name, plain(bare.unwrap_or(value)));
                }
            }
        }
        found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// The first variable without a value of its domain. Truth values that are words become bits.
    pub fn unassigned(&self, values: &mut ValuesByName) -> Option<&str> {
        let bits = bits();
        for (name, domain) in &self.domains {
            let own = values.get_mut(name);
            let is_sound = match own {
                Some(own) if *domain == bits => {
                    let role = self.roles.iter().position(|role| role == own).map(|at| at == 0);
                    role.or_else(|| bit(own)).is_some_and(|bit| {
                        *own = Assigned::Bit(bit);
                        true
                    })
                }
                Some(own) => domain.is_empty() || domain.contains(own),
                None => false,
            };
            if !is_sound {
                return Some(name);
            }
        }
        None
    }

    /// How many constraints hold, and the first that does not: constraints come first, then
    /// statements and clauses. Every variable has a value.
    ///
    /// # Errors
    /// What is not a constraint, and what `pay` returns.
    pub fn hold<E>(
        &self,
        values: &ValuesByName,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(usize, Option<usize>), Halt<E>> {
        let mut rules = Rules { values, speakers: &self.speakers, pay };
        let mut truths = Vec::with_capacity(self.rules());
        for rule in &self.constraints {
            truths.push(rules.truth(rule)?);
        }
        for (name, statement) in self.speakers.iter().zip(&self.statements) {
            let said = rules.truth(statement)?;
            truths.push(values.get(*name).and_then(bit) == Some(said));
        }
        for clause in &self.clauses {
            truths.push(rules.clause(clause)?);
        }
        let holding = truths.iter().filter(|holds| **holds).count();
        Ok((holding, truths.iter().position(|holds| !holds)))
    }
}

/// What rules are computed with.
struct Rules<'r, E> {
    values: &'r ValuesByName,
    speakers: &'r [&'r str],
    pay: &'r mut dyn FnMut(u64) -> Result<(), E>,
}

impl<E> Rules<'_, E> {
    fn clause(&mut self, rule: &Value) -> Result<bool, Halt<E>> {
        let literals = rule.as_array().ok_or_else(|| bad("a clause is a list", rule))?;
        (self.pay)(100 * literals.len() as u64).map_err(Halt::Pay)?;
        let holds = |literal: &Value| {
            let number = literal.as_i64()?;
            let value = self.values.get(&number.unsigned_abs().to_string())?;
            Some(bit(value)? == (number > 0))
        };
        Ok(literals.iter().any(|literal| holds(literal) == Some(true)))
    }

    /// Whether a constraint holds: one without a value does not.
    fn truth(&mut self, rule: &Value) -> Result<bool, Halt<E>> {
        Ok(self.value(rule, 0)?.as_ref().and_then(bit) == Some(true))
    }

    /// The value of a constraint. `None` where the assigned values are of a wrong kind, or leave 64 bits.
    fn value(&mut self, rule: &Value, depth: usize) -> Result<Option<Assigned>, Halt<E>> {
        (self.pay)(100).map_err(Halt::Pay)?;
        let parts = match rule {
            Value::Array(parts) => parts,
            Value::String(name) => {
                return Ok(Some(self.values.get(name).cloned().unwrap_or_else(|| plain(name))));
            }
            other => {
                let value = assigned(other).ok_or_else(|| bad("this is not a value", rule))?;
                return Ok(Some(value));
            }
        };
        let Some((Value::String(operator), arguments)) = parts.split_first() else {
            return Err(bad("a constraint begins with an operator", rule));
        };
        if depth > DEPTH_MAX {
            return Err(bad("it nests too deep", rule));
        }
        if let ("lying" | "telling-truth", [who]) = (operator.as_str(), arguments) {
            let at = who.as_u64().and_then(|at| usize::try_from(at).ok());
            let name = at.and_then(|at| self.speakers.get(at).copied()).or_else(|| who.as_str());
            let own = name.and_then(|name| self.values.get(name)).and_then(bit);
            let own = own.ok_or_else(|| bad("it speaks of nobody", rule))?;
            return Ok(Some(Assigned::Bit(own == (operator == "telling-truth"))));
        }
        // A single list that is not a constraint is the operands.
        let list = match arguments {
            [Value::Array(inner)]
                if inner.first().and_then(Value::as_str).and_then(operands_of).is_none() =>
            {
                inner
            }
            _ => arguments,
        };
        if !operands_of(operator).is_some_and(|count| count.contains(&list.len())) {
            return Err(bad("its operator or the number of its operands is wrong", rule));
        }
        let mut operands = Some(Vec::with_capacity(list.len()));
        for argument in list {
            let value = self.value(argument, depth + 1)?;
            operands = operands.zip(value).map(|(mut all, value)| {
                all.push(value);
                all
            });
        }
        (self.pay)(100 * list.len() as u64).map_err(Halt::Pay)?;
        Ok(operands.and_then(|operands| apply(operator, &operands)))
    }
}

fn bad<E>(why: &str, rule: &Value) -> Halt<E> {
    let text: String = rule.to_string().chars().take(200).collect();
    Halt::Bad(format!("{why}: {text}"))
}

fn bits() -> BTreeSet<Assigned> {
    [Assigned::Bit(false), Assigned::Bit(true)].into()
}

fn domain(value: &Value) -> Result<BTreeSet<Assigned>, String> {
    const BAD: &str = "a domain is a list of values, `{\"range\": [first, last]}` or \"bool\"";
    if value.as_str() == Some("bool") {
        return Ok(bits());
    }
    if let Some([first, last]) = value.get("range").and_then(Value::as_array).map(Vec::as_slice) {
        let range = first.as_i64().zip(last.as_i64()).filter(|(first, last)| {
            last.checked_sub(*first).is_some_and(|width| (0..10_000).contains(&width))
        });
        let (first, last) = range.ok_or(BAD)?;
        return Ok((first..=last).map(Assigned::Number).collect());
    }
    let values = value.as_array().filter(|values| !values.is_empty()).ok_or(BAD)?;
    values.iter().map(assigned).collect::<Option<_>>().ok_or_else(|| BAD.to_owned())
}

/// How many operands an operator takes. `None` for what is not one.
fn operands_of(operator: &str) -> Option<RangeInclusive<usize>> {
    Some(match operator {
        "not" | "abs" | "lying" | "telling-truth" => 1..=1,
        "-" => 1..=2,
        "=" | "!=" | "<" | "<=" | ">" | ">=" | "->" | "<->" | "<=>" | "xor" | "mod" | "says"
        | "adjacent" | "left_of" | "before" => 2..=2,
        "and" | "or" | "+" | "*" | "all_different" | "exactly" | "at_least" | "at_most" => {
            1..=usize::MAX
        }
        _ => return None,
    })
}

/// The value of an operator. `None` where operands are of a wrong kind or leave 64 bits.
fn apply(operator: &str, operands: &[Assigned]) -> Option<Assigned> {
    let numbers = || -> Option<Vec<i64>> {
        let number = |value: &Assigned| match value {
            Assigned::Number(number) => Some(*number),
            Assigned::Bit(bit) => Some(i64::from(*bit)),
            Assigned::Text(_) => None,
        };
        operands.iter().map(number).collect()
    };
    let truths = |values: &[Assigned]| values.iter().map(bit).collect::<Option<Vec<bool>>>();
    let truth = match (operator, operands) {
        ("=", [one, two]) => one == two || bit(one).is_some() && bit(one) == bit(two),
        ("!=", [_, _]) => apply("=", operands)? == Assigned::Bit(false),
        ("not", [one]) => !bit(one)?,
        ("->", [one, two]) => !bit(one)? || bit(two)?,
        ("<->" | "<=>" | "says", [one, two]) => bit(one)? == bit(two)?,
        ("and", _) => truths(operands)?.into_iter().all(|own| own),
        ("or", _) => truths(operands)?.into_iter().any(|own| own),
        ("xor", [one, two]) => bit(one)? != bit(two)?,
        ("all_different", _) => operands.iter().collect::<BTreeSet<_>>().len() == operands.len(),
        ("exactly" | "at_least" | "at_most", [Assigned::Number(due), rest @ ..]) => {
            let holding = truths(rest)?.into_iter().filter(|own| *own).count();
            let holding = i64::try_from(holding).ok()?;
            match operator {
                "exactly" => holding == *due,
                "at_least" => holding >= *due,
                _ => holding <= *due,
            }
        }
        _ => return compute(operator, &numbers()?),
    };
    Some(Assigned::Bit(truth))
}

/// An operator of numbers.
fn compute(operator: &str, numbers: &[i64]) -> Option<Assigned> {
    let truth = match (operator, numbers) {
        ("<" | "before", [one, two]) => one < two,
        ("<=", [one, two]) => one <= two,
        (">", [one, two]) => one > two,
        (">=", [one, two]) => one >= two,
        ("adjacent", [one, two]) => one.abs_diff(*two) == 1,
        ("left_of", [one, two]) => one.checked_add(1)? == *two,
        _ => {
            let sum = |sum: i64, one: &i64| sum.checked_add(*one);
            return Some(Assigned::Number(match (operator, numbers) {
                ("+", _) => numbers.iter().try_fold(0, sum)?,
                ("-", [one]) => one.checked_neg()?,
                ("-", [one, two]) => one.checked_sub(*two)?,
                ("*", _) => numbers.iter().try_fold(1_i64, |all, one| all.checked_mul(*one))?,
                ("abs", [one]) => one.checked_abs()?,
                ("mod", [one, two]) => one.checked_rem_euclid(*two)?,
                _ => return None,
            }));
        }
    };
    Some(Assigned::Bit(truth))
}
