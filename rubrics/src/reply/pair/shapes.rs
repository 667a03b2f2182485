//! The shapes of sentences that state a verdict, as patterns.
//!
//! Groups: `n` and `m` hold a label behind a noun, `o` an ordinal, `l` a bare label. `hedge` holds words
//! that hedge, `aspect` words that name the one respect in which an output is better.

use std::sync::LazyLock;

use assay_verifiers::Pattern;

/// What a shape says of the output in it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Says {
    Better,
    Worse,
    Tie,
}

/// A shape of a sentence.
pub(super) struct Shape {
    pub(super) says: Says,
    pub(super) pattern: Pattern,
}

/// Every shape.
pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| shapes().unwrap_or_default());

/// What an output is called.
const NOUN: &str = r"(?:outputs?|responses?|answers?|assistants?|options?|models?|candidates?|
    completions?|summary|choices?|systems?|texts?|solutions?|repl(?:y|ies)|essays?|stor(?:y|ies)|
    translations?)";

/// A label in capitals where nothing else tells it from the article "a".
const BARE: &str = r#"(?:^|[\n:,;.(]\s*|\b(?:that|think|believe|say|and|but|so|thus|therefore|overall)\s+)
    [*_"'“(\[]*(?P<l>(?-i:[AB]))[)\]*_"'”]*"#;

/// "is", "was"; "seems" is a hedge.
const COPULA: &str = r"(?:\s+(?:is|was|remains|stands\ out\ as|emerges\ as|comes\ out\ as|ranks|
    (?P<hedge>seems|appears|looks|would\ be|could\ be|may\ be|might\ be|feels|stands\ out))|['’]s)";

/// Words between "is" and "better".
const ADVERBS: &str = r"(?:\s+(?:\w+ly|much|far|a\ (?:bit|little|lot)|also|still|indeed|by\ far|the|a|an|my|
    more|considered|deemed|judged|rated|therefore|thus|both|to\ be|likely|marginally|far\ and\ away|as|
    ,)){0,5}";

const BEST: &str = r"\s+(?:better|best|superior|preferred|preferable|winner|stronger|strongest|winning|
    favou?red|ahead)\b";

const WORST: &str = r"(?P<hedge2>\s+(?:worse|inferior|weaker|worst)\b)";

const ASPECT: &str = r"(?P<aspect>\s+(?:at|in|when|formatted|structured|organi[sz]ed|written|explained|
    worded|phrased|researched|known)\b)?";

/// "better follows the instruction".
const FITS: &str = r"\s+(?P<hedge>better\s+(?:follow|execut|align|adher|fit|meet|answer|address|satisf|suit|
    match|captur|fulfil|achiev)\w*s\b)";

/// "I prefer".
const CHOSEN: &str = r"(?:\b(?:i|we)(?:\s+(?:would|will|strongly|slightly|clearly|therefore|thus|have\ to|
    must|do|personally)|['’](?:d|ll))*\s+(?:prefer|choose|pick|select|favou?r|go\ with|vote\ for|chose|
    lean\ towards?)(?:\s+that)?|\b(?:i|we)['’](?:m|re)\ going\ with)";

/// "the answer is".
const ANSWERED: &str = r"\b(?P<hedge>the\ (?:final\ |correct\ |right\ )?(?:answer|output|response)\s+is|
    (?:i|we)(?:['’]d|\ would)\ say(?:\ that)?)\s+";

/// "equally good".
const EQUAL: &str = r"(?:equally\s+\w+|equal\b|equivalent\b|tied\b|of\ equal\b|the\ same\ quality|
    evenly\ matched|comparable\ in\ quality|on\ par\b)";

/// Compiles them.
fn shapes() -> Result<Vec<Shape>, String> {
    let labelled = labelled();
    let ordinal = format!(r"\bthe\s+(?P<o>first|second)\b(?:\s+(?:one|{NOUN})\b)?[*_]*");
    let subject = format!(r"(?:{labelled}|{ordinal}|{BARE})(?:['’]s\s+{NOUN})?");
    // A digit counts only at the end of a line: the judge may write of numbers.
    let digit = r#"[12](?:[.*_"')\]]*\s*(?:\n|$))"#;
    let named = format!(
        r#"[\s:=*_"'“`(\[-]*(?:{labelled}|{ordinal}|(?P<l>(?-i:[AB])\b|[(\[][ab12][)\]]|{digit}))"#
    );
    let lettered = format!(r#"[\s*_"'“`]*(?:{labelled}|(?P<l>(?-i:[AB])\b|[(\[][ab][)\]]))"#);
    let beats = format!(
        r"\s+(?:clearly\s+|slightly\s+|significantly\s+)?(?P<hedge>outperforms|beats|surpasses|
        edges\ out|is\ the\ (?:more|most)\ [a-z\ ,-]{{1,60}}?\ (?:one|{NOUN}|choice|option)\b)"
    );
    let wins = r"\s+(?:clearly\s+|narrowly\s+|easily\s+)?(?:wins|won)\b";
    // "Output (a):" after the words is a heading.
    let announced = format!("{}{named}(?:[^:]|$)", announced());
    [
        (Says::Better, format!("{subject}{COPULA}{ADVERBS}{BEST}{ASPECT}")),
        (Says::Better, format!("{subject}{wins}{ASPECT}")),
        (Says::Better, format!("{subject}{beats}")),
        (Says::Better, format!("{subject}{FITS}")),
        (Says::Worse, format!("{subject}{COPULA}{ADVERBS}{WORST}")),
        (Says::Better, format!("{ANSWERED}{lettered}")),
        (Says::Better, announced),
        (Says::Better, format!("{CHOSEN}{named}")),
        (Says::Tie, tie()),
    ]
    .into_iter()
    .map(|(says, pattern)| Ok(Shape { says, pattern: Pattern::new(&format!("(?imx){pattern}"))? }))
    .collect()
}

/// "Output (a)", "**Response B**".
fn labelled() -> String {
    let label = "a|b|1|2|one|two";
    format!(r#"\b{NOUN}[\s\#*_`"'“]*(?:[(\[]\s*(?P<n>{label})\s*[)\]]|(?P<m>{label})\b)[*_`"'”]*"#)
}

/// "Winner:", "the better response is".
fn announced() -> String {
    let object = format!("(?:{NOUN}|one)");
    format!(
        r"\b(?:winner|verdict|result|preference|preferred(?:\ {object})?|
        (?:better|best|superior|stronger)\ (?:of\ the\ two|{object})|
        (?:my|final)\ (?:choice|decision|judge?ment|answer|pick)|choice|decision|judge?ment)
        (?:\s+(?:overall|here|between\ the\ two))?\s*
        (?:\s(?:is|was|goes\ to|would\ be|for)(?:\s+(?:clearly|therefore|that|definitely))?\b|:|=|\*\*:?)"
    )
}

/// "It is a tie", "both are equally good", "no clear winner", "neither is better".
fn tie() -> String {
    format!(
        r"\b(?:
        (?:it|this|that|verdict|result|winner|decision|judge?ment|call\ it|declare(?:\ it)?|preference)
            (?:['’]s|\s+is|:)?\s*[*_\[(]*\s*(?:basically|roughly|essentially|effectively|clearly)?\s*
            (?:a\s+)?[*_]*(?:tie|draw|toss-?up)\b|
        both\b[^.\n]{{0,60}}?\b(?:are|is|were|perform|do|seem)\s+(?:\w+\s+)?{EQUAL}|
        (?:outputs|responses|answers|assistants|two|they|[ab]\)?)
            \s+(?:are|perform|do)\s+(?:both\s+)?(?:\w+ly\s+)?{EQUAL}|
        (?:there\ is\ |there's\ )?no\ (?:clear\ |obvious\ )?(?:winner|preference)\b|
        neither\b[^.\n]{{0,40}}?\b(?:is|are)\s+(?:\w+ly\s+)?(?:better|superior|preferable|the\ winner)\b)"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_shapes_compile() {
        assert_eq!(super::shapes().err(), None);
    }
}
