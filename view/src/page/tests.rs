//! What the page may hold.

use super::*;

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
