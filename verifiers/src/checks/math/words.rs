//! The vocabulary of the lexer, as tables: commands, words, symbols; and words around answers.

use super::lexer::Tok;

/// What a LaTeX command does.
pub(super) enum Command {
    Tok(Tok<'static>),
    /// A variable by its name.
    Letter,
    /// Nothing: spacing and styling.
    Skip,
    /// Its argument is text.
    Prose,
    Begin,
    End,
    Unknown,
}

/// The meaning of the command called `name`.
pub(super) fn command(name: &str) -> Command {
    if let Some(tok) = function(name) {
        return Command::Tok(tok);
    }
    Command::Tok(match name {
        "frac" | "dfrac" | "tfrac" | "cfrac" => Tok::Frac,
        "sqrt" => Tok::Sqrt,
        "binom" | "dbinom" | "tbinom" => Tok::Binom,
        "overline" | "bar" | "dot" => Tok::Overline,
        "cdot" | "times" | "ast" | "cdotp" | "bullet" => Tok::Times,
        "div" => Tok::Slash,
        "pm" => Tok::PlusMinus,
        "mp" => Tok::MinusPlus,
        "pi" => Tok::Pi,
        "infty" => Tok::Infinity,
        "emptyset" | "varnothing" => Tok::EmptySet,
        "R" | "Reals" => Tok::Reals,
        "circ" | "degree" => Tok::Degree,
        "prime" => Tok::Prime,
        "percent" => Tok::Percent,
        "le" | "leq" | "leqslant" | "leqq" => Tok::LessEqual,
        "ge" | "geq" | "geqslant" | "geqq" => Tok::MoreEqual,
        "lt" => Tok::Less,
        "gt" => Tok::More,
        "ne" | "neq" => Tok::Unequal,
        "not" => Tok::Not,
        "approx" | "simeq" | "approxeq" => Tok::Approx,
        "equiv" => Tok::Equal,
        "in" => Tok::In,
        "bmod" | "mod" => Tok::Mod,
        "to" | "rightarrow" | "longrightarrow" => Tok::To,
        "cup" | "bigcup" => Tok::Cup,
        "cap" | "bigcap" => Tok::Cap,
        "setminus" | "backslash" | "smallsetminus" => Tok::Setminus,
        "mid" | "vert" | "lvert" | "rvert" | "Vert" => Tok::Bar,
        "colon" => Tok::Colon,
        "lfloor" => Tok::LFloor,
        "rfloor" => Tok::RFloor,
        "lceil" => Tok::LCeil,
        "rceil" => Tok::RCeil,
        "lbrace" => Tok::LSet,
        "rbrace" => Tok::RSet,
        "imath" => Tok::Letter("i"),
        "jmath" => Tok::Letter("j"),
        "langle" => Tok::LParen,
        "rangle" => Tok::RParen,
        "lbrack" => Tok::LBracket,
        "rbrack" => Tok::RBracket,
        "lor" | "vee" => Tok::Or,
        "land" | "wedge" => Tok::And,
        "sum" | "prod" | "int" | "iint" | "oint" | "lim" => return big(name),
        "begin" => return Command::Begin,
        "end" => return Command::End,
        "text" | "textbf" | "textit" | "textrm" | "textsf" | "mathrm" | "mbox" | "operatorname"
        | "textnormal" | "hbox" | "emph" | "texttt" | "mathsf" => return Command::Prose,
        _ => return styled(name),
    })
}

fn big(name: &str) -> Command {
    let name = ["sum", "prod", "int", "iint", "oint", "lim"].into_iter().find(|have| *have == name);
    name.map_or(Command::Unknown, |name| Command::Tok(Tok::Big(name)))
}

/// Commands that say nothing here.
#[rustfmt::skip]
const SKIPPED: &[&str] = &[
    "left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr",
    "middle", "quad", "qquad", "displaystyle", "textstyle", "limits", "nolimits", "mathbf",
    "boldsymbol", "bf", "rm", "it", "mathbb", "mathcal", "mathit", "mathfrak", "vec",
    "overrightarrow", "hat", "tilde", "widehat", "underline", "boxed", "fbox", "thinspace",
    "enspace", "space", "hfill", "hline", "notag", "nonumber", "dollar", "unit", "ensuremath",
    "scriptstyle", "phantom", "large", "Large",
];

/// Commands that are names.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta",
    "iota", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi",
    "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon",
    "Phi", "Psi", "Omega", "ell", "hbar", "angle", "triangle", "square", "star", "aleph",
];

/// Commands that are no names although nothing here reads them: dots, arrows, quantifiers.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "ldots", "cdots", "dots", "dotsc", "dotsb", "vdots", "ddots", "implies", "iff", "Rightarrow",
    "Leftarrow", "Leftrightarrow", "Longrightarrow", "Longleftrightarrow", "longmapsto", "mapsto",
    "leftarrow", "leftrightarrow", "uparrow", "downarrow", "therefore", "because", "forall",
    "exists", "nexists", "neg", "lnot", "checkmark", "blacksquare", "newline", "par", "label", "tag",
    "ref", "cancel", "color", "textcolor", "overset", "underset", "stackrel",
];

/// Whether an unknown command is a sign rather than a name.
pub(super) fn is_sign(name: &str) -> bool {
    SIGNS.contains(&name)
}

fn styled(name: &str) -> Command {
    if SKIPPED.contains(&name) {
        Command::Skip
    } else if NAMES.contains(&name) {
        Command::Letter
    } else {
        Command::Unknown
    }
}

/// Functions by the names that they have, with the one that is used here.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("sin", "sin"), ("cos", "cos"), ("tan", "tan"), ("tg", "tan"), ("cot", "cot"), ("ctg", "cot"),
    ("sec", "sec"), ("csc", "csc"), ("arcsin", "arcsin"), ("arccos", "arccos"), ("arctan",
    "arctan"), ("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("sinh", "sinh"),
    ("cosh", "cosh"), ("tanh", "tanh"), ("ln", "ln"), ("log", "log"), ("lg", "lg"), ("exp", "exp"),
    ("abs", "abs"), ("floor", "floor"), ("ceil", "ceil"), ("min", "min"), ("max", "max"), ("gcd",
    "gcd"), ("lcm", "lcm"), ("det", "det"), ("arg", "arg"), ("arccot", "arccot"),
];

fn function(name: &str) -> Option<Tok<'static>> {
    FUNCTIONS.iter().find(|(have, _)| *have == name).map(|(_, canonical)| Tok::Fun(canonical))
}

/// The meaning of a whole word outside LaTeX commands.
pub(super) fn word(run: &str) -> Option<Tok<'static>> {
    if run.len() < 2 {
        return None;
    }
    if let Some(tok) = function(run) {
        return Some(tok);
    }
    Some(match run {
        "pi" | "Pi" | "PI" => Tok::Pi,
        "sqrt" => Tok::Sqrt,
        "infinity" | "inf" | "infty" | "oo" | "Infinity" => Tok::Infinity,
        "and" | "And" | "AND" => Tok::And,
        "or" | "Or" | "OR" => Tok::Or,
        "degrees" | "degree" | "deg" => Tok::Degree,
        "percent" | "percentage" | "Percent" | "pct" => Tok::Percent,
        "thousand" => Tok::Scale(3),
        "million" => Tok::Scale(6),
        "billion" => Tok::Scale(9),
        "trillion" => Tok::Scale(12),
        "for" | "where" | "For" | "Where" => Tok::Stop,
        "union" => Tok::Cup,
        "mod" => Tok::Mod,
        _ => return None,
    })
}

/// Whether a run of letters is a word rather than variables side by side.
pub(super) fn is_word(run: &str, after_number: bool) -> bool {
    const SHORT: &[&str] = &[
        "no", "yes", "not", "is", "the", "of", "if", "to", "be", "it", "odd", "all", "we", "so",
        "got", "get", "st", "nd", "rd", "th", "am", "pm",
    ];
    let lower = run.to_ascii_lowercase();
    run.len() >= 4
        || SHORT.contains(&lower.as_str())
        || (run.len() >= 2 && after_number && super::units::known(run))
        || (run.len() == 3 && lower.contains(['a', 'e', 'i', 'o', 'u']) && !in_order(&lower))
}

/// Whether letters follow each other in the alphabet, as the names of variables do.
fn in_order(run: &str) -> bool {
    run.as_bytes().is_sorted()
}

/// The meaning of a symbol of one character.
pub(super) fn symbol(c: char) -> Option<Tok<'static>> {
    Some(match c {
        '+' | '＋' => Tok::Plus,
        '-' | '−' | '–' | '﹣' | '－' => Tok::Minus,
        '±' => Tok::PlusMinus,
        '*' | '×' | '·' | '⋅' | '∙' | '•' => Tok::Times,
        '/' | '÷' | '⁄' | '∕' => Tok::Slash,
        '^' => Tok::Caret,
        '_' => Tok::Under,
        '!' => Tok::Bang,
        '%' | '％' => Tok::Percent,
        '°' | 'º' | '˚' => Tok::Degree,
        '\'' | '′' | '’' => Tok::Prime,
        ',' | '，' | '、' => Tok::Comma,
        ';' | '；' => Tok::Semi,
        ':' | '：' | '∶' => Tok::Colon,
        '&' => Tok::Amp,
        '=' | '＝' | '≡' => Tok::Equal,
        '≠' => Tok::Unequal,
        '<' | '＜' => Tok::Less,
        '≤' | '⩽' | '≦' => Tok::LessEqual,
        '>' | '＞' => Tok::More,
        '≥' | '⩾' | '≧' => Tok::MoreEqual,
        '≈' | '≃' => Tok::Approx,
        '∈' => Tok::In,
        '→' => Tok::To,
        '∑' => Tok::Big("sum"),
        '∏' => Tok::Big("prod"),
        '∫' => Tok::Big("int"),
        '∪' => Tok::Cup,
        '∩' => Tok::Cap,
        '∖' => Tok::Setminus,
        '|' | '∣' => Tok::Bar,
        '(' | '（' => Tok::LParen,
        ')' | '）' => Tok::RParen,
        '[' => Tok::LBracket,
        ']' => Tok::RBracket,
        '{' => Tok::LBrace,
        '}' => Tok::RBrace,
        '⌊' => Tok::LFloor,
        '⌋' => Tok::RFloor,
        '⌈' => Tok::LCeil,
        '⌉' => Tok::RCeil,
        '√' => Tok::Sqrt,
        '∞' => Tok::Infinity,
        '∅' | '⌀' => Tok::EmptySet,
        'ℝ' => Tok::Reals,
        'π' => Tok::Pi,
        '…' => Tok::Dots,
        '∨' => Tok::Or,
        '∧' => Tok::And,
        _ => return None,
    })
}

/// A Greek letter, an exponent or a fraction typed as one character.
pub(super) fn greek_char(c: char) -> Option<Tok<'static>> {
    const NAMES: &[(char, &str)] = &[
        ('α', "alpha"),
        ('β', "beta"),
        ('γ', "gamma"),
        ('δ', "delta"),
        ('ε', "epsilon"),
        ('θ', "theta"),
        ('λ', "lambda"),
        ('μ', "mu"),
        ('ρ', "rho"),
        ('σ', "sigma"),
        ('τ', "tau"),
        ('φ', "phi"),
        ('ϕ', "phi"),
        ('ω', "omega"),
        ('ψ', "psi"),
        ('η', "eta"),
        ('ξ', "xi"),
        ('κ', "kappa"),
        ('Δ', "Delta"),
        ('Ω', "Omega"),
        ('Σ', "Sigma"),
    ];
    NAMES.iter().find(|(have, _)| *have == c).map(|(_, name)| Tok::Letter(name))
}

/// What says that the second box follows from the first or replaces it, as a whole word.
#[rustfmt::skip]
pub(super) const PARTING: &[&str] = &[
    "is", "isn", "are", "was", "were", "be", "been", "not", "no", "nope", "never", "don", "doesn",
    "didn", "cannot", "can", "could", "would", "should", "may", "might", "must", "will", "gives",
    "give", "gave", "get", "gets", "got", "yields", "yield", "means", "implies", "equals", "becomes",
    "becoming", "makes", "leads", "goes", "comes", "turns", "fails", "works", "holds", "seems",
    "looks", "has", "have", "had", "does", "do", "so", "then", "thus", "hence", "therefore", "next",
    "now", "after", "before", "first", "last", "finally", "initially", "later", "earlier", "instead",
    "rather", "but", "however", "though", "although", "yet", "because", "since", "if", "when",
    "while", "unless", "where", "which", "who", "that", "this", "it", "its", "i", "we", "you", "he",
    "she", "they", "let", "wait", "sorry", "oops", "hmm", "ok", "okay", "well", "wrong", "incorrect",
    "right", "correct", "mistake", "error", "attempt", "guess", "try", "maybe", "perhaps", "about",
    "again", "also", "even", "same", "ie", "eg", "namely", "else", "too", "invalid", "extraneous",
    "impossible", "false", "true", "final", "answer", "actually", "step", "as", "from", "to", "into",
    "than", "by", "over", "times", "plus", "minus", "form", "decimal",
    "fraction", "equivalent", "equal", "approx", "simply", "reduces",
];

/// How a closing courtesy begins.
pub(super) const COURTESIES: [&str; 20] = [
    "i hope it is correct",
    "i hope it's correct",
    "i hope this is correct",
    "i hope this is right",
    "i hope this helps",
    "i hope that helps",
    "i hope it helps",
    "i hope this explanation",
    "i hope this solution",
    "hope this helps",
    "hope that helps",
    "let me know if",
    "please let me know",
    "feel free to",
    "please feel free to",
    "if you have any",
    "thank you",
    "thanks",
    "good luck",
    "have a great day",
];

/// Words of a sentence that leaves its number in doubt, or says something else of it.
#[rustfmt::skip]
pub(super) const DOUBTS: &[&str] = &[
    "might", "could", "may", "maybe", "perhaps", "probably", "possibly", "likely", "if", "unless",
    "would", "should", "whether", "suppose", "assume", "guess", "estimate", "approximately", "about",
    "around", "roughly", "nearly", "almost", "not", "no", "never", "none", "neither", "nor", "cannot",
    "impossible", "wrong", "incorrect", "false", "instead", "or", "either", "between", "least",
    "most", "than", "under", "over", "divisible", "multiple", "multiples", "divides", "divisor",
    "factor", "modulo", "mod", "step", "steps", "case", "cases", "part", "parts", "equation", "figure",
    "problem", "question", "statement", "option", "choice", "lemma", "theorem", "method", "section",
    "line", "row", "condition", "need", "let", "check", "consider", "find", "try", "multiply", "divide",
    "subtract", "add", "first", "remaining", "another", "more", "other", "wait",
];
