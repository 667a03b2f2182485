//! A text that is judged, with what several instructions ask of it, and its loose forms.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::detect::languages;
use crate::py;

/// A text, and what was computed of it.
pub(crate) struct Passage<'a> {
    text: Cow<'a, str>,
    lower: OnceCell<String>,
    folded: OnceCell<String>,
    language: OnceCell<Option<&'static str>>,
}

impl<'a> Passage<'a> {
    pub(crate) fn new(text: Cow<'a, str>) -> Passage<'a> {
        Passage {
            text,
            lower: OnceCell::new(),
            folded: OnceCell::new(),
            language: OnceCell::new(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn stripped(&self) -> &str {
        py::strip(&self.text)
    }

    /// In lower case.
    pub(crate) fn lower(&self) -> &str {
        self.lower.get_or_init(|| lower(&self.text))
    }

    /// As texts are compared without case.
    pub(crate) fn folded(&self) -> &str {
        if self.text.is_ascii() {
            return self.lower();
        }
        self.folded.get_or_init(|| py::fold(&self.text))
    }

    /// The code of the language; `unknown` where none is likely; `None` where the text has nothing
    /// to tell it by.
    pub(crate) fn language(&self) -> Option<&'static str> {
        *self.language.get_or_init(|| {
            let found = languages(&self.text)?;
            Some(found.first().map_or("unknown", |&(code, _)| code))
        })
    }
}

pub(crate) fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() }
}

/// The eight forms that a loose judgement tries, without those that are blank or repeat another: the
/// text whole, without its first line, its last line, and both; each also without asterisks.
pub(crate) fn loose_forms(text: &str) -> Vec<Passage<'_>> {
    let first = text.find('\n');
    let last = text.rfind('\n');
    let cut = |start: Option<usize>, end: usize| match start {
        Some(start) if start < end => py::strip(&text[start + 1..end]),
        _ => "",
    };
    let whole = text.len();
    let plain = [
        text,
        cut(first, whole),
        py::strip(&text[..last.unwrap_or(0)]),
        cut(first, last.unwrap_or(0)),
    ];
    let mut forms = Vec::with_capacity(8);
    for form in plain {
        if py::strip(form).is_empty() {
            continue;
        }
        forms.push(Passage::new(Cow::Borrowed(form)));
        if form.contains('*') {
            let starless = form.replace('*', "");
            if !py::strip(&starless).is_empty() {
                forms.push(Passage::new(Cow::Owned(starless)));
            }
        }
    }
    forms
}
