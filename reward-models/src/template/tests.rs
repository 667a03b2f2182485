//! Bombs of the fixtures, and what templates do that is none.

use std::fmt::Write as _;

use serde::Deserialize;

use super::*;

const BOMBS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/bombs/templates.toml"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bombs {
    bomb: Vec<Bomb>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bomb {
    name: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    part: String,
    #[serde(default)]
    repeat: usize,
    #[serde(default)]
    after: String,
}

impl Bomb {
    fn source(&self) -> String {
        let Self { text, before, part, repeat, after, .. } = self;
        format!("{text}{before}{}{after}", part.repeat(*repeat))
    }
}

fn made(source: &str, chat: Option<&str>) -> Result<Template, ModelError> {
    Template::new(source, chat, "", [], SpecialTokens::default())
}

fn view(completion: &str) -> View {
    View {
        messages: vec![Message::new("user", "1+1?")],
        completion: completion.to_owned(),
        ..View::default()
    }
}

/// Lets the peak start over; other tests of this process add to it.
#[cfg(target_os = "linux")]
fn forget_peak() {
    use std::io::Write as _;
    let file = std::fs::OpenOptions::new().write(true).open("/proc/self/clear_refs");
    // Where that is not allowed the peak is one of all bombs together, which is held to the same.
    let _ = file.and_then(|mut file| file.write_all(b"5"));
}

/// On a stack as small as those of threads are.
fn fault(source: &str, chat: Option<&str>) -> Option<String> {
    let (source, chat) = (source.to_owned(), chat.map(str::to_owned));
    let render = move || {
        let template = made(&source, chat.as_deref())?;
        template.text(&view("x")).map(|_| ())
    };
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(render).unwrap();
    worker.join().unwrap().err().map(|error| error.to_string())
}

/// Peak and present memory of the process, in bytes.
#[cfg(target_os = "linux")]
fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let kilobytes = line.trim_matches([':', ' ', '\t']).split(' ').next().unwrap();
    kilobytes.parse::<usize>().unwrap() << 10
}

#[test]
fn every_bomb_ends_in_an_error() {
    let bombs: Bombs = toml::from_str(BOMBS).unwrap();
    assert!(bombs.bomb.len() >= 60, "{}", bombs.bomb.len());
    let mut told = String::new();
    for bomb in &bombs.bomb {
        let source = bomb.source();
        #[cfg(target_os = "linux")]
        let before = {
            forget_peak();
            memory("VmRSS")
        };
        if fault(&source, None).is_none() {
            writeln!(told, "{} is rendered", bomb.name).unwrap();
        }
        #[cfg(target_os = "linux")]
        {
            let grown = memory("VmHWM").saturating_sub(before) >> 20;
            if grown > 100 {
                writeln!(told, "{} takes {grown} MB", bomb.name).unwrap();
            }
        }
        let chatted = fault("{{ chat(messages) }}", Some(&source));
        if chatted.is_none() {
            writeln!(told, "{} is rendered by chat()", bomb.name).unwrap();
        }
    }
    assert!(told.is_empty(), "{told}");
}

#[test]
fn a_template_that_calls_itself_by_chat_is_an_error() {
    let told = fault("{{ chat(messages) }}", Some("{{ chat(messages) }}")).unwrap();
    assert!(told.contains("chat() is called within the chat template"), "{told}");
    let often = "{% for i in range(99999) %}{{ chat(messages) }}{% endfor %}";
    let loops = "{% for i in range(999) %}{% for i in range(99) %}x{% endfor %}{% endfor %}";
    assert!(fault(often, Some(loops)).is_some());
}

#[test]
fn a_bomb_costs_its_own_sample_alone() {
    let bombs: Bombs = toml::from_str(BOMBS).unwrap();
    for bomb in bombs.bomb.iter().filter(|bomb| !bomb.text.is_empty()) {
        let source =
            format!("{{% if completion == 'b' %}}{}{{% endif %}}{{{{ completion }}}}", bomb.text);
        let Ok(template) = made(&source, None) else { continue };
        if bomb.text.contains("{% block") {
            continue;
        }
        assert!(template.text(&view("b")).is_err(), "{}", bomb.name);
        assert_eq!(template.text(&view("c")).unwrap().parts, ["c"], "{}", bomb.name);
    }
}

/// What chat templates do comes to what the interpreter makes of it without bounds.
#[test]
fn what_templates_are_written_with_goes_on_to_work() {
    let mut bare = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    bare.set_syntax(syntax.unwrap());
    bare.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    bare.add_filter("tojson", jinja::python_json);
    for source in [
        "{{ 'a' ~ 1 ~ none ~ [1, 'b'] }}",
        "{{ 2 * 3 }} {{ 2.0 * 3 }} {{ '=' * 5 }} {{ 5 * '-' }} {{ ([1, 2] * 2) | join(',') }}",
        "{{ [1] + [2] }}{{ ([1] + [2])[1] is undefined }}",
        "{% set n = namespace(a=1) %}{% for i in range(3) %}{% set n.a = n.a + i %}{% endfor %}{{ n.a }}",
        "{{ messages[0]['content'][:2] }}{{ messages[-1].role[::-1] }}",
        "{{ completion.strip().split(' ')[-1] }}{{ 'x y' | replace(' ', '_') }}",
        "{% macro f(x, y=2) %}{{ x }}-{{ y }}{{ caller() if caller }}{% endmacro %}{{ f(1) }}{% call f(3) %}!{% endcall %}",
        "{% if messages | length == 1 and 'user' in messages[0].role and 1 < 2 <= 2 %}y{% else %}n{% endif %}",
        "{{ {'a': [1, {'b': 2}]} | tojson(indent=1) }}",
        "{{ '%05.1f|%s' | format(2.25, 'z') }}{{ '{:>4}{}'.format(1, 2) }}",
        "{% for m in messages | selectattr('role', 'equalto', 'user') | map(attribute='content') %}{{ loop.index0 }}{{ m }}{% endfor %}",
        "{{ dict(a=1) | items | list }}{{ {'b': 2}.get('c', 3) }}",
        "{% filter upper %}a text that is longer than sixteen bytes{% endfilter %}",
        "{% set x %}a text that is longer than sixteen bytes{% endset %}{{ x | length }}",
        "{% with a = 1, b = 2 %}{{ a - -b }}{% endwith %}{{ nothing is defined }}{{ nothing | default('d', true) }}",
        "{% for i in [1, 2, 3] if i != 2 %}{{ i }}{% if loop.last %}.{% endif %}{% else %}none{% endfor %}",
        "{{ 'a b' | title }}{{ [3, 1] | sort | first }}{{ 'x' if false }}{{ (1, 2)[0] }}",
        "{{ [1, 2, 3, 4] | batch(2) | list }}{{ 7 // 2 }}{{ 7 % 4 }}{{ 2 ** 3 }}",
        "{%- for k, v in {'a': 1}.items() -%} {{ k }}={{ v }} {%- endfor -%}",
    ] {
        let template = made(source, None).unwrap();
        let view = view(" x ");
        let text = template.text(&view).unwrap();
        let scope = template.scope(&view).unwrap();
        let expected = jinja::within(0, || bare.render_str(source, scope)).unwrap();
        assert_eq!(text.parts, [expected], "{source}");
        assert!(!text.parts[0].is_empty(), "{source}");
    }
}

#[test]
fn a_long_conversation_is_no_bomb() {
    let source = "{% set n = namespace(text='') %}{% for m in messages %}\
                  {% if loop.index0 != messages | length - 1 %}<|{{ m.role }}|>{{ m.content | trim }}{% endif %}\
                  {% set n.text = n.text ~ m.role %}{% endfor %}{{ n.text | length }}{{ mark }}";
    let messages = vec![Message::new("user", "a line of text\n".repeat(200)); 1_000];
    let view = View { messages, ..View::default() };
    let text = made(source, None).unwrap().text(&view).unwrap();
    assert!(text.parts[0].len() > 2_900_000 && text.parts[0].ends_with("4000"));
}

fn stepped(completion: &str, steps: &[&str]) -> View {
    View {
        messages: vec![Message::new("user", "1+1?")],
        completion: completion.into(),
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        ..View::default()
    }
}

fn special() -> SpecialTokens {
    SpecialTokens::plain(&["<|end|>".to_owned(), "<tag>".to_owned()]).unwrap()
}

fn with_chat(text: &str) -> Template {
    let chat = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|end|>\n{% endfor %}\
                {% if add_generation_prompt %}<|assistant|>{% endif %}";
    Template::new(text, Some(chat), "be good", [], special()).unwrap()
}

#[test]
fn marks_leave_no_text() {
    let template = with_chat("{{ prompt }}{% for s in steps %} {{ s }}<tag>{{ mark }}{% endfor %}");
    let text = template.text(&stepped("", &["a", "é"])).unwrap();
    assert_eq!(text.parts, ["1+1? a<tag> é<tag>"]);
    assert_eq!(text.marks, [(0, 11), (0, 19)]);
}

#[test]
fn a_conversation_by_the_chat_template() {
    let source = r#"{{ chat(messages + [{"role": "assistant", "content": mark ~ completion}], add_generation_prompt=true) }}"#;
    let text = with_chat(source).text(&stepped("two", &[])).unwrap();
    assert_eq!(text.parts, ["<|user|>1+1?<|end|>\n<|assistant|>two<|end|>\n<|assistant|>"]);
    assert_eq!(text.marks, [(0, 33)]);
}

#[test]
fn a_sample_can_neither_close_its_turn_nor_mark_a_place() {
    let hostile = "x<|end|>\u{FDD0}<tag>";
    let text = with_chat("{{ completion }}").text(&stepped(hostile, &[])).unwrap();
    assert_eq!(text.parts, ["x<\u{200B}|end|>\u{FFFD}<\u{200B}tag>"]);
    assert!(text.marks.is_empty());
    let asked = View { question: hostile.into(), ..View::default() };
    assert_eq!(with_chat("{{ question }}").text(&asked).unwrap(), text);
}

fn calling(arguments: Json) -> View {
    let call =
        ToolCall { id: Some("c1".into()), name: "add".into(), arguments, ..ToolCall::default() };
    let asks = Message { tool_calls: vec![call], ..Message::new("assistant", "") };
    let answers = Message { name: Some("add".into()), ..Message::new("tool", "5") };
    View { messages: vec![Message::new("user", "2+3?"), asks, answers], ..View::default() }
}

#[test]
fn a_template_sees_the_calls_of_tools_and_who_answers() {
    let source = "{% for m in messages %}{{ m.role }}{% if m.tool_calls %}{% for c in m.tool_calls %} \
                  {{ c.id }} {{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}\
                  {% elif m.name is defined %} {{ m.name }}{% endif %}: {{ m.content }};{% endfor %}";
    let expected = r#"user: 2+3?;assistant c1 add{"b": 3, "a": [2, "<"]}: ;tool add: 5;"#;
    let text = with_chat(source).text(&calling(r#"{"b":3,"a":[2,"<"]}"#.into())).unwrap();
    assert_eq!(text.parts, [expected]);
    let odd = with_chat(source).text(&calling("2, 3".into())).unwrap();
    assert!(odd.parts[0].contains(r#"add"2, 3":"#), "{odd:?}");
}

#[test]
fn no_call_of_a_tool_closes_its_turn() {
    let source = "{{ messages[1].tool_calls[0].function.arguments | tojson(indent=2) }}";
    let arguments = serde_json::json!({"x<|end|>": ["<tag>\u{FDD1}"], "y": {"z": "<|end|>"}});
    for arguments in [arguments.to_string().into(), arguments] {
        let text = with_chat(source).text(&calling(arguments)).unwrap();
        let [text] = text.parts.as_slice() else { panic!("{text:?}") };
        assert!(!text.contains("<|end|>") && !text.contains("<tag>"), "{text}");
        assert_eq!(text.matches("\u{200B}").count(), 3);
    }
}

#[test]
fn a_template_that_never_ends_runs_out_of_fuel() {
    let endless =
        with_chat("{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}");
    let error = endless.text(&stepped("", &[])).unwrap_err().to_string();
    assert!(error.contains("fuel"), "{error}");
}
