//! A rubric that is being read: names for criteria that have none, and the places in the file.

use std::collections::BTreeMap;

use super::place::At;
use crate::rubric::{Criterion, Rubric, RubricError};

/// The longest name that is made of a title.
const NAME_CHARS_MAX: usize = 40;

/// A rubric with the place of each criterion in the file that it is read from.
pub(crate) struct Draft {
    pub(crate) rubric: Rubric,
    list: String,
    places: BTreeMap<String, String>,
    keys: &'static [(&'static str, &'static str)],
}

impl Draft {
    /// Starts a rubric whose criteria are listed at `list`. `keys` are our names of members and
    /// theirs.
    pub(crate) fn new(list: &At<'_>, keys: &'static [(&'static str, &'static str)]) -> Self {
        let rubric = Rubric::default();
        Self { rubric, list: list.path().to_owned(), places: BTreeMap::new(), keys }
    }

    /// A name that the file gives to the criterion at `at`.
    pub(crate) fn given(&mut self, at: &At<'_>, name: &At<'_>) -> Result<String, RubricError> {
        let text = name.text()?.trim();
        if text.is_empty() {
            return Err(name.refuse("the name is empty"));
        }
        self.named(at, name, text.to_owned())
    }

    /// A name that follows from what the file says of the criterion at `at`.
    pub(crate) fn named(
        &mut self,
        at: &At<'_>,
        source: &At<'_>,
        name: String,
    ) -> Result<String, RubricError> {
        if let Some(first) = self.places.get(&name) {
            return Err(
                source.refuse(format!("the name \"{name}\" is used twice, first in {first}"))
            );
        }
        self.places.insert(name.clone(), at.path().to_owned());
        Ok(name)
    }

    /// A name of our own for the criterion at `at`: what is wished, numbered where it is taken.
    pub(crate) fn made(&mut self, at: &At<'_>, wish: &str) -> String {
        let mut name = wish.to_owned();
        let mut number = 1;
        while self.places.contains_key(&name) {
            number += 1;
            name = format!("{wish}-{number}");
        }
        self.places.insert(name.clone(), at.path().to_owned());
        name
    }

    /// The finished rubric, checked; what is wrong with it is told by the places of the file.
    pub(crate) fn finish(self) -> Result<Rubric, RubricError> {
        match self.rubric.check() {
            Ok(()) => Ok(self.rubric),
            Err(error) => Err(self.translated(&error)),
        }
    }

    fn translated(&self, error: &RubricError) -> RubricError {
        if !error.place.starts_with("criterion") {
            return error.clone();
        }
        let mut below = &self.rubric.criteria;
        let mut place = self.list.clone();
        let mut rest = error.place.as_str();
        while let Some((criterion, after)) = step(below, rest) {
            place = self.places.get(&criterion.name).cloned().unwrap_or(place);
            below = &criterion.criteria;
            rest = after;
        }
        let key = rest.trim_start_matches('.');
        let below = |ours: &str| {
            let after = key.strip_prefix(ours)?;
            (after.is_empty() || after.starts_with(['.', '['])).then_some(after)
        };
        let theirs = self.keys.iter().find_map(|(ours, theirs)| Some((below(ours)?, theirs)));
        let key = match theirs {
            Some((after, theirs)) => format!("{theirs}{after}"),
            None if key == "criterion" => String::new(),
            None => key.to_owned(),
        };
        let dot = if place.is_empty() || key.is_empty() { "" } else { "." };
        let place = format!("{place}{dot}{key}");
        RubricError::new(if place.is_empty() { "the rubric" } else { &place }, &error.message)
    }
}

/// The criterion that a place begins with, and the rest of the place.
fn step<'a, 'p>(criteria: &'a [Criterion], place: &'p str) -> Option<(&'a Criterion, &'p str)> {
    let rest = place.trim_start_matches('.').strip_prefix("criterion[")?;
    let (index, after) = rest.split_once(']')?;
    Some((criteria.get(index.parse::<usize>().ok()?)?, after))
}

/// A short name made of a title: lower case, words joined by hyphens. Empty where the title has no
/// letter or digit.
pub(crate) fn slug(title: &str) -> String {
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let longer = name.chars().count() + word.chars().count() + 1;
        if longer > NAME_CHARS_MAX && !name.is_empty() {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.extend(word.chars().flat_map(char::to_lowercase).take(NAME_CHARS_MAX));
    }
    name
}
