//! The fixture format: what a case may promise, and how a verdict is compared with it.

use assay_verifiers::cases::{Case, parse};
use assay_verifiers::{Outcome, Reward, Step, Usage, Verdict, registry};

fn case(body: &str) -> Result<Case, String> {
    let text = format!(
        "check = \"exact\"\nconfig = {{ ignore_case = true }}\n[[case]]\nname = \"n\"\n{body}"
    );
    parse(&text).map(|file| file.cases.into_iter().next().unwrap())
}

#[test]
fn the_settings_of_a_case_win_over_those_of_its_file() {
    let build = registry::find("exact").unwrap().build;
    let loose = case("completion = \"A\"\nreference = \"a\"\nreward = 1").unwrap();
    assert_eq!(loose.disagreement(&loose.run(build).unwrap()), None);
    let strict =
        case("completion = \"A\"\nreference = \"a\"\nreward = 1\nconfig = { ignore_case = false }")
            .unwrap();
    let told = strict.disagreement(&strict.run(build).unwrap()).unwrap();
    assert!(told.starts_with("expected reward 1, got reward 0"), "{told}");
}

#[test]
fn a_case_that_promises_nothing_or_too_much_is_refused() {
    for body in [
        "completion = \"A\"",
        "completion = \"A\"\nreward = 1\noutcome = \"failed\"",
        "completion = \"A\"\nhack = \"h\"\nreward = 1",
        "completion = \"A\"\nreward = nan",
        "completion = \"A\"\noutcome = \"abstained\"\nfault = \"Trap\"",
        "completion = \"A\"\nreward = 1\nrewad = 1",
    ] {
        assert!(case(body).is_err(), "{body}");
    }
    let twice = "check = \"x\"\n[[case]]\nname = \"n\"\ncompletion = \"\"\nreward = 0\n";
    let again = twice.split_once('\n').unwrap().1;
    assert!(parse(&format!("{twice}{again}")).unwrap_err().contains("used twice"));
}

#[test]
fn evidence_is_compared_where_the_case_names_it() {
    let build = registry::find("exact").unwrap().build;
    let case = case(
        "completion = \"so\\n b\"\nreference = \"a\"\nreward = 0\nevidence = { span = [4, 5] }",
    )
    .unwrap();
    assert_eq!(case.disagreement(&case.run(build).unwrap()), None);
}

#[test]
fn components_steps_and_usage_are_compared_where_the_case_names_them() {
    let mut verdict = Verdict::graded(true);
    verdict.components.push("a", Outcome::Scored(Reward::ONE).into());
    verdict.steps = vec![Step::new((0, 2), Reward::ONE), Step::new((3, 4), Reward::ZERO)];
    verdict.usage = Usage { tokens: 7, calls: 2 };
    let told = |wanted: &str| {
        let body = format!("completion = \"A\"\nreward = 1\n{wanted}");
        case(&body).unwrap().disagreement(&verdict)
    };
    for wanted in [
        "components = { a = { reward = 1 } }",
        "steps = [{ span = [0, 2], reward = 1 }, { reward = 0.0 }]",
        "usage = { tokens = 7 }",
    ] {
        assert_eq!(told(wanted), None);
    }
    for wanted in [
        "components = { a = { reward = 0 } }",
        "components = { b = { reward = 1 } }",
        "steps = [{ span = [0, 2] }]",
        "steps = []",
        "usage = { calls = 1 }",
    ] {
        assert!(told(wanted).is_some(), "{wanted}");
    }
}

fn group_case(check: &str, body: &str) -> Result<Case, String> {
    let text = format!("check = \"{check}\"\n[[case]]\nname = \"n\"\ncompletion = \"a\"\n{body}");
    parse(&text).map(|file| file.cases.into_iter().next().unwrap())
}

#[test]
fn a_case_of_a_group_judges_the_member_at_its_place() {
    let build = registry::find("rank").unwrap().build;
    let body = |place: usize| {
        format!(
            "config = {{ of = \"score\" }}\nearlier = {{ score = 2 }}\nplace = {place}\nreward = 0.5\n\
             evidence = {{ below = 1, above = 1 }}\n\
             peers = [{{ completion = \"b\", earlier = {{ score = 1 }} }}, \
             {{ completion = \"c\", earlier = {{ score = 3.5 }} }}]"
        )
    };
    for place in 0..3 {
        let case = group_case("rank", &body(place)).unwrap();
        assert_eq!(case.disagreement(&case.run(build).unwrap()), None, "{place}");
    }
    let told = group_case("rank", &body(3)).unwrap_err();
    assert!(told.contains("place is behind the last peer"), "{told}");
}

#[test]
fn a_check_of_single_samples_has_no_peers() {
    let body = "reference = \"a\"\nreward = 1\npeers = [{ completion = \"b\" }]";
    let case = group_case("exact", body).unwrap();
    let told = case.run(registry::find("exact").unwrap().build).unwrap_err();
    assert_eq!(told.to_string(), "only verifiers of groups have cases with peers");
}

#[test]
fn a_check_of_single_samples_sees_what_other_rewards_said() {
    let body = "config = { script = \"if rewards.fluent == 1.0 { 1.0 } else { 0.0 }\" }\n\
                earlier = { fluent = 1.0, grounded = \"abstained\" }\nreward = 1";
    let case = group_case("rhai", body).unwrap();
    let verdict = case.run(registry::find("rhai").unwrap().build).unwrap();
    assert_eq!(case.disagreement(&verdict), None);
}
