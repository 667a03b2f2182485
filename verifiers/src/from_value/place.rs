//! Where a part of a value is, and where an error was.

use std::cell::RefCell;

use super::wrong::Wrong;

/// What is known of an error on its way out.
#[derive(Default)]
pub(super) struct Track {
    /// The path of the first one.
    path: RefCell<Option<String>>,
    /// Whether the texts of raw values are left out.
    pub(super) drops_raw: bool,
}

/// A part of a value, and the parts around it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) around: Option<&'a Place<'a>>,
    pub(super) step: Step<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// The value of a key, or of a variant.
    Member(&'a str),
    Element(usize),
}

impl Track {
    /// Notes where an error comes from, unless an inner place is noted already.
    #[cold]
    pub(super) fn fail(&self, place: &Place<'_>, error: Wrong) -> Wrong {
        self.path.borrow_mut().get_or_insert_with(|| place.path());
        error
    }

    /// Raw values are read without their texts.
    pub(super) fn without_raw() -> Self {
        Self { drops_raw: true, ..Self::default() }
    }

    pub(super) fn into_path(self) -> String {
        self.path.into_inner().unwrap_or_default()
    }
}

impl Place<'_> {
    fn path(&self) -> String {
        let mut path = self.around.map(Place::path).unwrap_or_default();
        match self.step {
            Step::Element(index) => path.extend(["[", &index.to_string(), "]"]),
            Step::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
            }
        }
        path
    }
}
