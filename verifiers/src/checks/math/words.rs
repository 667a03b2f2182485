//! The vocabulary of the lexer, as tables: commands, words, symbols.

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
    /// Nothing, with its argument: a color, a width.
    Drop,
    Begin,
    End,
    Unknown,
}

/// Commands of fractions, whatever their size.
const FRACTIONS: [&str; 8] =
    ["frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac", "xfrac", "flatfrac"];

/// Marks above a name, with the name of each that is used here.
const ACCENTS: [(&str, &str); 8] = [
    ("overline", "overline"),
    ("bar", "bar"),
    ("dot", "dot"),
    ("ddot", "ddot"),
    ("hat", "hat"),
    ("widehat", "hat"),
    ("tilde", "tilde"),
    ("widetilde", "tilde"),
];

/// The meaning of the command called `name`.
pub(super) fn command(name: &str) -> Command {
    if let Some(tok) = function(name) {
        return Command::Tok(tok);
    }
    if name.ends_with("frac") && FRACTIONS.contains(&name) {
        return Command::Tok(Tok::Frac);
    }
    Command::Tok(match name {
        "over" => Tok::Over,
        "choose" => Tok::Choose,
        "sqrt" | "surd" => Tok::Sqrt,
        "binom" | "dbinom" | "tbinom" => Tok::Binom,
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
        "sim" => Tok::Similar,
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
        "measuredangle" | "sphericalangle" => Tok::Letter("angle"),
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
        | "textnormal" | "hbox" | "emph" | "texttt" | "mathsf" | "mathtt" | "textsc" => {
            return Command::Prose;
        }
        "color" | "textcolor" | "colorbox" | "hspace" | "vspace" | "mspace" | "label" | "tag"
        | "phantom" | "hphantom" | "vphantom" => return Command::Drop,
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
    "overrightarrow", "underline", "boxed", "fbox", "framebox", "thinspace", "enspace", "space",
    "hfill", "hline", "notag", "nonumber", "dollar", "unit", "ensuremath", "scriptstyle", "large",
    "Large", "LARGE", "huge", "Huge", "small", "footnotesize", "tiny", "normalsize", "bold", "bm",
    "mathop", "mathord", "mathstrut", "mathnormal", "tt", "underbrace", "overbrace", "Bbb", "newline", "checkmark", "blacksquare",
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
    "exists", "nexists", "neg", "lnot", "par", "ref", "cancel", "overset", "underset", "stackrel",
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
    } else if let Some((_, mark)) = ACCENTS.iter().find(|(have, _)| *have == name) {
        Command::Tok(Tok::Accent(mark))
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
        "plus" => Tok::Plus,
        "minus" => Tok::Minus,
        "tens" => Tok::Scale(10),
        "dozen" | "dozens" => Tok::Scale(12),
        "score" => Tok::Scale(20),
        "hundred" | "hundreds" => Tok::Scale(100),
        "gross" => Tok::Scale(144),
        "thousand" | "thousands" => Tok::Scale(1_000),
        "lakh" | "lakhs" => Tok::Scale(100_000),
        "million" | "millions" | "mil" | "mln" | "mn" => Tok::Scale(1_000_000),
        "crore" | "crores" => Tok::Scale(10_000_000),
        "billion" | "billions" | "bn" => Tok::Scale(1_000_000_000),
        "trillion" | "trillions" => Tok::Scale(1_000_000_000_000),
        "quadrillion" => Tok::Scale(1_000_000_000_000_000),
        "for" | "where" | "For" | "Where" => Tok::Stop,
        "union" => Tok::Cup,
        "mod" => Tok::Mod,
        _ => return None,
    })
}

/// The currency that a code before an amount names.
pub(super) fn currency(code: &str) -> Option<&'static str> {
    Some(match code {
        "USD" => "dollar",
        "EUR" => "euro",
        "GBP" => "gbp",
        "JPY" => "yen",
        "CNY" | "RMB" => "yuan",
        "INR" | "Rs" => "rupee",
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
        || (run.len() >= 2
            && after_number
            && (super::units::known(run) || matches!(run, "sq" | "cu")))
        || (run.len() == 3 && lower.contains(['a', 'e', 'i', 'o', 'u']) && !in_order(&lower))
}

/// Whether letters follow each other in the alphabet, as the names of variables do.
fn in_order(run: &str) -> bool {
    run.as_bytes().is_sorted()
}

/// The meaning of a symbol of one character.
pub(super) fn symbol(c: char) -> Option<Tok<'static>> {
    Some(match c {
        '+' | '＋' | '﹢' => Tok::Plus,
        '-' | '−' | '–' | '—' | '‑' | '‐' | '﹣' | '－' => Tok::Minus,
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
        '€' => Tok::Currency("euro"),
        '£' => Tok::Currency("gbp"),
        '¥' => Tok::Currency("yen"),
        '₹' => Tok::Currency("rupee"),
        '₽' => Tok::Currency("ruble"),
        '₩' => Tok::Currency("won"),
        '¢' => Tok::Currency("cent"),
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
