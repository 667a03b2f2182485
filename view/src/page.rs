//! The page: one script and one style, and a policy under which nothing else runs or loads.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

const SCRIPT: &str = include_str!("../assets/view.js");
const STYLE: &str = include_str!("../assets/view.css");

/// The policy: what is embedded runs, by its digest, and nothing is loaded. `more` are further rules.
pub(crate) fn policy(more: &str) -> String {
    let (script, style) = (digest(SCRIPT), digest(STYLE));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; \
         form-action 'none'{more}"
    )
}

/// The page with its data, as JSON that [`escaped`] was given.
pub(crate) fn page(title: &str, policy: &str, data: &str) -> String {
    let mut safe_title = String::new();
    for char in title.chars().filter(|char| !hides(*char)) {
        match char {
            '<' => safe_title.push_str("&lt;"),
            '>' => safe_title.push_str("&gt;"),
            '&' => safe_title.push_str("&amp;"),
            other => safe_title.push(other),
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{safe_title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript>This page is drawn by its script, which needs no network.</noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// JSON that ends no element, and in which nothing is hidden from who reads the file as text: such
/// characters stand in strings alone, where each may be an escape.
pub(crate) fn escaped(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for char in json.chars() {
        if matches!(char, '<' | '>' | '&') || hides(char) {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
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

fn digest(text: &str) -> String {
    base64(&Sha256::digest(text))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let at = |place: usize| u32::from(part.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let six = (bits >> (18 - 6 * digit) & 63) as usize;
            let is_padding = digit > part.len();
            #[expect(clippy::indexing_slicing, reason = "six bits are below 64")]
            text.push(if is_padding { '=' } else { DIGITS[six].into() });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, expected) in cases {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn json_stays_itself_and_shows_everything() {
        let text = "</script><!--\u{202e}\u{0}\u{1b}[31m\u{e0041}\u{9b}é";
        let json = serde_json::to_string(text).unwrap();
        let safe = escaped(&json);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        assert!(safe.chars().all(|char| char == 'é' || char.is_ascii_graphic()), "{safe}");
        assert!(!safe.contains('<'));
    }

    #[test]
    fn assets_call_nothing_and_make_no_markup_of_text() {
        for asset in [SCRIPT, STYLE] {
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacent",
                "document.write",
                "eval(",
                "http:",
                "https:",
                "</script",
                "</style",
                "url(",
                "@import",
                "new Function",
            ] {
                let svg = asset.replace("http://www.w3.org/2000/svg", "");
                assert!(!svg.contains(word), "{word}");
            }
        }
        let lines = SCRIPT.lines().count() + STYLE.lines().count();
        assert!(lines <= 1500, "{lines} lines");
    }

    #[test]
    fn a_title_is_text() {
        let page = page("</title><script>\u{202e}", "x", "{}");
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"));
    }
}
