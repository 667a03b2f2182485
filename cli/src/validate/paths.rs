//! Which members of what they are given scripts name: `meta.kind`, `sample["meta"].get("kind")`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use assay::verifiers::Sample;
use serde_json::Value;

use super::words::{Language, Token, Word};

/// A path that a script names, from a root on.
pub(super) type Path = Vec<Step>;

/// One name of a path, and its bytes in the source.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) at: Range<usize>,
    /// It may be missing where it is read so: `.get("a")`, `?.a`.
    is_optional: bool,
}

/// Names of a path, from its root on.
pub(super) type Names = Vec<String>;

/// A parameter of a function of Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) at: Range<usize>,
    pub(super) has_default: bool,
    /// It stands in its place in a call, and is neither `*args` nor behind such.
    pub(super) is_by_place: bool,
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
    let starts = words.starts(roots, decides);
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

/// What a sample has in the column of `meta` or in the reference where a path begins, and the rest of the path.
/// `None` for a path of something else.
pub(super) fn column<'s, 'p>(
    path: &'p [Step],
    sample: &'s Sample,
) -> Option<(Option<&'s Value>, &'p [Step])> {
    let (root, rest) = path.split_first()?;
    match (root.name.as_str(), rest.split_first()) {
        ("meta", Some((first, rest))) => Some((sample.meta().get(&first.name), rest)),
        ("reference", _) => Some((sample.reference(), rest)),
        _ => None,
    }
}

/// Names that a script reads only where they are, or with what to take in their place.
pub(super) fn guarded(
    tokens: &[Token],
    language: Language,
    roots: &[&str],
    decides: &str,
) -> BTreeSet<Names> {
    let words = Words { tokens, language };
    let starts = words.starts(roots, decides);
    let tried = words.tried();
    let mut guarded = BTreeSet::new();
    for at in 0..tokens.len() {
        if let Some((path, end)) = words.path(at, &starts) {
            let is_tried = tried.iter().any(|range| range.contains(&at));
            words.guard((at, end), &path, is_tried, &mut guarded);
        }
    }
    guarded
}

/// The parameters of a function of Python, where the source defines it.
pub(super) fn parameters(tokens: &[Token], function: &str) -> Vec<Parameter> {
    let words = Words { tokens, language: Language::Python };
    words.definition(function).map(|at| words.parameters(at)).unwrap_or_default()
}

/// The words of a script, by their places.
pub(super) struct Words<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) language: Language,
}

impl<'a> Words<'a> {
    /// What variables stand for a path: the roots, and names that are given one.
    pub(super) fn starts(&self, roots: &[&str], decides: &str) -> BTreeMap<String, Path> {
        let bound = self.bound(decides);
        let mut starts: BTreeMap<String, Path> = BTreeMap::new();
        for root in roots.iter().filter(|root| !bound.contains(**root)) {
            starts.insert((*root).to_owned(), Vec::new());
        }
        let assigned = self.assigned();
        for (name, at) in &assigned {
            let is_once = assigned.iter().filter(|(other, _)| other == name).count() == 1;
            if starts.contains_key(*name) && !roots.contains(name) || !is_once {
                continue;
            }
            if let Some((path, end)) = self.path(*at, &starts)
                && self.is_end(end)
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
        starts
    }

    pub(super) fn word(&self, at: usize) -> Option<&'a Word> {
        self.tokens.get(at).map(|token| &token.word)
    }

    pub(super) fn name(&self, at: usize) -> Option<&'a str> {
        match self.word(at)? {
            Word::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_sign(&self, at: usize, sign: char) -> bool {
        self.word(at) == Some(&Word::Sign(sign))
    }

    pub(super) fn before(&self, at: usize) -> Option<&'a Word> {
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
    pub(super) fn bound(&self, decides: &str) -> BTreeSet<String> {
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
    pub(super) fn path(
        &self,
        start: usize,
        starts: &BTreeMap<String, Path>,
    ) -> Option<(Path, usize)> {
        let name = self.name(start)?;
        let is_member =
            self.is_sign(start.wrapping_sub(1), '.') && !self.is_sign(start.wrapping_sub(2), '.');
        let mut path = starts.get(name).filter(|_| !is_member)?.clone();
        if path.is_empty() {
            let at = self.tokens.get(start)?.at.clone();
            path.push(Step { name: name.to_owned(), at, is_optional: false });
        }
        let mut at = start + 1;
        while let Some((step, next)) = self.step(at) {
            path.push(step);
            at = next;
        }
        Some((path, at))
    }

    fn step(&self, at: usize) -> Option<(Step, usize)> {
        let is_elvis = self.is_sign(at, '?');
        let at = if is_elvis { at + 1 } else { at };
        let is_optional = is_elvis || self.language == Language::Python && self.is_sign(at, '.');
        let told = |at: usize, name: &str| {
            let place = self.tokens.get(at)?.at.clone();
            Some(Step { name: name.to_owned(), at: place, is_optional })
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

    /// The place of the word `def` of a function.
    pub(super) fn definition(&self, function: &str) -> Option<usize> {
        let is_own =
            |at: &usize| self.name(*at) == Some("def") && self.name(at + 1) == Some(function);
        (0..self.tokens.len()).find(is_own)
    }

    /// The parameters of the function that is defined at a place.
    fn parameters(&self, at: usize) -> Vec<Parameter> {
        let end = self.closing(at + 2).unwrap_or(self.tokens.len());
        let (mut found, mut depth) = (Vec::<Parameter>::new(), 0_usize);
        let mut is_by_place = true;
        for place in at + 3..end.saturating_sub(1) {
            match self.word(place) {
                Some(Word::Sign('(' | '[' | '{')) => depth += 1,
                Some(Word::Sign(')' | ']' | '}')) => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                Some(Word::Sign('*')) => is_by_place = false,
                Some(Word::Sign('=')) => {
                    if let Some(last) = found.last_mut() {
                        last.has_default = true;
                    }
                }
                Some(Word::Name(name))
                    if matches!(self.before(place), Some(Word::Sign('(' | ',' | '*'))) =>
                {
                    let at = self.tokens.get(place).map_or(0..0, |token| token.at.clone());
                    let name = name.clone();
                    found.push(Parameter { name, at, has_default: false, is_by_place });
                }
                _ => {}
            }
        }
        found
    }

    /// Notes what is guarded where a path is read, from one place to another.
    fn guard(
        &self,
        (start, end): (usize, usize),
        path: &Path,
        is_tried: bool,
        guarded: &mut BTreeSet<Names>,
    ) {
        let names: Names = path.iter().map(|step| step.name.clone()).collect();
        let mut add = |length: usize, more: Option<&String>| {
            let own = names.iter().take(length).chain(more).cloned().collect();
            guarded.insert(own);
        };
        for (at, step) in path.iter().enumerate() {
            if step.is_optional && self.language == Language::Rhai {
                add(at, None);
            }
            if step.is_optional || is_tried {
                add(at + 1, None);
            }
        }
        let whole = path.len();
        let is_default = self.is_sign(end, '?') && self.is_sign(end + 1, '?');
        if is_default || self.is_compared(start, end) || self.is_given(end) {
            add(whole, None);
        }
        if let Some(text) = self.asked_before(start).or_else(|| self.asked_behind(end)) {
            add(whole, Some(text));
        }
    }

    /// Whether what is read is compared with nothing, or asked for its type.
    fn is_compared(&self, start: usize, end: usize) -> bool {
        let is_unit = |at: usize| self.is_sign(at, '(') && self.is_sign(at + 1, ')');
        let is_equals = |at: usize| {
            (self.is_sign(at, '=') || self.is_sign(at, '!')) && self.is_sign(at + 1, '=')
        };
        let behind = is_equals(end) && is_unit(end + 2);
        let before = start >= 4 && is_equals(start - 2) && is_unit(start - 4);
        let is_type = start >= 2 && self.name(start - 2) == Some("type_of");
        self.language == Language::Rhai && (behind || before || is_type)
    }

    /// Whether what is named is given a value.
    fn is_given(&self, end: usize) -> bool {
        self.is_sign(end, '=') && !self.is_sign(end + 1, '=')
    }

    /// The text of `"text" in PATH`.
    fn asked_before(&self, start: usize) -> Option<&'a String> {
        let mut at = start.checked_sub(1).filter(|at| self.name(*at) == Some("in"))?;
        if self.name(at.wrapping_sub(1)) == Some("not") || self.is_sign(at.wrapping_sub(1), '!') {
            at -= 1;
        }
        match self.before(at)? {
            Word::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of `PATH.contains("text")`, `PATH.pop("text", 0)` and the like.
    fn asked_behind(&self, end: usize) -> Option<&'a String> {
        let mut at = end;
        if self.is_sign(at, '.') && self.name(at + 1) == Some("keys") {
            at = self.closing(at + 2)?;
        }
        let asks = ["contains", "setdefault", "pop", "__contains__", "has"];
        let is_asked = self.is_sign(at, '.')
            && self.name(at + 1).is_some_and(|name| asks.contains(&name))
            && self.is_sign(at + 2, '(');
        match self.word(at + 3).filter(|_| is_asked)? {
            Word::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The words that are tried, so that what is missing there is caught.
    fn tried(&self) -> Vec<Range<usize>> {
        let of_rhai = |at: usize| {
            (self.name(at) == Some("try")).then_some(())?;
            Some(at..self.closing(at + 1)?)
        };
        match self.language {
            Language::Rhai => (0..self.tokens.len()).filter_map(of_rhai).collect(),
            Language::Python => {
                (0..self.tokens.len()).filter_map(|at| self.tried_block(at)).collect()
            }
        }
    }

    /// The block of Python that begins at a place and catches that a key is missing.
    fn tried_block(&self, at: usize) -> Option<Range<usize>> {
        let indent = self.indent(at)?;
        let caught = ["KeyError", "LookupError", "Exception", "BaseException"];
        let names = |start: usize| -> Vec<&str> {
            let line = (start + 1..self.tokens.len()).take_while(|at| !self.is_sign(*at, ':'));
            line.filter_map(|at| self.name(at)).collect()
        };
        let is_caught = |own: Vec<&str>| own.iter().any(|name| caught.contains(name));
        let end = self.block_end(at, indent);
        match self.name(at)? {
            "with" => {
                let own = names(at);
                (own.contains(&"suppress") && is_caught(own)).then_some(at..end)
            }
            "try" => {
                let mut next = end;
                while self.name(next) == Some("except") {
                    let own = names(next);
                    if own.is_empty() || is_caught(own) {
                        return Some(at..end);
                    }
                    next = self.block_end(next, indent);
                }
                None
            }
            _ => None,
        }
    }

    /// How far the statement that begins at a place is indented; `None` where none begins.
    pub(super) fn indent(&self, at: usize) -> Option<usize> {
        let start = self.tokens.get(at).filter(|token| token.word != Word::Line)?.at.start;
        match at.checked_sub(1).map(|before| self.tokens.get(before)) {
            None => Some(start),
            Some(before) => {
                let line = before.filter(|token| token.word == Word::Line)?;
                Some(start.saturating_sub(line.at.end))
            }
        }
    }

    /// Where the statement, with its block, ends that begins at a place.
    pub(super) fn block_end(&self, at: usize, indent: usize) -> usize {
        let is_behind = |place: &usize| self.indent(*place).is_some_and(|own| own <= indent);
        (at + 1..self.tokens.len()).find(is_behind).unwrap_or(self.tokens.len())
    }

    /// The place behind the bracket that closes the one at `at`.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
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
    fn names_are_guarded() {
        for (source, language, expected) in [
            ("\"a\" in meta && meta.a > 1", Language::Rhai, vec!["meta.a"]),
            ("meta.a.b ?? 1", Language::Rhai, vec!["meta.a.b"]),
            ("meta?.a", Language::Rhai, vec!["meta", "meta.a"]),
            ("if meta.a != () { meta.a } else { 1 }", Language::Rhai, vec!["meta.a"]),
            ("if meta.contains(\"a\") { meta.a } else { 1 }", Language::Rhai, vec!["meta.a"]),
            ("type_of(meta.a) == \"()\"", Language::Rhai, vec!["meta.a"]),
            ("try { meta.a } catch { 0 } + meta.b", Language::Rhai, vec!["meta.a"]),
            ("meta.a == 1 && meta.b > 2", Language::Rhai, vec![]),
            ("x = 1 if 'a' not in meta else meta['a']", Language::Python, vec!["meta.a"]),
            ("meta['a'].get('b', 1)", Language::Python, vec!["meta.a.b"]),
            (
                "def f():\n    try:\n        meta['a']\n    except (KeyError, ValueError):\n        pass\n    meta['b']\n",
                Language::Python,
                vec!["meta.a"],
            ),
            ("try:\n    meta['a']\nexcept ValueError:\n    pass\n", Language::Python, vec![]),
            (
                "with suppress(KeyError):\n    meta['a']\nmeta['b']",
                Language::Python,
                vec!["meta.a"],
            ),
            (
                "meta['a'] = 1\nif 'b' in meta.keys(): pass",
                Language::Python,
                vec!["meta.a", "meta.b"],
            ),
        ] {
            let all = guarded(&words(source, language), language, &["meta"], "reward");
            let all: Vec<String> = all.iter().map(|names| names.join(".")).collect();
            let (all, root) = (all.iter().map(String::as_str), "meta");
            let all: Vec<&str> =
                all.filter(|own| *own != root || expected.contains(&root)).collect();
            assert_eq!(all, expected, "{source}");
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
        let names: Vec<String> =
            parameters(&tokens, "grade").into_iter().map(|own| own.name).collect();
        assert_eq!(names, ["sample", "item"]);
        assert!(parameters(&tokens, "reward").is_empty());
    }
}
