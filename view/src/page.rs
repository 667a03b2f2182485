//! The page: one script and one style, and a policy under which nothing else runs or loads.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

const SCRIPT: &str = include_str!("../assets/view.js");
const STYLE: &str = include_str!("../assets/view.css");

/// The policy: what is embedded runs, by its digest, and nothing is loaded. `more` are further rules.
pub(crate) fn policy(more: &str) -> String {
    let [script, style] = [SCRIPT, STYLE].map(|text| STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; \
         form-action 'none'{more}"
    )
}

/// The page with its data, as JSON that [`escaped`] was given.
pub(crate) fn page(policy: &str, data: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>assay</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript>This page is drawn by its script, which needs no network.</noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// JSON that ends no element, and in which nothing is hidden from who reads the file as text: such
/// characters stand in strings alone, where each may be an escape.
pub(crate) fn escaped(json: &str) -> String {
    with_escapes(json, |char| matches!(char, '<' | '>' | '&') || hides(char))
}

/// What stands within a string of JSON, with escapes for these characters.
pub(crate) fn with_escapes(json: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for char in json.chars() {
        if is_escaped(char) {
            for unit in char.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(char);
        }
    }
    safe
}

/// Control characters, and those that are not seen or turn the direction of text.
fn hides(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests;
