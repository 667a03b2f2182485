// The page of `assay report` and `assay view`. Every text of a run is set as text, never as markup.
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const IS_REPORT = DATA.kind === "report";
const PAGE_ROWS = 100;
const SVG = "http://www.w3.org/2000/svg";

// ---- elements ----

// An element: `attributes` are set, `on...` are listeners, children are nodes or texts.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  return fill(element, attributes, children);
}

function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "open") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

// What is not seen, or turns the direction of text. Line ends and tabs are seen.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

// A text with a mark for each character that is not seen.
function visible(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > at) nodes.push(text.slice(at, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const name = code === "001B" ? "ESC" : code === "0000" ? "NUL" : code === "000D" ? "CR" : "U+" + code;
    nodes.push(h("span", { class: "hidden-char", title: "U+" + code }, name));
    at = found.index + found[0].length;
  }
  if (at < text.length) nodes.push(text.slice(at));
  return h("bdi", null, nodes);
}

// ---- numbers ----

function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(digits)));
}

function share(part, all) {
  return all ? (100 * part / all).toFixed(part && part < all / 100 ? 2 : 1) + " %" : "–";
}

function seconds(us) {
  if (us === null || us === undefined) return "–";
  return us < 1000 ? us + " µs" : us < 1e6 ? number(us / 1000, 3) + " ms" : number(us / 1e6, 3) + " s";
}

// ---- where rows come from ----

// The rows that a report holds.
const embedded = {
  async rows(query) {
    let rows = DATA.rows.filter((row) => matches(row, query));
    const key = {
      reward: (row) => row.line.reward, length: (row) => row.texts && row.texts.chars,
      time: (row) => row.us, row: (row) => row.at,
    }[query.sort || "row"];
    const sign = query.desc ? -1 : 1;
    const missing = (value) => value === null || value === undefined;
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (missing(x) || missing(y)) return missing(x) - missing(y) || a.at - b.at;
      return sign * (x - y) || a.at - b.at;
    });
    const offset = query.offset || 0;
    const place = rows.findIndex((row) => row.at === query.at);
    return { total: rows.length, place: place < 0 ? null : place, rows: rows.slice(offset, offset + (query.limit ?? PAGE_ROWS)) };
  },
  async row(query) {
    const row = DATA.rows.find((row) => row.at === query.at);
    if (!row) throw new Error("this row is not among those of the report; `assay view` shows all");
    return row;
  },
  async group(query) {
    const own = await this.row(query);
    const group = own.line.group;
    const rows = DATA.rows.filter((row) => group !== undefined && row.line.group === group);
    return { rows: (rows.length ? rows : [own]).sort((a, b) => a.at - b.at) };
  },
};

function matches(row, query) {
  const { line } = row;
  if (query.outcome && line.outcome !== query.outcome) return false;
  if (query.fault) {
    const found = query.part ? (line.verdicts || {})[query.part] : line;
    if (!found || (found.fault !== query.fault && query.fault !== "*")) return false;
  }
  if (query.min !== undefined && !(line.reward !== null && line.reward >= query.min)) return false;
  if (query.max !== undefined && !(line.reward !== null && line.reward <= query.max)) return false;
  if (!query.q) return true;
  return JSON.stringify([line, row.texts]).toLowerCase().includes(
    JSON.stringify(query.q).slice(1, -1).toLowerCase());
}

// The rows that the server has.
const served = {
  async get(path, query) {
    const answer = await fetch(path + "?" + new URLSearchParams(Object.entries(query)));
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.error);
    return body;
  },
  rows(query) { return this.get("api/rows", { limit: PAGE_ROWS, ...query }); },
  row(query) { return this.get("api/row", query); },
  group(query) { return this.get("api/group", query); },
  compare(query) { return this.get("api/compare", { ...query, limit: PAGE_ROWS }); },
  async label(body) {
    const answer = await fetch("api/label", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
    });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    return told;
  },
};

const source = IS_REPORT ? embedded : served;

// ---- the state, which is the hash of the address ----

const NUMBERS = new Set(["run", "at", "offset", "min", "max", "a", "b", "desc"]);
let state = { screen: "overview", run: 0 };
let selected = 0;
let shown = [];

function readState() {
  const [screen, query] = location.hash.replace(/^#\/?/, "").split("?");
  const next = { screen: screen || "overview", run: 0 };
  for (const [name, value] of new URLSearchParams(query || "")) {
    if (NUMBERS.has(name)) {
      if (value !== "" && Number.isFinite(Number(value))) next[name] = Number(value);
    } else next[name] = value;
  }
  if (!DATA.runs[next.run]) next.run = 0;
  return next;
}

function address(next) {
  const { screen, ...query } = next;
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || (name !== "at" && value === 0 && name !== "min" && name !== "max" && name !== "a" && name !== "b")) delete query[name];
  }
  const text = new URLSearchParams(query).toString();
  return "#/" + screen + (text ? "?" + text : "");
}

function go(next) { location.hash = address(next); }

function link(next, ...children) { return h("a", { href: address(next) }, children); }

function samples(filter) { return { screen: "samples", run: state.run, ...filter }; }

function sample(at, more) { return { screen: "sample", run: state.run, at, ...more }; }

const FILTERS = ["outcome", "part", "fault", "min", "max", "q", "sort", "desc", "offset"];

function filter() {
  const own = { run: state.run };
  for (const name of FILTERS) if (state[name] !== undefined) own[name] = state[name];
  return own;
}

// ---- charts ----

// Bars: `bars` are {count, label}; `marks` are the texts at both ends.
function bars(list, low, high) {
  const [width, height] = [320, 96];
  const most = Math.max(1, ...list.map((bar) => bar.count));
  const step = width / Math.max(1, list.length);
  const gap = step > 6 ? 2 : step > 3 ? 1 : 0;
  const drawn = list.map((bar, at) => {
    const tall = bar.count ? Math.max(1.5, (height - 4) * bar.count / most) : 0;
    return s("rect", { class: bar.tone || "bar", x: at * step + gap / 2, y: height - tall, width: step - gap, height: tall },
      s("title", null, bar.label + ": " + number(bar.count)));
  });
  const told = list.slice(0, 60).map((bar) => bar.label + ": " + number(bar.count)).join("; ");
  return h("figure", { class: "chart" },
    s("svg", { viewBox: `0 0 ${width} ${height + 2}`, role: "img", "aria-label": told, preserveAspectRatio: "none" },
      s("line", { class: "axis", x1: 0, x2: width, y1: height + 0.5, y2: height + 0.5 }), drawn),
    h("figcaption", null, h("span", null, low), h("span", null, "highest bar " + number(most)), h("span", null, high)));
}

function histogram(data) {
  if (data.values) {
    if (!data.values.length) return h("p", { class: "quiet" }, "no reward");
    const list = data.values.map(([value, count]) => ({ count, label: number(value) }));
    return bars(list, list[0].label, list.length > 1 ? list[list.length - 1].label : "");
  }
  const end = (at) => number(data.low + at * data.width);
  const list = data.counts.map((count, at) => ({ count, label: `[${end(at)}, ${end(at + 1)})` }));
  return bars(list, end(0), end(list.length));
}

function table(heads, rows, kind) {
  return h("div", { class: "scroll" }, h("table", { class: kind },
    h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell) => h("td", null, cell)))))));
}

function card(title, ...children) {
  return h("section", { class: "card" }, h("h2", null, title), children);
}

function badge(outcome) { return h("span", { class: "badge " + outcome }, outcome); }

// ---- overview ----

function overview() {
  const run = DATA.runs[state.run];
  const { overview: all, about } = run;
  const total = all.total;
  const figures = total.figures;
  const outcomes = ["scored", "abstained", "failed"];
  const strip = outcomes.filter((outcome) => total[outcome]).map((outcome) => {
    const part = h("a", { class: "part " + outcome, href: address(samples({ outcome })), title: `${outcome}: ${number(total[outcome])}`, "aria-label": outcome });
    part.style.flexGrow = total[outcome];
    return part;
  });
  return [
    h("h1", null, visible(about.name)),
    IS_REPORT ? reportNote(all) : null,
    h("div", { class: "cards" },
      card("Rows",
        h("p", { class: "big" }, number(all.rows)),
        h("div", { class: "strip" }, strip),
        table(["outcome", "rows", "share"], outcomes.map((outcome) => [
          link(samples({ outcome }), outcome), number(total[outcome]), share(total[outcome], all.rows)]))),
      card("Reward",
        h("p", { class: "big" }, number(figures.mean)),
        h("p", { class: "quiet" }, figures.low === null ? "no interval" :
          `95 % interval ${number(figures.low)} to ${number(figures.high)}`,
          ` · std ${number(figures.std)} · ${number(figures.min)} to ${number(figures.max)}`),
        histogram(total.histogram)),
      all.parts.map(partCard)),
    all.left_out ? h("p", { class: "quiet" }, `${number(all.left_out)} verdicts of further rewards are not drawn`) : null,
    faults(all), h("div", { class: "cards" }, correlations(all), lengths(all), groups(all),
      named(all.slowest, "Slowest rows", (value) => seconds(value)),
      named(all.tokens, "Most tokens", (value) => number(value)),
      named(all.fuel, "Most fuel", (value) => number(value))),
    h("details", { class: "card" }, h("summary", null, "Configuration and origin"), value(about.manifest), value(about.config)),
  ];
}

function reportNote(all) {
  const texts = DATA.missing ? `Prompts and completions are not here: ${DATA.missing}.`
    : `Texts are cut at ${number(DATA.cut)} bytes.`;
  return h("p", { class: "quiet" },
    `Figures are of all ${number(all.rows)} rows; ${number(DATA.rows.length)} of them are in this file: each kind of fault, the lowest, the highest and the median reward, groups, and rows drawn at random. ${texts}`);
}

function partCard(part) {
  const { reward } = part;
  const { figures } = reward;
  const reasons = reward.reasons.slice(0, 8).map(([reason, count]) => [visible(reason), number(count)]);
  if (reward.other_reasons) reasons.push(["others", number(reward.other_reasons)]);
  const counts = ["scored", "abstained", "failed"].filter((outcome) => reward[outcome])
    .map((outcome) => `${number(reward[outcome])} ${outcome}`).join(", ");
  return card(visible(part.name),
    h("p", { class: "quiet" }, part.weight === null ? "" : `weight ${number(part.weight)} · `, counts),
    h("p", null, "mean ", h("strong", null, number(figures.mean)),
      figures.low === null ? "" : ` (${number(figures.low)} to ${number(figures.high)})`),
    histogram(reward.histogram),
    reasons.length ? h("details", null, h("summary", null, "Reasons"), table(["reason", "rows"], reasons)) : null);
}

function faults(all) {
  if (!all.faults.length) return card("Faults", h("p", { class: "quiet" }, "none"));
  return card("Faults", table(["reward", "fault", "rows", "", "first rows"], all.faults.map((found) => [
    found.part ? visible(found.part) : h("em", null, "the row"), visible(found.fault), number(found.rows),
    link(samples({ fault: found.fault, part: found.part || undefined }), "show"),
    found.first.slice(0, 5).filter((at) => !IS_REPORT || DATA.rows.some((row) => row.at === at))
      .map((at) => [link(sample(at), "#" + (at + 1)), " "]),
  ])));
}

function correlations(all) {
  const names = all.parts.slice(0, 12).map((part) => part.name);
  if (names.length < 2) return null;
  const between = (a, b) => all.correlations[(a * (a - 1)) / 2 + b];
  const rows = names.map((name, a) => h("tr", null, h("th", { scope: "row" }, visible(name)), names.map((_, b) => {
    if (b > a) return h("td", null);
    const found = a === b ? 1 : between(a, b);
    const level = found === null || found === undefined ? "none" : Math.round(found * 4);
    return h("td", { class: "cell", "data-level": level }, found === null ? "–" : number(found, 2));
  })));
  return card("Rewards against each other", h("p", { class: "quiet" }, "Pearson's correlation over rows where both are scored"),
    h("div", { class: "scroll" }, h("table", { class: "matrix" },
      h("thead", null, h("tr", null, h("th", null), names.map((name) => h("th", { scope: "col" }, visible(name))))), h("tbody", null, rows))));
}

function lengths(all) {
  const found = all.lengths;
  if (!found) return null;
  const rows = found.bins.map(([low, count, mean]) => [low < 2 ? number(low) : `${number(low)} – ${number(2 * low - 1)}`, number(count), number(mean)]);
  return card("Length against reward",
    h("p", { class: "quiet" }, `correlation ${number(found.correlation, 2)} over ${number(found.rows)} rows; length in characters of the completion`),
    table(["characters", "rows", "mean reward"], rows));
}

function groups(all) {
  const found = all.groups;
  if (!found) return null;
  return card("Groups",
    h("p", null, `${number(found.groups)} groups of ${number(found.rows)} rows; ${number(found.flat)} (${share(found.flat, found.groups)}) have rewards that are all equal, ${number(found.single)} have one row`),
    h("p", { class: "quiet" }, "Standard deviation of the rewards of a group"), histogram(found.deviations),
    table(["widest", "rows", "mean", "std"], found.widest.map((group) => [
      link({ screen: "group", run: state.run, at: group.at }, visible(group.group)), number(group.rows), number(group.mean), number(group.std)])));
}

function named(rows, title, told) {
  if (!rows.length) return null;
  return card(title, table(["row", "id", ""], rows.map((row) => {
    const known = !IS_REPORT || DATA.rows.some((own) => own.at === row.at);
    const place = "#" + (row.at + 1);
    return [known ? link(sample(row.at), place) : place, visible(row.id), told(row.value)];
  })));
}

// ---- training ----

// A curve over steps, with a line for each alarm.
function curve(name, points, alarms, steps) {
  const [width, height] = [320, 96];
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [points[0][0], Math.max(steps, points[0][0] + 1)];
  const x = (step) => width * (step - first) / (last - first);
  const y = (value) => height - 4 - (height - 8) * (high > low ? (value - low) / (high - low) : 0.5);
  const path = points.map(([step, value], at) => `${at ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const told = `${name}: ${number(values[0])} at step ${points[0][0]} to ${number(values[values.length - 1])} at step ${points[points.length - 1][0]}`;
  return h("figure", { class: "chart card" }, h("h2", null, visible(name), " ", h("strong", null, number(values[values.length - 1]))),
    s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told, preserveAspectRatio: "none" },
      alarms.filter((alarm) => alarm.step >= first).map((alarm) => s("line", { class: "alarm", x1: x(alarm.step), x2: x(alarm.step), y1: 0, y2: height })),
      s("path", { class: "curve", d: path }), points.length < 2 ? s("circle", { class: "bar", cx: x(points[0][0]), cy: y(values[0]), r: 3 }) : null),
    h("figcaption", null, h("span", null, "step " + number(first)), h("span", null, `${number(low)} to ${number(high)}`), h("span", null, number(last))));
}

function trainingScreen() {
  const { training, about } = DATA.runs[state.run];
  if (!training) return [h("p", { class: "quiet" }, "This run is not of a training.")];
  const names = Object.keys(training.curves).filter((name) => training.curves[name].length);
  const kind = (name) => name.startsWith("eval_") ? "Held-out tasks" : /^reward|^accuracy|^frac_/.test(name) ? "Rewards" : name.startsWith("time/") ? "Time" : "Policy";
  const sections = ["Rewards", "Held-out tasks", "Policy", "Time"].map((title) => {
    const own = names.filter((name) => kind(name) === title);
    return own.length ? [h("h2", null, title), h("div", { class: "cards" }, own.map((name) => curve(name, training.curves[name], training.warnings, training.steps)))] : null;
  });
  const alarms = training.warnings.map((alarm) => [number(alarm.step), visible(String(alarm.alarm)), visible(String(alarm.message)),
    link(samples({ q: `step#${alarm.step}#` }), "rollouts")]);
  return [
    h("h1", null, "Training ", visible(about.name)),
    h("p", { class: "quiet" }, `${number(training.steps)} steps`, training.unread ? ` · ${number(training.unread)} lines of its measurements cannot be read` : "",
      training.left_out ? ` · ${number(training.left_out)} measurements of further names are not drawn` : ""),
    card("Alarms", alarms.length ? table(["step", "alarm", "what is seen", ""], alarms) : h("p", { class: "quiet" }, "none")), sections,
  ];
}

// ---- audit ----

const EXPECTED = { unpaid: "not paid", not_higher: "no rise", unmoved: "no change", lower: "a fall" };

function auditScreen() {
  const { audit, about } = DATA.runs[state.run];
  if (!audit || !audit.families) return [h("p", { class: "quiet" }, "This run is not of an audit.")];
  const part = (own) => own ? `${number(own.count)} of ${number(own.of)}` + (own.low === undefined ? "" : ` (${share(own.low, 1)} to ${share(own.high, 1)})`) : "–";
  const all = Object.entries(audit.families).sort(([, a], [, b]) => b.failed.value - a.failed.value);
  const rows = all.map(([name, family]) => [link(samples({ q: `/${name}/` }), visible(name)), EXPECTED[family.expect] || visible(String(family.expect)),
    part(family.failed), part(family.refused), number(family.mean_gain), number(family.max_gain), (family.worst || []).map(([attack, count]) => h("div", null, visible(attack), ` (${number(count)})`))]);
  const examples = all.filter(([, family]) => (family.examples || []).length).map(([name, family]) => card(visible(name), h("p", { class: "quiet" }, visible(family.about)),
    table(["attack", "earns", "before", "text"], family.examples.map((one) => [link(samples({ q: one.id }), visible(one.id)), number(one.reward), number(one.before), value(one.text)]))));
  return [
    h("h1", null, "Audit ", visible(about.name)),
    h("p", null, `${number(audit.attacks)} attacks on ${number(audit.rows)} rows; a completion is paid from ${number(audit.pass)} on. Rows with a hole: ${part(audit.rows_with_holes)}`),
    h("p", { class: "quiet" }, `a paid completion is above an attack with probability ${number(audit.discriminability, 3)} · length and reward of attacks correlate by ${number(audit.length_correlation, 2)} · ${number(audit.unjudged)} attacks were not judged`),
    table(["family", "expected", "failed (95 %)", "refused", "mean gain", "highest", "most often"], rows), examples,
  ];
}

// ---- samples ----

async function samplesScreen() {
  const found = await source.rows(filter());
  shown = found.rows;
  selected = Math.min(selected, Math.max(0, shown.length - 1));
  const parts = DATA.runs[state.run].overview.parts.slice(0, 8).map((part) => part.name);
  const offset = state.offset || 0;
  const cell = (part) => !part ? "" : part.outcome === "scored" ? number(part.reward) : part.outcome === "failed" ? part.fault : "–";
  const heads = ["#", "id", "outcome", "reward", ...parts.map(visible), "chars", "time", IS_REPORT ? "why" : "label"];
  const rows = shown.map((row, at) => h("tr", { class: at === selected ? "selected" : null, "data-row": at, onclick: (event) => { if (!event.target.closest("a")) open(at); } },
    h("td", null, h("a", { href: address({ ...filter(), screen: "sample", at: row.at }) }, number(row.at + 1))),
    h("td", { class: "id" }, visible(String(row.line.id))), h("td", null, badge(row.line.outcome)),
    h("td", null, row.line.outcome === "failed" ? visible(row.line.fault || "") : number(row.line.reward)),
    parts.map((name) => h("td", null, visible(String(cell((row.line.verdicts || {})[name]))))),
    h("td", null, number(row.chars ?? (row.texts && row.texts.chars))), h("td", null, seconds(row.us)),
    h("td", null, IS_REPORT ? visible(row.why.join(", ")) : labelText(row.label))));
  const all = DATA.runs[state.run].overview.rows;
  return [
    h("h1", null, "Samples"), filterForm(),
    h("p", { class: "quiet", role: "status" }, `${number(found.total)} of ${number(IS_REPORT ? DATA.rows.length : all)} rows` + (IS_REPORT ? `; this report holds ${number(DATA.rows.length)} of ${number(all)}` : "")),
    h("div", { class: "scroll" }, h("table", { class: "rows" },
      h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", null, rows))),
    pager(found.total, offset),
  ];
}

function labelText(label) {
  return label ? (label.label ? "right" : "wrong") : "";
}

function pager(total, offset) {
  if (total <= PAGE_ROWS) return null;
  const page = (next, text) => h("button", {
    type: "button", disabled: next < 0 || next >= total, onclick: () => { selected = 0; go({ ...state, offset: next }); },
  }, text);
  const last = Math.floor((total - 1) / PAGE_ROWS) * PAGE_ROWS;
  return h("nav", { class: "pager", "aria-label": "pages" }, page(offset > 0 ? 0 : -1, "first"), page(offset - PAGE_ROWS, "previous"),
    h("span", null, `${number(offset + 1)} – ${number(Math.min(total, offset + PAGE_ROWS))}`),
    page(offset + PAGE_ROWS, "next"), page(offset < last ? last : -1, "last"));
}

function filterForm() {
  const { overview: all } = DATA.runs[state.run];
  const select = (name, label, options) => h("label", null, label, h("select", { name },
    options.map(([value, text]) => h("option", { value, selected: String(state[name] ?? "") === value }, text))));
  const input = (name, label, more) => h("label", null, label, h("input", { name, value: state[name] ?? "", ...more }));
  const faults = [...new Set(all.faults.map((found) => found.fault))];
  const sort = (state.sort || "row") + (state.desc ? "-" : "");
  const sorts = [["row", "order of the run"], ["reward", "lowest reward"], ["reward-", "highest reward"], ["length-", "longest"], ["length", "shortest"], ["time-", "slowest"]];
  const apply = (event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget.closest("form"));
    const next = samples({});
    for (const name of ["outcome", "part", "fault", "q"]) if (form.get(name)) next[name] = form.get(name);
    if (next.part && !next.fault) next.fault = "*";
    for (const name of ["min", "max"]) if (form.get(name) !== "") next[name] = Number(form.get(name));
    next.sort = form.get("sort").replace("-", "");
    if (form.get("sort").endsWith("-")) next.desc = 1;
    selected = 0;
    go(next);
  };
  return h("form", { class: "filters", onsubmit: apply, onchange: apply },
    input("q", "text", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" }),
    select("outcome", "outcome", [["", "any"], ["scored", "scored"], ["abstained", "abstained"], ["failed", "failed"]]),
    select("fault", "fault", [["", "any"], ["*", "every fault"], ...faults.map((fault) => [fault, fault])]),
    select("part", "of", [["", "the row"], ...all.parts.map((part) => [part.name, part.name])]),
    input("min", "reward from", { type: "number", step: "any" }), input("max", "to", { type: "number", step: "any" }),
    h("label", null, "sort", h("select", { name: "sort" }, sorts.map(([value, text]) => h("option", { value, selected: value === sort }, text)))),
    h("a", { class: "button", href: address(samples({})) }, "clear"));
}

function open(at) {
  selected = at;
  if (shown[at]) go({ ...filter(), screen: "sample", at: shown[at].at });
}

// ---- one sample ----

// The spans of a completion that verdicts name, in bytes, with their names.
function marks(line) {
  const found = [];
  const add = (span, name) => {
    if (Array.isArray(span) && span.length === 2 && span[0] < span[1]) found.push([span[0], span[1], name]);
  };
  for (const [name, verdict] of Object.entries(line.verdicts || {})) {
    add((verdict.evidence || {}).span, name);
    for (const [part, own] of Object.entries(verdict.components || {})) add((own.evidence || {}).span, name + "." + part);
    if (!Array.isArray(verdict.steps)) continue;
    verdict.steps.forEach((own, at) => { if (own.turn === undefined || own.turn === null) add(own.span, `${name} step ${at + 1}`); });
  }
  return found.slice(0, 64);
}

// A text in parts, each with the place of its first byte, and the spans that are marked in it.
function pieces(parts, spans = []) {
  if (!parts || !parts.length || (parts.length === 1 && !parts[0][1])) return h("p", { class: "quiet" }, "empty");
  const nodes = [];
  let last = 0;
  for (const [start, text] of parts) {
    if (start > last) nodes.push(h("span", { class: "gap" }, `[… ${number(start - last)} bytes …]`));
    const bytes = new TextEncoder().encode(text);
    last = start + bytes.length;
    const starts = (at) => at === bytes.length || (bytes[at] & 0xc0) !== 0x80;
    const own = spans.map(([from, to, name]) => [from - start, to - start, name])
      .filter(([from, to]) => from >= 0 && to <= bytes.length && starts(from) && starts(to));
    const borders = [...new Set([0, bytes.length, ...own.flatMap(([from, to]) => [from, to])])].sort((a, b) => a - b);
    borders.slice(1).forEach((to, at) => {
      const piece = visible(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(borders[at], to)));
      const names = own.filter((span) => span[0] <= borders[at] && to <= span[1]).map((span) => span[2]).join(", ");
      nodes.push(names ? h("mark", { title: names }, piece, h("span", { class: "mark-label" }, visible(names))) : piece);
    });
  }
  return h("pre", { class: "text" }, nodes);
}

async function sampleScreen() {
  const row = await source.row({ run: state.run, at: state.at });
  const { line, texts } = row;
  return [
    h("nav", { class: "crumbs" }, link({ ...filter(), screen: "samples" }, "← samples"),
      h("button", { type: "button", onclick: () => step(-1) }, "previous (k)"),
      h("button", { type: "button", onclick: () => step(1) }, "next (j)"),
      line.group !== undefined || !IS_REPORT ? link({ screen: "group", run: state.run, at: row.at }, "group") : null,
      jump()),
    h("h1", null, visible(String(line.id))),
    h("p", null, badge(line.outcome), " ", h("strong", null, line.reward === null ? "no reward" : "reward " + number(line.reward, 8)),
      line.fault ? [" ", h("span", { class: "fault" }, line.fault)] : null, " ",
      h("span", { class: "quiet" }, `row ${number(row.number + 1)} of the data · ${seconds(row.us)}` + (texts ? ` · ${number(texts.chars)} characters` : ""),
        row.why && row.why.length ? ` · here as: ${row.why.join(", ")}` : "")),
    line.why ? h("p", { class: line.outcome === "failed" ? "why" : "quiet" }, visible(line.why)) : null,
    IS_REPORT ? null : labelForm(row),
    h("div", { class: "columns" },
      h("div", null, texts ? [
        h("h2", null, "Prompt"), pieces(texts.prompt), h("h2", null, "Completion"), pieces(texts.completion, marks(line)),
        h("h2", null, "Reference"), texts.reference ? pieces(texts.reference) : h("p", { class: "quiet" }, "none"),
      ] : h("p", { class: "quiet" }, "The texts of this row are not known: " + (DATA.missing || row.missing || "the data have another row there") + ".")),
      h("div", null, h("h2", null, "Verdicts"), terms(line), verdicts(line).map(([name, verdict]) => verdictCard(name, verdict)))),
    h("details", null, h("summary", null, "The line of the run"), h("pre", { class: "text" }, visible(JSON.stringify(line, null, 1)))),
  ];
}

function jump() {
  const input = h("input", { type: "number", min: 1, placeholder: "row", "aria-label": "go to row" });
  return h("form", { class: "jump", onsubmit: (event) => { event.preventDefault(); if (input.value) go(sample(Number(input.value) - 1)); } }, input, h("button", null, "go"));
}

// The verdicts of a row in the order of the configuration.
function verdicts(line) {
  const rewards = (DATA.runs[state.run].about.config || {}).reward;
  const names = Array.isArray(rewards) ? rewards.map((reward) => reward.name) : [];
  const place = ([name]) => (names.includes(name) ? names.indexOf(name) : names.length);
  return Object.entries(line.verdicts || {}).sort((a, b) => place(a) - place(b));
}

// The parts, their weights, and how they become the reward.
function terms(line) {
  const { config } = DATA.runs[state.run].about;
  const parts = verdicts(line);
  if (!config || !Array.isArray(config.reward) || parts.length < 2) return null;
  const how = (config.combine || {}).how || "weighted_sum";
  const rows = parts.map(([name, part]) => {
    const own = config.reward.find((reward) => reward.name === name) || {};
    const both = typeof own.weight === "number" && typeof part.reward === "number";
    return [visible(name), part.reward === undefined ? part.outcome : number(part.reward, 6), number(own.weight), both ? number(own.weight * part.reward, 6) : "–"];
  });
  return [h("p", { class: "quiet" }, `combined by ${how}: ${line.reward === null ? "no reward" : number(line.reward, 8)}`), table(["reward", "value", "weight", "product"], rows)];
}

function verdictCard(name, verdict, depth = 0) {
  const { outcome, reward, fault, why, evidence, components, steps, usage, ...others } = verdict;
  const head = [h("strong", null, visible(name)), " ", badge(outcome), " ", reward === undefined ? "" : number(reward, 8), fault ? [" ", h("span", { class: "fault" }, fault)] : null];
  const body = [why ? h("p", { class: outcome === "failed" ? "why" : "quiet" }, visible(why)) : null, evidence ? members(evidence) : null];
  if (steps && steps.length) {
    body.push(h("details", { open: true }, h("summary", null, `${steps.length} steps`), stepStrip(steps)));
  }
  if (components) body.push(Object.entries(components).map(([part, component]) => verdictCard(part, component, depth + 1)));
  if (usage) body.push(h("p", { class: "quiet" }, Object.entries(usage).map(([key, count]) => `${number(count)} ${key}`).join(", ")));
  if (Object.keys(others).length) body.push(members(others));
  return h("details", { class: "verdict", open: depth < 2 }, h("summary", null, head), body);
}

function stepStrip(steps) {
  return h("ol", { class: "steps" }, steps.map((step) => {
    const reward = typeof step.reward === "number" ? step.reward : null;
    const level = reward === null ? "none" : Math.max(0, Math.min(4, Math.round(reward * 4)));
    return h("li", { "data-step": level }, number(reward, 3));
  }));
}

const FIRST = ["reason", "extracted", "expected", "reference", "span"];

function members(object) {
  const names = Object.keys(object).sort((a, b) => {
    const [x, y] = [FIRST.indexOf(a), FIRST.indexOf(b)];
    return (x < 0 ? 99 : x) - (y < 0 ? 99 : y);
  });
  return h("dl", null, names.map((name) => [h("dt", null, visible(name)), h("dd", null, value(object[name]))]));
}

function value(data) {
  if (data === null || data === undefined) return h("span", { class: "quiet" }, "null");
  if (typeof data === "string") {
    return data.includes("\n") || data.length > 80 ? h("pre", { class: "text small" }, visible(data)) : h("code", null, visible(data));
  }
  if (typeof data !== "object") return typeof data === "number" ? number(data, 8) : String(data);
  const list = Array.isArray(data);
  const count = list ? data.length : Object.keys(data).length;
  if (!count) return h("span", { class: "quiet" }, list ? "[]" : "{}");
  if (list && data.every((one) => one === null || typeof one === "number" || typeof one === "boolean")) return h("code", null, JSON.stringify(data));
  return h("details", { open: count <= 6 }, h("summary", null, list ? `${count} values` : `${count} members`),
    list ? h("ol", { start: 0 }, data.map((one) => h("li", null, value(one)))) : members(data));
}

// The row before or after, in the order of the list as it is filtered and sorted now. Where that is is asked of
// the server: a step waits for the one before it, so that no key is lost.
let walk = Promise.resolve();

function step(by) {
  walk = walk.catch(() => {}).then(() => stepped(by));
  return walk;
}

async function stepped(by) {
  state = readState();
  const query = filter();
  const { place, total } = await source.rows({ ...query, at: state.at, limit: 0 });
  const next = (place ?? -1 - by) + by;
  if (next < 0 || next >= total) return;
  const { rows } = await source.rows({ ...query, offset: next, limit: 1 });
  const offset = Math.floor(next / PAGE_ROWS) * PAGE_ROWS;
  selected = next - offset;
  if (rows.length) go({ ...state, offset, at: rows[0].at });
}

// ---- labels ----

function labelForm(row) {
  const note = h("input", { name: "note", value: row.label ? row.label.note || "" : "", placeholder: "note", "aria-label": "note", maxlength: 2000 });
  const told = h("span", { class: "quiet", role: "status" }, row.label ? `saved: ${labelText(row.label)}` : "");
  const save = async (label) => {
    try {
      row.label = await source.label({ run: state.run, at: row.at, label, note: note.value });
      told.replaceChildren(`saved: ${labelText(row.label)}`);
    } catch (error) {
      told.replaceChildren(visible(String(error.message)));
    }
  };
  return h("form", { class: "label", onsubmit: (event) => event.preventDefault() }, "Is the completion right? ",
    h("button", { type: "button", id: "mark-right", onclick: () => save(true) }, "right (y)"),
    h("button", { type: "button", id: "mark-wrong", onclick: () => save(false) }, "wrong (n)"), note, told);
}

// ---- groups ----

async function groupScreen() {
  const { rows } = await source.group({ run: state.run, at: state.at });
  const rewards = rows.map((row) => row.line.reward).filter((reward) => typeof reward === "number");
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const flat = rewards.length > 1 && rewards.every((reward) => reward === rewards[0]);
  const first = rows[0];
  return [
    h("h1", null, "Group ", visible(String(first.line.group ?? first.line.id))),
    h("p", { class: "quiet" }, `${number(rows.length)} rows · mean reward ${rewards.length ? number(mean) : "–"}`, flat ? " · all rewards are equal: no advantage tells these rows apart" : "",
      IS_REPORT ? " · as far as the report holds them" : ""),
    first.texts ? [h("h2", null, "Prompt"), pieces(first.texts.prompt)] : null,
    h("div", { class: "members" }, rows.map((row) => h("section", { class: "card" },
      h("h2", null, link(sample(row.at), visible(String(row.line.id)))),
      h("p", null, badge(row.line.outcome), " ", h("strong", null, number(row.line.reward)),
        typeof row.line.reward === "number" ? h("span", { class: "quiet" }, ` advantage ${row.line.reward >= mean ? "+" : ""}${number(row.line.reward - mean)}`) : ""),
      row.texts ? pieces(row.texts.completion, marks(row.line)) : null))),
  ];
}

// ---- two runs ----

// Where two values differ: pairs of a path and what each has there.
function differences(a, b, path = "") {
  const isTree = (one) => one !== null && typeof one === "object";
  if (!isTree(a) || !isTree(b)) return JSON.stringify(a) === JSON.stringify(b) ? [] : [[path, a, b]];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.flatMap((key) => {
    const name = (a[key] || b[key] || {}).name;
    return differences(a[key], b[key], (path ? path + "." : "") + (typeof name === "string" ? name : key));
  });
}

// What moved between two lines of a row, a text for each part.
function moves(a, b) {
  const told = (part) => {
    if (!part) return "not judged";
    const because = typeof part.reason === "string" ? ` (${part.reason})` : "";
    return part.outcome === "scored" ? part.reward + because : part.outcome === "failed" ? `failed (${part.fault})` : part.outcome;
  };
  const [from, to] = [a.verdicts || {}, b.verdicts || {}];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const found = names.map((name) => [name, told(from[name]), told(to[name])]).filter(([, before, after]) => before !== after);
  return found.length ? found.map(([name, before, after]) => `${name}: ${before} → ${after}`) : ["the same verdicts, combined otherwise"];
}

async function compareScreen() {
  const last = DATA.runs.length - 1;
  const pair = { a: Math.min(state.a ?? 0, last), b: Math.min(state.b ?? 1, last) };
  const found = await source.compare({ ...pair, offset: state.offset || 0 });
  const place = (run, side) => side ? h("a", { href: address({ screen: "sample", run, at: side.at }) }, side.line.outcome === "scored" ? number(side.line.reward, 6) : visible(side.line.fault || side.line.outcome)) : "–";
  const name = (run) => visible(DATA.runs[run].about.name);
  const changes = differences(DATA.runs[pair.a].about.config, DATA.runs[pair.b].about.config).slice(0, 40);
  const rows = found.rows.map((row) => [visible(row.a.line.id), place(pair.a, row.a), place(pair.b, row.b),
    row.delta === null ? "" : (row.delta > 0 ? "+" : "") + number(row.delta, 6), moves(row.a.line, row.b.line).map((why) => h("div", null, visible(why)))]);
  return [
    h("h1", null, name(pair.a), " → ", name(pair.b)),
    h("p", null, `${number(found.both)} rows are in both runs; ${number(found.total)} moved: ${number(found.up)} up, ${number(found.down)} down, ${number(found.total - found.up - found.down)} otherwise`),
    h("p", { class: "quiet" }, `${number(found.only_a)} rows are in the first run alone, ${number(found.only_b)} in the second. The largest moves come first.`),
    changes.length ? card("Configuration", table(["", "before", "after"], changes.map(([path, a, b]) => [visible(path), value(a), value(b)]))) : null,
    found.rows.length ? table(["id", "before", "after", "move", "what moved"], rows) : null, pager(found.total, state.offset || 0),
  ];
}

// ---- the frame ----

const SCREENS = { overview, training: trainingScreen, audit: auditScreen, samples: samplesScreen, sample: sampleScreen, group: groupScreen, compare: compareScreen };
const main = h("main", { tabindex: -1 });

function header() {
  const tab = (screen, text, more) => h("a", { href: address({ screen, run: state.run, ...more }), "aria-current": state.screen === screen ? "page" : null }, text);
  const runs = DATA.runs.length < 2 ? null : h("select", { "aria-label": "run", onchange: (event) => go({ screen: state.screen === "samples" ? "samples" : "overview", run: event.target.selectedIndex }) },
    DATA.runs.map((run, at) => h("option", { value: at, selected: at === state.run }, run.about.name)));
  return h("header", null, h("span", { class: "brand" }, "assay"), h("nav", { "aria-label": "screens" },
    tab("overview", "Overview"), DATA.runs[state.run].training ? tab("training", "Training") : null, DATA.runs[state.run].audit ? tab("audit", "Audit") : null, tab("samples", "Samples"), DATA.runs.length > 1 ? tab("compare", "Compare") : null),
    runs, h("button", { type: "button", onclick: help, "aria-label": "keys" }, "?"));
}

function help() {
  const old = document.querySelector("dialog");
  if (old) return old.remove();
  const keys = [["j / k", "next / previous row"], ["Enter", "open the row"], ["/", "search"], ["e", "open or close all evidence"], ["g", "group of the row"], ["Esc", "back"], ["?", "this list"]];
  if (!IS_REPORT) keys.splice(5, 0, ["y / n", "mark the row right / wrong"]);
  const dialog = h("dialog", { open: true, "aria-label": "keys" }, h("h2", null, "Keys"), table(["key", ""], keys.map(([key, text]) => [h("kbd", null, key), text])),
    h("button", { type: "button", onclick: () => dialog.remove() }, "close"));
  document.body.append(dialog);
}

let drawing = 0;

async function draw() {
  const mine = ++drawing;
  state = readState();
  const screen = SCREENS[state.screen] || overview;
  let nodes;
  try {
    nodes = await screen();
  } catch (error) {
    nodes = [h("p", { class: "why", role: "alert" }, visible(String(error.message)))];
  }
  if (mine !== drawing) return;
  document.querySelector("header")?.replaceWith(header());
  main.replaceChildren(...nodes.flat(9).filter((node) => node !== null && node !== undefined));
  if (state.screen !== "samples") window.scrollTo(0, 0);
}

function move(by) {
  if (state.screen === "sample") return step(by);
  if (state.screen !== "samples" || !shown.length) return;
  selected = Math.max(0, Math.min(shown.length - 1, selected + by));
  for (const row of main.querySelectorAll("tr[data-row]")) {
    const own = Number(row.dataset.row) === selected;
    row.classList.toggle("selected", own);
    if (own) row.scrollIntoView({ block: "nearest" });
  }
}

function expand() {
  const all = [...main.querySelectorAll("details")];
  const close = all.every((one) => one.open);
  for (const one of all) one.open = !close;
}

const KEYS = {
  j: () => move(1), k: () => move(-1), e: expand, "?": help,
  "/": () => { if (state.screen === "samples") document.getElementById("search").focus(); else { go(samples({})); setTimeout(() => document.getElementById("search")?.focus(), 100); } },
  g: () => { if (state.screen === "sample") go({ screen: "group", run: state.run, at: state.at }); },
  y: () => document.getElementById("mark-right")?.click(), n: () => document.getElementById("mark-wrong")?.click(),
  Enter: () => { if (state.screen === "samples") open(selected); },
  Escape: () => {
    const dialog = document.querySelector("dialog");
    if (dialog) dialog.remove();
    else if (state.screen === "sample") go({ ...filter(), screen: "samples" });
    else if (state.screen === "group") history.back();
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  const act = KEYS[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

document.title = "assay: " + DATA.runs.map((run) => run.about.name.replace(HIDDEN, "")).join(", ");
document.body.append(h("header"), main);
window.addEventListener("hashchange", draw);
draw();
