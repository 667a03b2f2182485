//! The words of an announcement, in the languages in which models answer.

/// Stems of nouns that announce an answer; many languages add endings. The English ones mean "the
/// answer" in more than one check.
#[rustfmt::skip]
pub(super) const STEMS: &[&str] = &[
    // English, besides "answer".
    "correct option", "correct choice", "right option", "right choice", "best option", "final option", "correct letter",
    "final result", "result:", "ans:", "ans =", "ans=", "ans.", "solution:",
    // Chinese, Japanese, Korean.
    "答案", "故选", "应选", "答：", "答:", "最终结果", "答え", "解答", "回答", "正解", "정답", "답은", "답:", "답 :", "답이",
    // Russian, Ukrainian, Bulgarian, Polish, Czech, Slovak, Serbian and Croatian.
    "ответ", "відповідь", "отговор", "odpowied", "odpověď", "odpoveď", "odgovor", "одговор",
    // German, Dutch, the Nordic languages, Finnish, Hungarian.
    "antwort", "antwoord", "svaret", "svar:", "vastaus", "válasz",
    // French, Spanish, Portuguese, Italian, Catalan, Romanian, Greek.
    "réponse", "reponse", "respuesta", "resposta", "risposta", "răspuns", "απάντηση",
    // Arabic, Persian, Hebrew, Hindi, Bengali, Urdu.
    "الجواب", "الإجابة", "الاجابة", "جواب", "پاسخ", "התשובה", "תשובה", "उत्तर", "जवाब", "উত্তর",
    // Vietnamese, Indonesian and Malay, Filipino, Thai, Turkish, Swahili.
    "đáp án", "đáp số", "câu trả lời", "jawaban", "jawapan", "sagot", "คำตอบ", "cevap", "cevab", "yanıt", "jibu",
];

/// Verbs and signs between a stem and the answer. In scripts without spaces they occur anywhere.
#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    ":", "：", "=", "—", "–", "→",
    "is", "are", "was", "would be", "will be", "must be", "should be", "equals", "as",
    "就是", "应该是", "应为", "是", "为", "は", "が", "은", "는", "이",
    "это", "равен", "равна", "равно", "составляет", "является", "будет", "є", "дорівнює", "е",
    "to", "jest", "wynosi", "brzmi", "je", "ist", "lautet", "beträgt", "sind", "wäre", "is", "zijn", "luidt", "bedraagt",
    "är", "er", "blir", "on", "az",
    "est", "sont", "vaut", "serait", "es", "son", "sería", "será", "é", "são", "seria", "è", "sono", "sarà", "este", "είναι",
    "هي", "هو", "היא", "הוא", "है", "হল", "হলো",
    "là", "adalah", "ialah", "yaitu", "ay", "คือ", "ni",
];

/// Copulas behind the answer, in other languages.
#[rustfmt::skip]
pub(super) const COPULAS: &[&str] = &[
    "です", "である", "だ", "になります", "となります", "입니다", "이다", "이에요", "예요", "है", "हैं", "হয়", "است", "'dir", "'dır",
    "'tir", "'tır", "'dur", "'dür", "'tur", "'tür", "'dür", "dir", "dır", "olur",
];

/// Words between the verb and the answer.
pub(super) const FILLERS: &[&str] = &[
    "donc",
    "entonces",
    "por lo tanto",
    "portanto",
    "então",
    "quindi",
    "dunque",
    "also",
    "somit",
    "daher",
    "dus",
    "итак",
    "таким образом",
];
