//! The notations of calls, and the marks that open them.

/// How calls are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// The notation; `None` takes whichever the text has.
    pub format: Option<Format>,
    /// A variable and a nested call in an argument of Python count as the text that writes them, as
    /// in BFCL. Without, they are refused.
    pub names: bool,
    /// Text behind calls is allowed.
    pub text_after: bool,
}

/// Declares the notations with their names.
macro_rules! formats {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// A notation of calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format { $($(#[doc = $doc])* $variant,)* }

        impl Format {
            /// Every notation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name by which settings and evidence know it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

formats! {
    /// A message of `OpenAI` with `tool_calls`.
    OpenAi = "openai",
    /// Content of Anthropic with blocks `tool_use`.
    Anthropic = "anthropic",
    /// Bare JSON: an object with name and arguments, or a list of them; xLAM, Hammer.
    Json = "json",
    /// `<tool_call>{json}</tool_call>`: Hermes, Qwen 2.5 and 3, Granite 4.
    Hermes = "hermes",
    /// `<function=name><parameter=key>value</parameter></function>`: Qwen3-Coder.
    QwenXml = "qwen_xml",
    /// `<|python_tag|>`, `<function=name>{json}</function>`, `<|python_start|>`: Llama 3.1 to 4.
    Llama = "llama",
    /// `[TOOL_CALLS] [...]`, `[TOOL_CALLS]name[ARGS]{json}`.
    Mistral = "mistral",
    /// The special tokens of `DeepSeek` V3, R1, V3.1, and the tags of V3.2.
    DeepSeek = "deepseek",
    /// `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`: GLM-4.5.
    Glm = "glm",
    /// The special tokens of Kimi K2.
    Kimi = "kimi",
    /// `<|tool_call|>[json]<|/tool_call|>`, `functools[json]`: Phi-4-mini.
    Phi = "phi",
    /// `<|tool_call|>[json]`, `<function_call>{json}`: Granite 3.
    Granite = "granite",
    /// `Action: name`, and `Action Input: {json}` on the next line: `ReAct`.
    React = "react",
    /// `<|action_start|><|plugin|>{json}<|action_end|>`: `InternLM` 2.
    InternLm = "internlm",
    /// `>>>name` and `{json}` on the next line, `<|recipient|>name<|content|>{json}`: Functionary. The
    /// template of the first one writes `>>>`: read by name alone where the text lacks it.
    Functionary = "functionary",
    /// `<tool_calls>[json]</tool_calls>`: Jamba. By name alone, as it is that of `MiniMax` too.
    Jamba = "jamba",
    /// Channels of gpt-oss.
    Harmony = "harmony",
    /// `<|START_ACTION|>[json]<|END_ACTION|>`, `Action:` with a fence: Command R.
    Command = "command_r",
    /// `<tool_calls>json lines</tool_calls>`, `<minimax:tool_call>`: `MiniMax` M1, M2.
    MiniMax = "minimax",
    /// `<function_calls><invoke name="..."><parameter name="...">`.
    Invoke = "invoke",
    /// `[f(a=1), g(x="..")]`; in the tags of LFM2, `MiniCPM`, Nemotron and `OLMo` too.
    Python = "python",
    /// A call of Java, as BFCL has it. By name alone.
    Java = "java",
    /// A call of JavaScript, as BFCL has it. By name alone.
    JavaScript = "javascript",
}

impl Format {
    /// The notation of this name.
    pub fn named(name: &str) -> Option<Self> {
        let name = match name {
            "xlam" => "json",
            "qwen" => "hermes",
            name => name,
        };
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

/// What stands behind an opening mark.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// Calls of JSON, side by side or as a list, up to a mark, which may be missing where the text
    /// ends.
    Json { close: &'static str, must_close: bool },
    /// Calls of Python, or of JSON, up to a mark; they may stand in a fence.
    Either { close: &'static str, must_close: bool },
    /// `<tool_call>`: JSON, a function with parameters, or a name with pairs.
    ToolCall,
    /// `<function=`: JSON or parameters.
    Function,
    /// A list, or a name and its arguments.
    Mistral,
    /// Calls that have opening and closing marks of their own.
    Sections(&'static Sections),
    /// Tags `invoke` with a prefix.
    Invokes { prefix: &'static str, close: &'static str },
    /// A header with a recipient, and a message.
    Harmony,
    /// JSON in a fence, or a name and what it is called with on the next line.
    Action,
    /// A name, and an object on the next line.
    Recipient,
    /// The bracket of the mark is part of the JSON.
    Functools,
    /// Nothing opens what this closes or continues.
    Unopened,
}

/// Marks of calls within one section.
#[derive(Debug)]
pub(crate) struct Sections {
    pub(crate) begin: &'static str,
    pub(crate) separator: &'static str,
    pub(crate) end: &'static str,
    pub(crate) close: &'static str,
}

const DEEPSEEK: Sections = Sections {
    begin: "<｜tool▁call▁begin｜>",
    separator: "<｜tool▁sep｜>",
    end: "<｜tool▁call▁end｜>",
    close: "<｜tool▁calls▁end｜>",
};

const KIMI: Sections = Sections {
    begin: "<|tool_call_begin|>",
    separator: "<|tool_call_argument_begin|>",
    end: "<|tool_call_end|>",
    close: "<|tool_calls_section_end|>",
};

const ACTION: Body = Body::Json { close: "<|action_end|>", must_close: true };

/// A mark that opens calls: its text, the notations that have it (the first is reported), what
/// follows.
pub(crate) type Mark = (&'static str, &'static [Format], Body);

use Format::{
    Command, DeepSeek, Functionary, Glm, Granite, Harmony, Hermes, InternLm, Invoke, Jamba, Kimi,
    Llama, MiniMax, Mistral, Phi, Python, QwenXml, React,
};

/// Marks within lines.
pub(crate) const MARKS: [Mark; 34] = [
    ("<tool_call>", &[Hermes, QwenXml, Glm], Body::ToolCall),
    ("<function=", &[QwenXml, Llama], Body::Function),
    ("<|python_tag|>", &[Llama], Body::Either { close: "", must_close: false }),
    ("<|python_start|>", &[Llama], Body::Either { close: "<|python_end|>", must_close: true }),
    ("[TOOL_CALLS]", &[Mistral], Body::Mistral),
    ("<｜tool▁calls▁begin｜>", &[DeepSeek], Body::Sections(&DEEPSEEK)),
    (
        "<｜DSML｜function_calls>",
        &[DeepSeek],
        Body::Invokes { prefix: "｜DSML｜", close: "</｜DSML｜function_calls>" },
    ),
    ("<|tool_calls_section_begin|>", &[Kimi], Body::Sections(&KIMI)),
    ("<|tool_call|>", &[Granite, Phi], Body::Json { close: "<|/tool_call|>", must_close: false }),
    ("<function_call>", &[Granite], Body::Json { close: "</function_call>", must_close: false }),
    ("<tool_calls>", &[MiniMax, Jamba], Body::Json { close: "</tool_calls>", must_close: true }),
    (
        "<minimax:tool_call>",
        &[MiniMax],
        Body::Invokes { prefix: "", close: "</minimax:tool_call>" },
    ),
    (
        "<function_calls>",
        &[Invoke, Python],
        Body::Invokes { prefix: "", close: "</function_calls>" },
    ),
    ("<|START_ACTION|>", &[Command], Body::Json { close: "<|END_ACTION|>", must_close: true }),
    (
        "<|tool_call_start|>",
        &[Python],
        Body::Either { close: "<|tool_call_end|>", must_close: true },
    ),
    ("<TOOLCALL>", &[Python], Body::Either { close: "</TOOLCALL>", must_close: true }),
    ("<|action_start|><|plugin|>", &[InternLm], ACTION),
    ("<|action_start|>", &[InternLm], ACTION),
    ("<|recipient|>", &[Functionary], Body::Recipient),
    ("<|channel|>", &[Harmony], Body::Harmony),
    ("<|start|>", &[Harmony], Body::Harmony),
    ("</tool_call>", &[Hermes, QwenXml, Glm], Body::Unopened),
    ("<arg_key>", &[Glm], Body::Unopened),
    ("<parameter=", &[QwenXml], Body::Unopened),
    ("</function>", &[QwenXml, Llama], Body::Unopened),
    ("[ARGS]", &[Mistral], Body::Unopened),
    (DEEPSEEK.begin, &[DeepSeek], Body::Unopened),
    (DEEPSEEK.close, &[DeepSeek], Body::Unopened),
    (KIMI.begin, &[Kimi], Body::Unopened),
    (KIMI.close, &[Kimi], Body::Unopened),
    ("<|END_ACTION|>", &[Command], Body::Unopened),
    ("<|action_end|>", &[InternLm], Body::Unopened),
    ("</minimax:tool_call>", &[MiniMax], Body::Unopened),
    ("</tool_calls>", &[MiniMax, Jamba], Body::Unopened),
];

/// Marks at the start of a line.
pub(crate) const LINE_MARKS: [Mark; 4] = [
    ("functools[", &[Phi], Body::Functools),
    ("Action:", &[Command, React], Body::Action),
    ("Action Input:", &[React], Body::Unopened),
    (">>>", &[Functionary], Body::Recipient),
];

/// Marks around thoughts.
pub(crate) const THOUGHTS: [(&str, &str); 13] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<antThinking>", "</antThinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];

/// Tokens that end a turn: what follows is no part of it.
pub(crate) const TURN_ENDS: [&str; 22] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|start_header_id|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "<|stop|>",
    "<|END_RESPONSE|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|user|>",
    "<|observation|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "[e~[",
    "</s>",
];

/// What a mark within a line is.
pub(crate) enum Sign {
    /// It ends the turn.
    TurnEnd,
    /// It opens a thought, which this closes.
    Opens(&'static str),
    /// It closes a thought.
    Closes,
    /// It opens calls.
    Calls(Mark),
}

/// How many marks there are.
const SIGNS: usize = TURN_ENDS.len() + 2 * THOUGHTS.len() + MARKS.len();

/// The first four bytes of every mark, in the order of [`sign_at`]: most places are none by them.
const KEYS: [u32; SIGNS] = {
    let mut keys = [0; SIGNS];
    let mut at = 0;
    while at < SIGNS {
        #[expect(clippy::indexing_slicing, reason = "`at` is below `SIGNS`")]
        {
            keys[at] = key(sign_at(at).0.as_bytes());
        }
        at += 1;
    }
    keys
};

const fn key(bytes: &[u8]) -> u32 {
    match bytes.first_chunk::<4>() {
        Some(chunk) => u32::from_le_bytes(*chunk),
        None => 0,
    }
}

/// The marks, counted through.
#[expect(
    clippy::indexing_slicing,
    reason = "each index is below the length that it is reduced by next"
)]
const fn sign_at(at: usize) -> (&'static str, Sign) {
    if at < TURN_ENDS.len() {
        return (TURN_ENDS[at], Sign::TurnEnd);
    }
    let at = at - TURN_ENDS.len();
    if at < THOUGHTS.len() {
        return (THOUGHTS[at].0, Sign::Opens(THOUGHTS[at].1));
    }
    let at = at - THOUGHTS.len();
    if at < THOUGHTS.len() {
        return (THOUGHTS[at].1, Sign::Closes);
    }
    let mark = MARKS[(at - THOUGHTS.len()) % MARKS.len()];
    (mark.0, Sign::Calls(mark))
}

/// The mark that a text starts with.
pub(crate) fn sign(text: &str) -> Option<(&'static str, Sign)> {
    let own = key(text.as_bytes());
    if !KEYS.contains(&own) {
        return None;
    }
    let of_key = KEYS.iter().enumerate().filter(|(_, key)| **key == own);
    of_key.map(|(at, _)| sign_at(at)).find(|(mark, _)| text.starts_with(mark))
}
