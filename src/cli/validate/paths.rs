//! Which members of what they are given scripts name: `meta.kind`, `sample["meta"].get("kind")`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::words::{Language, Token, Word};

/// A path that a script names, from a root on.
pub(super) type Path = Vec<Step>;

/// One name of a path, and its bytes in the source.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) at: Range<usize>,
}

/// Every path of the source that begins at one of `roots`, also by a variable that stands for such a
/// path. A root that the script uses for something else has none; the parameters of `decides` are none
/// of these uses.
pub(super) fn paths(
    tokens: &[Token],
    language: Language,
    roots: &[&str],
    decides: &str,
) -> Vec<Path> {
    let words = Words { tokens, language };
    let bound = words.bound(decides);
    let mut starts: BTreeMap<String, Path> = BTreeMap::new();
    for root in roots.iter().filter(|root| !bound.contains(**root)) {
        starts.insert((*root).to_owned(), Vec::new());
    }
    let assigned = words.assigned();
    for (name, at) in &assigned {
        let is_once = assigned.iter().filter(|(other, _)| other == name).count() == 1;
        if starts.contains_key(*name) && !roots.contains(name) || !is_once {
            continue;
        }
        if let Some((path, end)) = words.path(*at, &starts)
            && words.is_end(end)
            && !bound.contains(*name)
        {
            starts.insert((*name).to_owned(), path);
        }
    }
    // A root that is given another value is none.
    for root in roots {
        if assigned.iter().any(|(name, _)| name == root) {
            starts.remove(*root);
        }
    }
    let mut found: Vec<Path> = Vec::new();
    for (path, _) in (0..tokens.len()).filter_map(|at| words.path(at, &starts)) {
        // A variable that stands for a path is that path, where it was named first.
        let same = |other: &Path| {
            let places = |path: &Path| path.last().map(|step| step.at.clone());
            places(other) == places(&path) && other.len() == path.len()
        };
        if path.is_empty() || !found.iter().any(same) {
            found.push(path);
        }
    }
    found
}

/// The parameters of a function of Python, where the source defines it.
pub(super) fn parameters(tokens: &[Token], function: &str) -> Vec<String> {
    let words = Words { tokens, language: Language::Python };
    let is_own =
        |at: &usize| words.name(*at) == Some("def") && words.name(at + 1) == Some(function);
    let Some(at) = (0..tokens.len()).find(is_own) else { return Vec::new() };
    words.names_to(at + 3, ')')
}

struct Words<'a> {
    tokens: &'a [Token],
    language: Language,
}

impl<'a> Words<'a> {
    fn word(&self, at: usize) -> Option<&'a Word> {
        self.tokens.get(at).map(|token| &token.word)
    }

    fn name(&self, at: usize) -> Option<&'a str> {
        match self.word(at)? {
            Word::Name(name) => Some(name),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: char) -> bool {
        self.word(at) == Some(&Word::Sign(sign))
    }

    fn before(&self, at: usize) -> Option<&'a Word> {
        self.word(at.checked_sub(1)?)
    }

    /// Whether a statement ends here.
    fn is_end(&self, at: usize) -> bool {
        matches!(self.word(at), None | Some(Word::Line | Word::Sign(';' | '}')))
    }

    /// The names up to a sign, in their order: of parameters, without what they default to.
    fn names_to(&self, start: usize, sign: char) -> Vec<String> {
        let ends = |at: &usize| !self.is_sign(*at, sign) && self.word(*at).is_some();
        let places = (start..self.tokens.len()).take_while(ends);
        let leads = |at: &usize| {
            matches!(self.before(*at), Some(Word::Sign('(' | ',' | '|' | '*') | Word::Line))
                || self.before(*at) == Some(&Word::Name("lambda".to_owned()))
        };
        places.filter(leads).filter_map(|at| self.name(at).map(str::to_owned)).collect()
    }

    /// Names that loops and functions bind, but for the one that decides: what they hold is not told.
    fn bound(&self, decides: &str) -> BTreeSet<String> {
        let mut bound = BTreeSet::new();
        for at in 0..self.tokens.len() {
            match (self.word(at), self.language) {
                (Some(Word::Name(word)), _) if word == "for" => {
                    let is_name = |at: &usize| self.name(*at) != Some("in");
                    let names = (at + 1..self.tokens.len()).take(8).take_while(is_name);
                    bound.extend(names.filter_map(|at| self.name(at).map(str::to_owned)));
                }
                (Some(Word::Name(word)), Language::Rhai) if word == "fn" => {
                    bound.extend(self.names_to(at + 3, ')'));
                }
                // Between two signs of "or" stands more than a name.
                (Some(Word::Sign('|')), Language::Rhai)
                    if self.is_sign(at + 2, '|') || self.is_sign(at + 2, ',') =>
                {
                    bound.extend(self.names_to(at + 1, '|'));
                }
                (Some(Word::Name(word)), Language::Python) if word == "lambda" => {
                    bound.extend(self.names_to(at + 1, ':'));
                }
                (Some(Word::Name(word)), Language::Python)
                    if word == "def" && self.name(at + 1) != Some(decides) =>
                {
                    bound.extend(self.names_to(at + 3, ')'));
                }
                _ => {}
            }
        }
        bound
    }

    /// The names that are given a value, each with the place of that value.
    fn assigned(&self) -> Vec<(&'a str, usize)> {
        let one = |at: usize| {
            let name = self.name(at)?;
            let is_value = self.is_sign(at + 1, '=') && !self.is_sign(at + 2, '=');
            let leads = match self.before(at) {
                None | Some(Word::Line | Word::Sign(';' | '{' | '}' | ':')) => true,
                Some(Word::Name(word)) => word == "let" || word == "const",
                Some(_) => false,
            };
            (is_value && leads).then_some((name, at + 2))
        };
        (0..self.tokens.len()).filter_map(one).collect()
    }

    /// The path that begins at a word, and where it ends. A member that is called is no part of it.
    fn path(&self, start: usize, starts: &BTreeMap<String, Path>) -> Option<(Path, usize)> {
        let name = self.name(start)?;
        let is_member =
            self.is_sign(start.wrapping_sub(1), '.') && !self.is_sign(start.wrapping_sub(2), '.');
        let mut path = starts.get(name).filter(|_| !is_member)?.clone();
        if path.is_empty() {
            path.push(Step { name: name.to_owned(), at: self.tokens.get(start)?.at.clone() });
        }
        let mut at = start + 1;
        while let Some((step, next)) = self.step(at) {
            path.push(step);
            at = next;
        }
        Some((path, at))
    }

    fn step(&self, at: usize) -> Option<(Step, usize)> {
        let at = if self.is_sign(at, '?') { at + 1 } else { at };
        let told = |at: usize, name: &str| {
            let place = self.tokens.get(at)?.at.clone();
            Some(Step { name: name.to_owned(), at: place })
        };
        if self.is_sign(at, '[') {
            let Some(Word::Text(text)) = self.word(at + 1) else { return None };
            return self.is_sign(at + 2, ']').then(|| Some((told(at + 1, text)?, at + 3)))?;
        }
        if !self.is_sign(at, '.') {
            return None;
        }
        let name = self.name(at + 1)?;
        if !self.is_sign(at + 2, '(') {
            let is_read = self.language == Language::Rhai;
            return is_read.then(|| Some((told(at + 1, name)?, at + 2)))?;
        }
        match self.word(at + 3) {
            Some(Word::Text(text)) if name == "get" => {
                Some((told(at + 3, text)?, self.closing(at + 2)?))
            }
            _ => None,
        }
    }

    /// The place behind the bracket that closes the one at `at`.
    fn closing(&self, at: usize) -> Option<usize> {
        let mut open = 0_usize;
        for place in at..self.tokens.len() {
            match self.word(place)? {
                Word::Sign('(' | '[' | '{') => open += 1,
                Word::Sign(')' | ']' | '}') => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 {
                return Some(place + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    fn found(source: &str, language: Language, roots: &[&str]) -> Vec<String> {
        let tokens = words(source, language);
        let all = paths(&tokens, language, roots, "reward");
        let joined = all.iter().map(|path| {
            let names: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
            names.join(".")
        });
        joined.filter(|path| path.contains('.')).collect()
    }

    #[test]
    fn paths_of_rhai_are_found() {
        for (source, expected) in [
            ("meta.kind == \"m\" && meta?.a.b.len() > 1", vec!["meta.kind", "meta.a.b"]),
            (
                "meta[\"a b\"].c // meta.no\n/* meta.no /* */ meta.no */ + \"meta.no\"",
                vec!["meta.a b.c"],
            ),
            ("let m = meta; m.kin ?? 1", vec!["meta.kin"]),
            ("`is ${meta.kind} or not`", vec!["meta.kind"]),
            ("let meta = #{}; meta.kind", vec![]),
            ("[1].map(|meta| meta.kind)", vec![]),
            ("fn f(meta) { meta.kind } f(1)", vec![]),
            ("x.meta.kind + 1.0 + 'a'", vec![]),
            ("meta.get(\"k\").l", vec!["meta.k.l"]),
        ] {
            assert_eq!(found(source, Language::Rhai, &["meta"]), expected, "{source}");
        }
    }

    #[test]
    fn paths_of_python_are_found() {
        for (source, expected) in [
            (
                "def reward(sample):\n    return sample['meta']['kin'] # sample['no']\n",
                vec!["sample.meta.kin"],
            ),
            (
                "def reward(sample):\n    meta = sample[\"meta\"]\n    return meta.get('kin', 0)\n",
                vec!["sample.meta", "sample.meta.kin"],
            ),
            (
                "def reward(sample):\n    x = 'sample[\"no\"]'\n    return sample.get(\n 'a')\n",
                vec!["sample.a"],
            ),
            ("def f(sample):\n    return sample['no']\ndef reward(s):\n    return 1\n", vec![]),
            ("for sample in []:\n    sample['no']\n", vec![]),
            ("sample = {}\nsample['no']\n", vec![]),
        ] {
            assert_eq!(found(source, Language::Python, &["sample"]), expected, "{source}");
        }
        let tokens = words("def grade(sample, item=None):\n    pass", Language::Python);
        assert_eq!(parameters(&tokens, "grade"), ["sample", "item"]);
        assert!(parameters(&tokens, "reward").is_empty());
    }
}
