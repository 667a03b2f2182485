//! What the HTML Standard says of elements by their names.

use pulldown_cmark::{Event, Parser};

use crate::has_word;

/// Elements without an end tag.
const VOID: &str = " area base br col embed hr img input link meta param source track wbr ";

/// Elements whose end tag may be left out.
const OPTIONAL_END: &str =
    " li dt dd p rt rp optgroup option colgroup thead tbody tfoot tr td th body head html ";

/// Elements before which a paragraph ends.
const BLOCKS: &str = " address article aside blockquote center details dialog dir div dl fieldset \
     figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search \
     section summary table ul ";

/// All other elements, obsolete ones included.
const OTHERS: &str = " a abbr acronym audio b basefont bdi bdo big button canvas caption cite code \
     data datalist del dfn em font frame frameset i iframe ins kbd label legend map mark marquee math \
     meter nobr noframes noscript object output picture portal progress q rb rtc ruby s samp script \
     select slot small span strike strong style sub sup svg template textarea time title tt u var \
     video ";

/// Whether the element has no content.
pub(super) fn is_void(name: &str) -> bool {
    has_word(VOID, name)
}

/// Whether the end tag may be left out.
pub(super) fn may_end(name: &str) -> bool {
    has_word(OPTIONAL_END, name)
}

/// Whether HTML has the element. A name with a hyphen is a custom element.
pub(super) fn is_known(name: &str) -> bool {
    name.contains('-')
        || [VOID, OPTIONAL_END, BLOCKS, OTHERS].iter().any(|list| has_word(list, name))
}

/// Whether nothing but its own end tag is markup within the element, and whether references are read.
pub(super) fn raw_text(name: &str) -> Option<bool> {
    match name {
        "script" | "style" => Some(false),
        "textarea" | "title" => Some(true),
        _ => None,
    }
}

/// Whether an open element ends where `next` begins.
pub(super) fn ends_before(open: &str, next: &str) -> bool {
    let closers = match open {
        "p" => BLOCKS,
        "li" => "li",
        "dt" | "dd" => "dt dd",
        "rt" | "rp" => "rt rp",
        "option" => "option optgroup",
        "optgroup" => "optgroup",
        "td" | "th" => "td th tr tbody tfoot",
        "tr" => "tr tbody tfoot",
        "thead" | "tbody" => "tbody tfoot",
        "colgroup" => "thead tbody tfoot tr",
        "head" => "body",
        _ => return false,
    };
    has_word(closers, next)
}

/// The text of a named character reference of HTML. `CommonMark` has the same names.
pub(super) fn entity(name: &str) -> Option<String> {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    let written = Some(format!("&{name};")).filter(|_| is_name)?;
    let read = |event| match event {
        Event::Text(text) => Some(text.into_string()),
        _ => None,
    };
    let text: String = Parser::new(&written).filter_map(read).collect();
    (text != written).then_some(text)
}
