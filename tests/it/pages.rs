//! Every screen of `assay view` and `assay report` in a real browser: hostile texts, keys, contrast, a small
//! screen, and nothing that leaves the machine.

#![allow(
    clippy::format_collect,
    clippy::format_push_string,
    reason = "a test stops at what it does not expect"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::place::Place;
use crate::view::Viewer;

/// What is seen on a page that should not be there.
const CHECKS: &str = include_str!("pages/checks.js");

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join("fixtures").join(name)).unwrap()
}

/// Rows whose every text is hostile, and one of 10 MB.
fn hostile_rows() -> String {
    let texts: Vec<String> = serde_json::from_str(&fixture("pages/hostile.json")).unwrap();
    assert!(texts.len() > 100);
    let (mut rows, mut seen) = (String::new(), BTreeSet::new());
    for (at, text) in texts.iter().enumerate() {
        let id = if seen.insert(text) { text.clone() } else { format!("{at} {text}") };
        let completion = format!("{text}\n{}", if at % 2 == 0 { text } else { "4" });
        let row = json!({
            "id": id, "prompt": text, "completion": completion, "reference": if at % 5 == 0 { "4" } else { text },
            "group": format!("{} {text}", at / 4), "text": text,
        });
        rows.push_str(&format!("{row}\n"));
    }
    let large = format!("{}\n4", "x".repeat(10 << 20));
    let row = json!({ "id": "large", "prompt": "q", "completion": large, "reference": "4", "group": "l" });
    format!("{rows}{row}\n")
}

/// Two runs over hostile rows; the name of a reward is hostile too.
fn scored() -> Place {
    let config = |weight: f64| {
        format!(
            "version = 1\n[data]\ngroup = 'group'\n[[reward]]\nname = '<img src=x onerror=alert(1)>'\n\
             verifier = 'exact'\nweight = {weight:?}\n[[reward]]\nname = 'brief'\nverifier = 'length'\n\
             weight = 0.2\nconfig = {{ max = 100, unit = 'words' }}\n"
        )
    };
    let place = Place::with(&[
        ("a.toml", &config(1.0)),
        ("b.toml", &config(0.5)),
        ("d.jsonl", &hostile_rows()),
    ]);
    for (config, run) in [("a.toml", "one"), ("b.toml", "two")] {
        let ran = place.run(&format!("score {config} d.jsonl -o {run} -q"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    place
}

/// Goes to a screen, and waits until it is drawn.
fn go(browser: &mut Browser, hash: &str) {
    browser.value(&format!(
        "new Promise((done) => {{
           const main = document.querySelector('main');
           if (location.hash === '{hash}') return done();
           new MutationObserver((_, own) => {{ own.disconnect(); setTimeout(done); }})
             .observe(main, {{ childList: true }});
           location.hash = '{hash}';
         }})"
    ));
    browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
}

/// That nothing ran, nothing left, and nothing was said on the console.
fn quiet(browser: &Browser, host: &str) {
    assert_eq!(browser.errors, Vec::<String>::new());
    assert_eq!(browser.dialogs, 0);
    let left: Vec<&String> = browser.requests.iter().filter(|own| !own.starts_with(host)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn no_screen_runs_what_a_model_wrote() {
    let Some(mut browser) = Browser::start() else { return };
    let place = scored();
    let viewer = Viewer::start(&place, "view one two");
    let (address, host) = viewer.page();
    browser.screen(1280, "light");
    browser.open(&address);
    let rows = browser.value("DATA.runs[0].overview.rows").as_u64().unwrap();
    let mut screens: Vec<String> =
        ["overview", "samples", "samples?q=script&sort=reward&desc=1", "compare?a=0&b=1"]
            .map(|screen| format!("#/{screen}"))
            .to_vec();
    screens.extend(
        (0..rows)
            .step_by(9)
            .flat_map(|at| [format!("#/sample?at={at}"), format!("#/group?at={at}")]),
    );
    screens.push(format!("#/sample?at={}", rows - 1));
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light")] {
        browser.screen(width, scheme);
        for (at, screen) in screens.iter().enumerate() {
            // What is the same in each row is looked at once in each scheme.
            if at > 8 && width == 360 {
                continue;
            }
            go(&mut browser, screen);
            assert_eq!(browser.value(CHECKS), json!([]), "{width} {scheme} {screen}");
        }
    }
    // A text is shown as it is, with marks for what is not seen.
    let texts: Vec<String> = serde_json::from_str(&fixture("pages/hostile.json")).unwrap();
    let escape = texts.iter().position(|text| text.starts_with("\u{1b}[31m")).unwrap();
    go(&mut browser, &format!("#/sample?at={escape}"));
    assert_eq!(browser.value("document.querySelector('pre.text').innerText"), "ESC[31mredESC[0m");
    go(&mut browser, "#/sample?at=0");
    assert_eq!(
        browser.value("document.querySelector('pre.text').innerText"),
        Value::from(texts[0].as_str())
    );
    quiet(&browser, &host);
}

/// The next row by its key is that of the list as it is sorted, and beyond its first page.
fn lists_are_walked(browser: &mut Browser) {
    // The row after, in the order that is shown: right rows, of which r119 is the last, and then wrong ones.
    go(browser, "#/samples?sort=reward&desc=1");
    go(browser, "#/sample?at=119&sort=reward&desc=1");
    browser.wait("document.querySelector('h1').textContent === 'r119'");
    browser.press("j");
    browser.wait("document.querySelector('h1').textContent === 'r0'");
    browser.press("j");
    browser.wait("document.querySelector('h1').textContent === 'r3'");
    browser.press("k");
    browser.press("k");
    browser.wait("document.querySelector('h1').textContent === 'r119'");
    // The page beyond the first, by its key.
    go(browser, "#/samples");
    go(browser, "#/sample?at=99");
    browser.wait("document.querySelector('h1').textContent === 'r99'");
    browser.press("j");
    browser.wait("document.querySelector('h1').textContent === 'r100'");
}

#[test]
fn keys_lead_from_a_run_to_the_reason_of_a_zero() {
    let Some(mut browser) = Browser::start() else { return };
    let rows: String = (0..120)
        .map(|at| {
            let row = json!({ "id": format!("r{at}"), "prompt": "1 + 2 = ?", "reference": "3",
                "completion": format!("So it is\n{}", if at % 3 == 0 { "4" } else { "3" }) });
            format!("{row}\n")
        })
        .collect();
    let config = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'math'\n";
    let place = Place::with(&[("a.toml", config), ("d.jsonl", &rows)]);
    assert_eq!(place.run("score a.toml d.jsonl -o run -q").code, 0);
    let viewer = Viewer::start(&place, "view run");
    let (address, host) = viewer.page();
    browser.screen(1280, "light");
    browser.open(&address);
    browser.picture("overview");
    let at = |browser: &mut Browser| browser.value("location.hash");
    browser.press("/");
    browser.wait("document.activeElement.id === 'search'");
    browser.press("Escape");
    browser.press("j");
    browser.press("j");
    browser.press("k");
    assert_eq!(browser.value("document.querySelector('tr.selected').dataset.row"), "1");
    browser.picture("samples");
    browser.press("Enter");
    browser.wait("location.hash.startsWith('#/sample?') && document.querySelector('#mark-right')");
    assert_eq!(at(&mut browser), "#/sample?at=1");
    browser.press("j");
    browser.wait("document.querySelector('h1').textContent === 'r2'");
    browser.press("j");
    browser.wait("document.querySelector('h1').textContent === 'r3'");
    browser.picture("sample");
    browser.press("k");
    browser.wait("document.querySelector('h1').textContent === 'r2'");
    let open = "[...document.querySelectorAll('main details')].filter((one) => one.open).length";
    browser.press("e");
    let first = browser.value(open);
    browser.press("e");
    assert_ne!(browser.value(open), first);
    browser.press("y");
    browser.wait("document.querySelector('form.label').textContent.includes('saved: right')");
    browser.press("g");
    browser.wait("location.hash.startsWith('#/group') && document.querySelector('.members')");
    browser.press("?");
    browser.wait("document.querySelector('dialog')?.open");
    assert_eq!(browser.value(CHECKS), json!([]));
    browser.press("Escape");
    browser.wait("!document.querySelector('dialog')");
    // Three clicks: the samples, the lowest first, the row; the reason is on the page.
    go(&mut browser, "#/samples?sort=reward");
    browser.value("document.querySelector('tr[data-row] a').click()");
    browser.wait("document.querySelector('.verdict')");
    assert_eq!(
        browser.value("document.querySelector('.verdict dd').textContent.includes('unequal')"),
        true
    );
    lists_are_walked(&mut browser);
    quiet(&browser, &host);
    assert_eq!(fs::read_to_string(place.path("run/labels.jsonl")).unwrap().lines().count(), 1);
}

#[test]
fn a_report_opens_from_its_file_alone() {
    let Some(mut browser) = Browser::start() else { return };
    let place = scored();
    assert_eq!(place.run("report one -o report.html").code, 0);
    let address = format!("file://{}", place.path("report.html").display());
    browser.screen(1280, "light");
    browser.open(&address);
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "dark")] {
        browser.screen(width, scheme);
        for screen in
            ["#/overview", "#/samples", "#/sample?at=0", "#/group?at=0", "#/sample?at=131"]
        {
            go(&mut browser, screen);
            assert_eq!(browser.value(CHECKS), json!([]), "{width} {scheme} {screen}");
        }
    }
    // On paper too.
    let printed = browser.call("Page.printToPDF", json!({ "printBackground": true }));
    assert!(printed["data"].as_str().unwrap().len() > 1000);
    quiet(&browser, &address);
}

#[test]
fn a_training_is_shown_with_its_curves_alarms_and_rollouts() {
    let Some(mut browser) = Browser::start() else { return };
    let place = Place::with(&[]);
    fs::create_dir(place.path("train")).unwrap();
    let lines = |of: &dyn Fn(u32) -> Value| {
        (1..=40).map(|step| format!("{}\n", of(step))).collect::<String>()
    };
    let wave = |step: u32| f64::from(step % 7) / 7.0;
    let metrics = lines(
        &|step| json!({ "step": step, "reward": wave(step), "eval_accuracy": 0.5, "kl": wave(step) }),
    );
    let rollouts = lines(&|step| {
        json!({
            "step": step, "group": 0, "task": "t", "prompt": "1 + 2 = ?", "completion": "</script>\n3", "tokens": 4,
            "truncated": false, "reward": wave(step), "rewards": { "correct": wave(step), "brief": null },
            "correct": 1.0, "fault": null, "advantage": 0.0, "entropy": 0.1,
        })
    });
    let warning = json!({ "step": 7, "alarm": "length_pays", "message": "<script>window.pwned=1</script>\u{1b}[2J" });
    for (name, text) in
        [("metrics", metrics), ("rollouts", rollouts), ("warnings", format!("{warning}\n"))]
    {
        place.write(&format!("train/{name}.jsonl"), &text);
    }
    let viewer = Viewer::start(&place, "view train");
    let (address, host) = viewer.page();
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light")] {
        browser.screen(width, scheme);
        browser.open(&address);
        for screen in ["#/training", "#/overview", "#/sample?at=3", "#/group?at=3"] {
            go(&mut browser, screen);
            assert_eq!(browser.value(CHECKS), json!([]), "{width} {scheme} {screen}");
        }
        go(&mut browser, "#/training");
        assert_eq!(browser.value("document.querySelectorAll('svg .curve').length"), 3);
        assert_eq!(browser.value("document.querySelectorAll('svg .alarm').length"), 3);
        browser.picture(&format!("training-{scheme}-{width}"));
    }
    browser.value("[...document.querySelectorAll('main a')].find((a) => a.textContent === 'rollouts').click()");
    browser.wait("location.hash.startsWith('#/samples') && document.querySelector('tr[data-row]')");
    assert_eq!(
        browser.value("document.querySelectorAll('tr[data-row]').length"),
        1,
        "the rollouts of step 7"
    );
    quiet(&browser, &host);
}

#[test]
fn an_audit_is_shown_by_its_families() {
    let Some(mut browser) = Browser::start() else { return };
    let config = "version = 1\n[[reward]]\nname = 'own'\nverifier = 'contains'\n";
    let row = json!({ "prompt": "</script>?", "completion": "It is 3.", "reference": "42" });
    let place = Place::with(&[("a.toml", config), ("d.jsonl", &format!("{row}\n"))]);
    let ran = place.run("audit a.toml d.jsonl -o out --family negation --family empty -q");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let viewer = Viewer::start(&place, "view out");
    let (address, host) = viewer.page();
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light")] {
        browser.screen(width, scheme);
        browser.open(&address);
        go(&mut browser, "#/audit");
        assert_eq!(browser.value(CHECKS), json!([]), "{width} {scheme}");
    }
    let first = "document.querySelector('main table tbody tr')";
    let told = browser.value(&format!("{first}.textContent"));
    let figures = told.as_str().unwrap().strip_prefix("negationnot paid").unwrap();
    let (paid, of) = figures.split_once(" of ").unwrap();
    assert!(of.starts_with(&format!("{paid} (")) && paid.parse::<u32>().unwrap() >= 8, "{told}");
    browser.value(&format!("{first}.querySelector('a').click()"));
    browser.wait(&format!("document.querySelectorAll('tr[data-row]').length === {paid}"));
    quiet(&browser, &host);
}
