//! Tables of the words around values: negations, bounds, names, counts.

/// Negations before a value.
#[rustfmt::skip]
pub(super) const DENIED_BEFORE: &[&str] = &[
    "not", "n't", "isn't", "isn’t", "never", "neither", "nor", "not be", "cannot be", "can't be", "can’t be", "couldn't be",
    "not equal", "not equal to", "not exactly", "isn't equal to", "not the", "not a", "not an", "anything but", "other than",
    "unlike", "instead of", "rather than", "as opposed to", "except", "except for", "without", "excluding", "unequal to",
    "different from", "rule out", "ruled out", "rules out", "≠", "!=", "\\ne", "\\neq", "¬", "\\lnot", "\\neg", "!", "<>",
    "unlike the wrong", "not simply", "not just", "❌", "✗", "✘",
    "不是", "并非", "不为", "不等于", "不会是", "不可能是", "而非", "而不是", "ではなく", "не", "не равно", "не является", "ni",
    "nicht", "kein", "n'est pas", "pas", "no es", "no", "não é", "não", "non è", "non", "niet", "nie jest", "nie", "bukan",
    "không phải là", "không phải", "không", "ليس", "ليست", "لا", "inte", "ikke", "ei ole", "δεν είναι", "nu este", "nu e", "ไม่ใช่",
    "není", "nie je", "nije", "nem", "אינה", "אינו", "לא", "tidak",
];
/// Labels that deny the value behind them, and the words before such a label.
pub(super) const DENYING_LABELS: &[&str] =
    &["wrong", "incorrect", "false", "wrong answer", "incorrect answer"];
pub(super) const LABEL_LEADS: &[&str] = &["text", "is", "answer", "textbf", "mathrm"];
/// Negations behind a value.
#[rustfmt::skip]
pub(super) const DENIED_AFTER: &[&str] = &[
    "? no", "? nope", "? wrong", "? not", "is wrong", "is incorrect", "is not", "isn't", "isn’t", "was wrong", "was incorrect", "is false", "is invalid", "is impossible",
    "is a mistake", "is mistaken", "is too", "is lying", "is a lie", "is nonsense", "is excluded", "is ruled out", "is rejected",
    "is extraneous", "cannot be", "can't be", "can not be", "does not", "doesn't", "do not", "did not", "didn't", "fails", "failed",
    "would be wrong", "would be incorrect", "was my", "was a guess", "was just", "was only", "was the first", "comes from a mistake", "leads to a contradiction", "is a contradiction", "is a common mistake",
    "不对", "是错", "是不对", "不正确", "错误", "не", "неверно", "ist falsch", "ist nicht", "est faux", "n'est pas", "es incorrecto",
    "no es", "não é", "non è", "is niet", "değil", "değildir", "아닙니다", "아니다", "아니", "이 아니", "가 아니", "이 아닙니다", "가 아닙니다", "은 아닙니다", "ではありません", "ではない",
    "じゃない", "नहीं",
];
/// Comparisons before a bound.
#[rustfmt::skip]
pub(super) const BOUND_BEFORE: &[&str] = &[
    "less than", "more than", "greater than", "fewer than", "larger than", "bigger than", "smaller than", "higher than", "lower than",
    "at least", "at most", "no more than", "no less than", "no fewer than", "up to", "under", "below", "above", "over", "exceeds",
    "exceed", "exceeding", "exceeded by", "not exceeding", "less than or equal to", "greater than or equal to", "bounded by",
    "a minimum of", "a maximum of", "upper bound of", "lower bound of", "almost", "nearly", "close to", "<", ">", "≤", "≥", "<=",
    ">=", "\\leq", "\\geq", "\\le", "\\ge", "\\lt", "\\gt", "\\leqslant", "\\geqslant",
    "小于", "大于", "至少", "至多", "不少于", "不超过", "超过", "少于", "多于", "меньше", "больше", "не более", "не менее", "weniger als",
    "mehr als", "mindestens", "höchstens", "moins de", "plus de", "au moins", "au plus", "menos de", "menos que", "más de", "más que",
    "al menos", "como máximo", "mais de", "pelo menos", "no máximo", "meno di", "più di", "almeno", "al massimo", "minder dan",
    "meer dan", "minstens", "kurang dari", "lebih dari", "ít nhất", "nhiều nhất",
];
/// Comparisons behind a bound.
#[rustfmt::skip]
pub(super) const BOUND_AFTER: &[&str] = &[
    "or more", "or less", "or fewer", "or greater", "or higher", "or lower", "or larger", "or smaller", "or above", "or below",
    "at least", "at most", "at a minimum", "at the most", "at the least", "以上", "以下", "以内", "이상", "이하", "미만", "초과",
];
/// Words before the lower end of a range.
#[rustfmt::skip]
pub(super) const RANGE_BEFORE: &[&str] = &[
    "between", "somewhere between", "in the range", "ranges from", "ranging from", "in the interval", "anywhere from", "在", "介于",
    "между", "zwischen", "entre", "tra", "tussen", "antara", "giữa",
];
/// Nouns that are followed by their number.
#[rustfmt::skip]
pub(super) const NAME_BEFORE: &[&str] = &[
    "equation", "equations", "eq", "eq.", "eqn", "eqn.", "eqs.", "formula", "theorem", "thm", "thm.", "lemma", "corollary", "proposition",
    "prop.", "definition", "axiom", "claim", "figure", "fig", "fig.", "table", "step", "steps", "problem", "question", "exercise",
    "example", "page", "pages", "p.", "pp.", "section", "sec.", "chapter", "part", "case", "cases", "option", "choice", "method",
    "approach", "rule", "law", "statement", "condition", "property", "identity", "line", "row", "column", "note", "footnote", "item",
    "point", "hint", "remark", "attempt", "version", "level", "grade", "appendix", "reference", "ref.", "task", "round", "phase",
    "stage", "scenario", "answer has", "answer contains", "answer depends on", "answer involves", "answer requires", "answer uses",
    "answer consists of", "diagram", "graph", "chart", "no.", "nr.", "question number", "problem number",
    "第", "公式", "定理", "步骤", "图", "Schritt", "Gleichung", "Aufgabe", "Satz", "étape", "équation", "théorème", "paso", "ecuación",
    "teorema", "passo", "шаг", "уравнение", "теорема", "задача", "рисунок",
];
/// Operations on the value behind them.
#[rustfmt::skip]
pub(super) const OPERATION_BEFORE: &[&str] = &[
    "half of", "a half of", "one half of", "a third of", "one third of", "a quarter of", "one quarter of", "a fraction of", "percent of",
    "% of", "square of", "cube of", "square root of", "cube root of", "root of", "reciprocal of", "inverse of", "negative of",
    "opposite of", "factorial of", "logarithm of", "log of", "sine of", "cosine of", "tangent of", "sum of", "difference of",
    "difference between", "product of", "quotient of", "ratio of", "double", "twice", "thrice", "triple", "times", "multiplied by",
    "divided by", "plus", "minus", "negative", "modulo", "mod", "multiple of", "multiples of", "factor of", "factors of",
    "divisor of", "divisors of", "divisible by", "power of", "powers of", "to the power of", "out of", "one more than",
    "one less than", "halves of", "thirds of", "quarters of", "tenths of",
];
/// Operations on the value before them.
#[rustfmt::skip]
pub(super) const OPERATION_AFTER: &[&str] = &[
    "squared", "cubed", "factorial", "times", "multiplied by", "divided by", "plus", "minus", "to the power", "raised to", "out of",
    "dozen", "hundred", "thousand", "million", "billion", "trillion", "halves", "thirds", "quarters", "fourths", "fifths", "sixths",
    "sevenths", "eighths", "ninths", "tenths", "twelfths", "hundredths", "thousandths", "half", "percent of", "% of", "modulo",
    "mod", "choose", "ways times",
];
/// Nouns that are counted in passing and not asked for.
#[rustfmt::skip]
pub(super) const COUNTED_AFTER: &[&str] = &[
    "digits in", "decimal places", "tries", "attempts", "guesses", "trials of mine", "more step", "more steps", "first guess",
];
/// Words before an example or a trial value.
#[rustfmt::skip]
pub(super) const EXAMPLE_BEFORE: &[&str] = &[
    "for example", "for instance", "e.g.", "e.g", "such as", "example", "try", "tries", "trying", "tried", "consider", "suppose",
    "assume", "assuming", "let", "if", "when", "whether", "test", "testing", "check", "checking", "guess", "first guess",
    "i will get", "i'll get", "i want", "i want to get", "i would get", "i hope for", "i expect",
    "try with", "start with", "starting with", "plug in", "plugging in", "substitute", "substituting", "example,", "instance,",
    "例如", "比如", "假设", "如果", "например", "если", "пусть", "zum Beispiel", "wenn", "par exemple", "supposons", "por ejemplo",
    "supongamos", "por exemplo", "per esempio", "bijvoorbeeld", "misalnya", "ví dụ",
];
/// Hedges behind a value.
#[rustfmt::skip]
pub(super) const HEDGE_AFTER: &[&str] = &[
    "maybe", "perhaps", "possibly", "probably not", "or", "or maybe", "or perhaps", "or possibly", "?", "I guess", "but I am not sure",
    "but I'm not sure", "but not sure", "if I remember", "if the guess", "或", "或者", "还是", "или", "oder", "ou", "o", "atau",
    "hoặc", "もしくは", "または", "또는", "أو", "या",
];
/// Hedges that begin a remark in brackets behind a value. "0.5 (or 50%)" says one value twice.
pub(super) const DOUBT_ASIDE: &[&str] = &[
    "maybe",
    "perhaps",
    "possibly",
    "could be",
    "might be",
    "or maybe",
    "or perhaps",
    "or possibly",
    "or even",
];
/// Words before an announcement that negate it or make it hypothetical.
#[rustfmt::skip]
pub(super) const OPINIONS: &[&str] = &[
    "not", "never", "cannot", "doubt", "doubts", "doubtful", "wrong", "incorrect", "false", "untrue", "lie", "suppose", "supposing",
    "assume", "assumes", "assuming", "imagine", "pretend", "pretending", "if", "whether", "unless", "deny", "unlikely", "impossible",
    "mistaken", "absurd", "tempting", "thought", "claimed", "hypothetically", "anyone", "anybody", "someone", "somebody", "nobody",
    "everyone", "wonder", "unsure", "uncertain", "misconception", "misleading", "contradicts", "what",
    "refuse", "refused", "hesitate", "absurd", "assumed", "supposed", "imagined", "pretended", "no",
];
/// Words that may stand between such a word and its announcement.
#[rustfmt::skip]
pub(super) const LIGHT: &[&str] = &[
    "the", "that", "this", "my", "your", "our", "a", "an", "it", "its", "to", "is", "be", "of", "for", "as", "so", "think", "thinks",
    "believe", "believes", "say", "says", "saying", "said", "claim", "claims", "tell", "tells", "you", "me", "us", "who", "know",
    "sure", "certain", "confident", "convinced", "clear", "true", "right", "correct", "final", "exact", "actual", "likely", "possible",
    "mean", "imply", "agree", "want", "conclude", "case", "then", "would", "could", "can", "will", "thinking", "i", "we", "whose",
    "that's", "guess", "answer", "answers", "result", "value", "solution", "equals", "equal", "are", "one", "write", "put", "choose", "pick",
];
/// Words that negate a doubt.
pub(super) const UNDOUBTING: &[&str] =
    &["no", "not", "without", "never", "cannot", "beyond", "hardly"];
/// The doubts that may be negated.
pub(super) const DOUBTING: &[&str] =
    &["doubt", "doubts", "deny", "wrong", "false", "mistaken", "impossible"];
/// Subjects whose statement is only reported.
#[rustfmt::skip]
pub(super) const REPORTERS: &[&str] = &[
    "people", "books", "textbooks", "textbook", "others", "someone", "somebody", "anyone", "friend", "friends", "classmate", "classmates",
    "many", "some", "most", "students", "they", "everyone", "teacher", "student", "pupil", "pupils", "one", "might",
];
/// Verbs of reported statements.
#[rustfmt::skip]
pub(super) const SAYING: &[&str] = &[
    "say", "says", "said", "claim", "claims", "claimed", "write", "writes", "wrote", "answer", "answers", "answered", "think", "thinks",
    "believe", "believes", "argue", "suggest", "suggests", "guess", "guesses",
];
/// Remarks that deny the value before them or its uniqueness.
#[rustfmt::skip]
pub(super) const DENYING_REMARKS: &[&str] = &[
    "which is false", "which is wrong", "which is incorrect", "which is impossible", "which is absurd", "which is a contradiction",
    "which is a mistake", "as well as", "along with", "together with", "which contradicts", "which cannot be", "which can't be", "which fails", "which leads to a contradiction",
];
/// Admissions that there is no answer.
#[rustfmt::skip]
pub(super) const ADMISSIONS: &[&str] = &[
    "i do not know", "i don't know", "i don’t know", "no idea", "i give up", "i gave up", "i cannot", "i can't", "i can not", "i pass",
    "not sure", "unable to", "could not solve", "couldn't solve", "i am stuck", "i'm stuck", "not enough information",
];
/// Words that retract the value of their own sentence.
#[rustfmt::skip]
pub(super) const SECOND_THOUGHTS: &[&str] = &[
    "wait,", "i made a mistake", "i made an error", "scratch that", "never mind", "on second thought",
];
/// Verbs with "up to" that state no bound.
pub(super) const SUMMING: &[&str] =
    &["add up to", "adds up to", "added up to", "adding up to", "sum up to", "sums up to"];
/// Nouns for a mistake, before the verbs of its result.
#[rustfmt::skip]
pub(super) const MISTAKES: &[&str] = &[
    "mistake", "error", "trap", "pitfall", "slip", "misconception", "misreading", "fallacy", "miscalculation", "oversight", "typo",
    "wrong answer", "wrong value", "wrong result", "wrong", "wrongly", "incorrect answer", "incorrect value", "incorrect result",
    "incorrectly", "mistakenly", "erroneously", "naively", "distractor",
];
/// Verbs for the result of a mistake.
#[rustfmt::skip]
pub(super) const LEADS: &[&str] = &[
    "gives", "give", "gave", "yields", "yield", "is", "was", "would give", "would be", "would yield", "leads to", "lead to", "results in",
    "produces", "is to say", "is to answer", "is answering", "being", "get", "gets", "answer", "say",
];
/// Beginnings of a sentence that ends with its value.
#[rustfmt::skip]
pub(super) const LEAD_INS: &[&str] = &[
    "i", "in", "it", "it's", "we", "she", "he", "they", "there", "this", "that", "so", "then", "on", "at", "by", "you", "altogether",
    "my", "our", "her", "his", "their", "the", "thus", "hence", "therefore", "finally",
];

/// Beginnings of a remark on the value before it.
#[rustfmt::skip]
pub(super) const REMARKS: &[&str] = &[
    "since", "because", "as", "others", "some say", "some people", "some books", "some might", "many people", "many say", "most people",
    "people", "someone", "instead of", "rather than", "and not", "not", "unlike", "note that", "note", "see", "found in", "found by",
    "found after", "given in", "given by", "given that", "rounded", "obtained", "due to", "for the reason", "as shown", "by equation",
    "by theorem", "by the", "from equation", "from the", "according to", "which", "while", "whereas", "although", "though",
    "even though", "despite", "but not", "after", "where I", "where we", "where the", "when rounded", "using", "verified", "i.e.", "i.e", "that is",
    "we reject", "we discard", "we ignore", "we exclude", "we drop", "we rule out", "we omit", "I reject", "I discard", "rejecting",
    "rejects", "discarding", "ignoring", "excluding", "dropping", "omitting", "disregarding", "neglecting", "ruling out", "having rejected",
    "因为", "由于", "不是", "而不是", "потому", "так как", "а не", "weil", "da", "nicht", "und nicht", "statt", "parce que", "car", "et non",
    "porque", "ya que", "y no", "pois", "e não", "perché", "poiché", "omdat", "want", "bukan", "karena", "vì", "chứ không",
];
