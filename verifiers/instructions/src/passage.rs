//! A text that is judged, with what several instructions ask of it, and its loose forms.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;

use crate::detect;
use crate::py;

/// Languages that were told, by the n-grams that told them. Forms of a text often have the same.
#[derive(Default)]
struct Told(RefCell<Vec<(Vec<u32>, Option<&'static str>)>>);

impl Told {
    fn language(&self, text: &str) -> Option<&'static str> {
        let grams = detect::grams(text);
        let free = &mut |_| Ok::<(), Infallible>(());
        let mut told = self.0.borrow_mut();
        if let Some((_, code)) = told.iter().find(|(known, _)| *known == grams) {
            return *code;
        }
        let found = detect::likely(&grams, free).unwrap_or_else(|never| match never {});
        let code = found.map(|found| found.first().map_or("unknown", |&(code, _)| code));
        told.push((grams, code));
        code
    }
}

/// A text, and what was computed of it.
pub(crate) struct Passage<'a> {
    text: Cow<'a, str>,
    lower: OnceCell<String>,
    folded: OnceCell<String>,
    language: OnceCell<Option<&'static str>>,
    told: Rc<Told>,
}

impl<'a> Passage<'a> {
    fn new(text: Cow<'a, str>, told: &Rc<Told>) -> Passage<'a> {
        Passage {
            text,
            lower: OnceCell::new(),
            folded: OnceCell::new(),
            language: OnceCell::new(),
            told: Rc::clone(told),
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
        *self.language.get_or_init(|| self.told.language(&self.text))
    }
}

pub(crate) fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() }
}

/// The eight forms that a loose judgement tries, without those that are blank or repeat another: the
/// text whole, without its first line, its last line, and both; each also without asterisks.
pub(crate) fn loose_forms(text: &str) -> Vec<Passage<'_>> {
    let first = memchr::memchr(b'\n', text.as_bytes());
    let last = memchr::memrchr(b'\n', text.as_bytes());
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
    let told = Rc::default();
    let mut forms = Vec::with_capacity(8);
    for form in plain {
        if py::strip(form).is_empty() {
            continue;
        }
        forms.push(Passage::new(Cow::Borrowed(form), &told));
        if memchr::memchr(b'*', form.as_bytes()).is_some() {
            let starless = form.replace('*', "");
            if !py::strip(&starless).is_empty() {
                forms.push(Passage::new(Cow::Owned(starless), &told));
            }
        }
    }
    forms
}
