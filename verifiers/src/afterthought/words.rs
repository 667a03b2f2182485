//! The words of afterthoughts, in the languages in which models answer.

/// "Or", which stands directly between two answers.
#[rustfmt::skip]
pub(crate) const ALTERNATIVES: &[&str] = &[
    "or", "and/or", "alternatively", "otherwise", "vs", "versus",
    "oder", "bzw", "beziehungsweise", "of", "eller", "tai", "vagy",
    "ou", "o", "u", "oppure", "ovvero", "sau",
    "lub", "albo", "czy", "nebo", "anebo", "alebo", "ili", "или", "либо", "або", "чи",
    "veya", "ya da", "yahut", "atau", "hoặc", "hay", "หรือ", "ή", "أو", "או", "या", "অথবা",
    "或", "或者", "或是", "还是", "または", "もしくは", "か", "또는", "혹은",
];

/// "And", which stands directly between two answers.
#[rustfmt::skip]
pub(crate) const CONJUNCTIONS: &[&str] = &[
    "and", "plus", "und", "sowie", "en", "et", "y", "e", "och", "og", "ja", "és", "și", "i", "oraz", "и", "та", "й",
    "a", "ve", "dan", "và", "และ", "και", "और", "和", "与", "以及", "と", "および", "와", "과",
];

/// Words that offer another answer, or retract the one before.
#[rustfmt::skip]
pub(super) const OFFERS: &[&str] = &[
    "or", "or else", "otherwise", "alternatively", "else", "if not", "either", "vs", "vs.", "versus",
    "but", "though", "although", "however", "yet", "maybe", "perhaps", "possibly", "probably", "could", "might", "may",
    "can", "no", "nope", "wait", "hmm", "hm", "sorry", "oops", "actually", "correction", "edit", "update", "scratch that",
    "strike that", "never mind", "nevermind", "on second thought", "on second thoughts", "on reflection", "rechecking",
    "should be", "should have been", "ought to be", "just kidding", "kidding", "just joking", "jk", "change my answer",
    "change my choice", "changing my answer", "change it", "change that", "switch", "switching", "revise my answer", "new answer",
    "rather", "instead", "make that", "i mean", "i meant", "changed my mind", "change my mind",
    "second", "second guess", "second choice", "runner-up", "backup", "fallback",
    "as well as", "plus", "together with", "along with", "and also", "and so is", "and so are", "and maybe",
    "oder", "bzw.", "bzw", "vielleicht", "nein", "doch", "eigentlich", "aber", "ou", "peut-être", "non", "mais", "o", "quizás", "tal vez",
    "pero", "oppure", "forse", "anzi", "ma", "ou então", "talvez", "mas", "или", "либо", "возможно", "нет", "точнее", "но",
    "lub", "albo", "może", "nebo", "veya", "belki", "hayır", "หรือ", "sau", "vagy", "tai", "eller", "atau", "mungkin", "hoặc", "ή",
    "或", "或者", "也可能", "可能", "不对", "不對", "不,", "更正", "等等", "等一下", "其实", "但", "但也", "但也可能", "否则", "または", "いや", "違う",
    "もしくは", "또는", "혹은", "아니",
];

/// Words that may stand beside these.
#[rustfmt::skip]
pub(super) const LIGHT: &[&str] = &[
    "option", "choice", "answer", "letter", "guess", "pick", "output", "result", "value", "the", "a", "an", "my", "your", "it",
    "it's", "it’s", "its", "that", "that's", "that’s", "this", "is", "be", "being", "are", "was", "were", "would", "should", "must", "will",
    "also", "even", "then", "so", "and", "with", "as", "to", "too", "well", "equally", "i", "I", "i'd", "i'm", "i'll", "we", "think", "say",
    "get", "go", "correct", "right", "final", "first", "of course", "there", "let me", "after all", "really", "just", "well",
    "die", "antwort", "ist", "es", "es ist", "la", "el", "le", "est", "c'est", "è", "é", "это", "to", "je", "är", "er",
    "是", "是选项", "应该是", "應該是", "应是", "应为", "答案", "答案是", "选", "选项", "也是", "です", "は",
];

/// Words that leave the answer before them standing.
#[rustfmt::skip]
pub(super) const ASSENTS: &[&str] = &[
    "possible", "plausible", "likely", "right", "correct", "valid", "acceptable", "close", "works", "work", "fits", "fit", "holds",
    "could", "might", "may", "too", "also", "otherwise", "instead", "backup", "fallback", "second", "as well", "else", "true",
    "possibly", "maybe", "perhaps", "equally good", "not impossible", "a possibility",
    "也对", "也可以", "也行", "也正确", "也可能", "möglich", "auch", "aussi", "también", "também", "anche", "тоже", "также",
];

/// Words that begin another clause behind an answer.
pub(super) const BREAKS: &[&str] = &[
    "because",
    "since",
    "if",
    "when",
    "unless",
    "given",
    "depending",
    "but",
    "and",
    "or",
    "。",
    "，",
];

/// Words that begin a condition.
#[rustfmt::skip]
pub(super) const CONDITIONS: &[&str] = &[
    "if", "unless", "when", "whenever", "provided", "assuming", "only if", "as long as", "in case", "wenn", "falls", "si", "se", "если",
    "如果", "当",
];

/// What a text calls an answer that it takes back.
#[rustfmt::skip]
pub(super) const WRONG: &[&str] = &[
    "is wrong", "is incorrect", "is false", "is not right", "is not correct", "is not true", "is not the answer", "isn't right",
    "isn't correct", "isn’t right", "isn’t correct", "is a mistake", "is mistaken", "is a lie", "is nonsense", "is invalid", "is impossible",
    "was wrong", "was incorrect", "was a mistake", "was not right", "wrong", "incorrect", "false", "not right", "not correct", "not",
    "no", "nope", "just kidding", "not really", "said no one", "said nobody", "i'm not sure", "i am not sure", "i’m not sure", "ist falsch", "falsch", "est faux", "es falso",
    "es incorrecto", "è sbagliato", "está errado", "неверно", "是错的", "不对", "错了", "错误", "不正确", "ではない", "違います", "아닙니다",
];

/// Words between an answer and what takes it back.
#[rustfmt::skip]
pub(super) const SUBJECTS: &[&str] = &[
    "that", "this", "it", "which", "but", "oops", "hmm", "wait", "actually", "sorry", "oh", "well", "no", "that's", "that’s", "it's", "it’s",
    "and", "however", "i think", "unfortunately", "这", "那",
];
