//! Sentences about what a program gives, and headings: "The output of the code is", "### Output".

use assay_verifiers::language::program;

/// Headings that are tried, and places for each verb, the last one first.
const TRIED_MAX: usize = 32;
/// Bytes before a verb that are read.
const CLAUSE_BYTES_MAX: usize = 160;

/// Where an answer may begin in a text in lower case: after a heading, and after the verb of a sentence
/// whose subject is the output of a program.
pub(super) fn program(lower: &str) -> impl Iterator<Item = usize> {
    let names_program = |of: &str| {
        of.split(|c: char| !c.is_alphabetic()).any(|word| program::PROGRAMS.contains(&word))
    };
    headings(lower).chain(subjects(lower, names_program))
}

/// The same, where the subject is that of a call: "The result of f(1) is".
pub(super) fn call(lower: &str) -> impl Iterator<Item = usize> {
    let names_call = |of: &str| {
        let open = of.find('(').and_then(|at| of.get(..at));
        open.is_some_and(|name| name.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    subjects(lower, names_call)
}

fn subjects(lower: &str, names: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
    let verbs = program::VERBS.iter().flat_map(|verb| lower.rmatch_indices(verb).take(TRIED_MAX));
    verbs.filter_map(move |(at, verb)| {
        let near = lower.ceil_char_boundary(at.saturating_sub(CLAUSE_BYTES_MAX));
        let clause = lower.get(near..at)?.rsplit(['\n', ';', '!', '?']).next()?;
        let clause = clause.rsplit(". ").next()?;
        let of = program::NOUNS.iter().find_map(|noun| {
            let (_, rest) = clause.rsplit_once(noun)?;
            let rest = rest.trim_start();
            program::JOINS.iter().find_map(|join| rest.strip_prefix(join))
        })?;
        let outside = of.split('(').next()?;
        let is_plain = !program::ASIDES.iter().any(|aside| outside.contains(aside));
        (is_plain && names(of)).then_some(at + verb.len())
    })
}

fn headings(lower: &str) -> impl Iterator<Item = usize> {
    let ends = lower.rmatch_indices('\n').filter_map(move |(at, _)| {
        let line = lower.get(..at)?.rsplit('\n').next()?;
        let bare = line.trim_matches(|c: char| c.is_whitespace() || "#*:_".contains(c));
        let is_marked = line.trim_start().starts_with(['#', '*', '_']);
        (is_marked && program::HEADINGS.contains(&bare)).then_some(at + 1)
    });
    ends.take(TRIED_MAX)
}
