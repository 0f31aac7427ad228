-- The inspector's page: one document, written by hand. It only sends requests to the program that
-- served it, and inserts data as text only. `policy` lets the browser run this script and use this
-- style, and nothing else.

local json = require "ecs.json"

local STYLE = [==[
:root { color-scheme: light dark; --back: #f6f7f9; --card: #ffffff; --ink: #1b1f24;
  --soft: #59636e; --line: #d5dae0; --accent: #0b5cad; --accent-ink: #ffffff; --chosen: #e3eefb;
  --good: #1a7f37; --warn: #9a5b00; --bad: #b3261e; --mark: #fff3d1; --spark: #3a7fc4; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171b; --card: #1c2026; --ink: #e6e9ed; --soft: #9aa5b1; --line: #343b44;
    --accent: #6cb2f7; --accent-ink: #0d1117; --chosen: #21354a; --good: #57c271; --warn: #e0a84a;
    --bad: #ff8f85; --mark: #463a17; --spark: #6cb2f7; } }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; }
body { margin: 0; background: var(--back); color: var(--ink); display: flex;
  flex-direction: column; font: 14px/1.45 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1, h2, h3 { margin: 0; font-weight: 600; line-height: 1.3; }
h1 { font-size: 15px; }
h2 { font-size: 15px; overflow-wrap: anywhere; }
h3 { font-size: 13px; min-width: 0; overflow-wrap: anywhere; }
p { margin: 6px 0; }
button, input, select { font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: 5px; padding: 3px 9px; min-height: 28px; }
select { max-width: 167px; }
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--accent); }
button:disabled, input:disabled, select:disabled { opacity: .55; cursor: default; }
button.link { border: 0; background: none; padding: 0; min-height: 0; color: var(--accent);
  text-align: left; overflow-wrap: anywhere; }
button.link:hover { text-decoration: underline; }
button.main { background: var(--accent); color: var(--accent-ink); border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
input[type=checkbox] { min-height: 0; width: 16px; height: 16px; accent-color: var(--accent);
  vertical-align: -3px; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 14px; padding: 8px 16px;
  background: var(--card); border-bottom: 1px solid var(--line); }
header .facts { color: var(--soft); font-variant-numeric: tabular-nums; }
header .controls { margin-left: auto; display: flex; gap: 6px; align-items: center; }
nav { display: flex; gap: 2px; padding: 0 12px; background: var(--card);
  border-bottom: 1px solid var(--line); }
nav button { border: 0; border-bottom: 3px solid transparent; border-radius: 0; background: none;
  padding: 7px 12px; color: var(--soft); }
nav button[aria-selected=true] { color: var(--ink); border-bottom-color: var(--accent);
  font-weight: 600; }
nav button:focus-visible { outline-offset: -3px; }
main { flex: 1; min-height: 0; position: relative; }
section.view { position: absolute; inset: 0; padding: 12px 16px; display: flex; gap: 12px; }
section.view[hidden] { display: none; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 12px 14px; min-width: 0; }
.column { display: flex; flex-direction: column; gap: 10px; min-width: 0; min-height: 0; }
.grow { flex: 1; min-width: 0; min-height: 0; }
.side { width: 350px; flex: none; overflow: auto; }
.scroll { overflow: auto; }
.row { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; }
.soft { color: var(--soft); }
.error { color: var(--bad); white-space: pre-wrap; overflow-wrap: anywhere; }
.error:empty { display: none; }
.note { background: var(--mark); border-radius: 6px; padding: 6px 10px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12px; position: sticky;
  top: 0; background: var(--card); z-index: 1; white-space: nowrap;
  box-shadow: inset 0 -1px var(--line); }
th, td { padding: 4px 10px 4px 0; vertical-align: baseline; }
td { border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th.n, td.n { text-align: right; white-space: nowrap; overflow-wrap: normal; }
td.mono, pre, .mono { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace;
  font-size: 12.5px; }
td.mono { white-space: pre-wrap; }
tr.chosen td { background: var(--chosen); }
tr.group th { position: static; padding-top: 12px; font-size: 13px; color: var(--ink); }
tr.off td { color: var(--soft); }
#ring { width: auto; }
#ring th, #ring td, #files th, #files td { padding-right: 28px; }
#rows td { max-width: 340px; }
pre { margin: 6px 0; padding: 8px 10px; background: var(--back); border: 1px solid var(--line);
  border-radius: 6px; overflow: auto; max-height: 300px; }
pre.error { white-space: pre-wrap; }
.tag { display: inline-block; white-space: nowrap; padding: 0 7px; border-radius: 9px;
  border: 1px solid var(--line);
  font-size: 12px; color: var(--soft); }
.tag.vector { color: var(--good); border-color: currentColor; }
.tag.lua { color: var(--warn); border-color: currentColor; }
.query { position: relative; flex: 1; min-width: 220px; }
.query input { width: 100%; }
.choices { position: absolute; z-index: 5; left: 0; top: 100%; margin: 2px 0 0; padding: 4px;
  list-style: none; min-width: 220px; max-height: 240px; overflow: auto; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 6px 20px rgba(0, 0, 0, .18); }
.choices li { padding: 3px 8px; border-radius: 4px; cursor: pointer; }
.choices li[aria-selected=true] { background: var(--chosen); }
aside h2 { margin-bottom: 8px; }
aside > .row { margin-bottom: 10px; }
.component { border-top: 1px solid var(--line); padding: 8px 0; }
.component .row { justify-content: space-between; flex-wrap: nowrap; }
.component .row > button { flex: none; }
.fields { display: grid; grid-template-columns: minmax(70px, max-content) 1fr max-content;
  gap: 3px 10px; align-items: center; margin-top: 4px; }
.fields label, .fields .name { color: var(--soft); overflow-wrap: anywhere; }
.fields input:not([type=checkbox]), .fields select { width: 100%; max-width: none; min-height: 26px;
  padding: 1px 7px; font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace;
  font-size: 12.5px; }
.fields .unit { color: var(--soft); font-size: 12px; }
ul.tree { margin: 4px 0; padding-left: 16px; }
#systems td { vertical-align: middle; white-space: nowrap; overflow-wrap: normal; }
#systems th, #systems td { padding-right: 8px; }
canvas.spark { width: 120px; height: 22px; display: block; }
canvas.map { width: 100%; height: 100%; display: block; touch-action: none; border-radius: 8px; }
.mapframe { padding: 0; overflow: hidden; position: relative; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
#message { position: fixed; right: 16px; bottom: 14px; max-width: 520px; padding: 8px 14px;
  background: var(--ink); color: var(--back); border-radius: 8px; z-index: 9;
  overflow-wrap: anywhere; }
#message:empty { display: none; }
@media (max-width: 800px) { section.view { flex-direction: column; overflow: auto; }
  .side { width: auto; } }
@media (prefers-reduced-motion: reduce) { * { transition: none; } }
]==]

local BODY = [==[
<header>
<h1>ecs inspector</h1>
<span class="facts" id="facts" aria-live="off">connecting</span>
<span class="controls">
<button id="undo" disabled>Undo</button>
<button id="pause" aria-pressed="false">Pause</button>
<button id="step">One update</button>
</span>
</header>
<nav role="tablist" aria-label="Views" id="tabs"></nav>
<main id="main">
<section class="view" id="view-entities" role="tabpanel" aria-labelledby="tab-entities">
<div class="card column grow">
<div class="row">
<div class="query"><label class="visually-hidden" for="query">Query</label>
<input id="query" class="mono" autocomplete="off" spellcheck="false"
 placeholder="Query, as in Position, !Frozen (empty: all entities)"></div>
<select id="prefab" aria-label="What to spawn"></select>
<button id="spawn">Spawn</button>
</div>
<div class="row"><span id="count" class="soft" role="status"></span></div>
<div id="query-error" class="error" role="alert"></div>
<div class="scroll grow" tabindex="0" role="region" aria-label="Entities that match">
<table id="rows"><thead><tr></tr></thead><tbody></tbody></table></div>
</div>
<aside class="card side" id="entity" aria-label="Entity" tabindex="-1"></aside>
</section>
<section class="view" id="view-systems" role="tabpanel" aria-labelledby="tab-systems" hidden>
<div class="card column grow">
<div class="row"><span id="frame" class="soft grow"></span>
<button id="reset">Reset counters</button></div>
<div class="scroll grow" tabindex="0" role="region" aria-label="Systems">
<table id="systems"><thead><tr></tr></thead><tbody></tbody></table></div>
</div>
<aside class="card side" id="explain" aria-label="Explanation" tabindex="-1">
<p class="soft">Choose a system to see how it runs, and why.</p></aside>
</section>
<section class="view" id="view-storage" role="tabpanel" aria-labelledby="tab-storage" hidden>
<div class="card column grow"><h2 id="tables-title">Tables</h2>
<div class="scroll grow" tabindex="0" role="region" aria-label="Tables">
<table id="tables"><thead><tr></tr></thead><tbody></tbody></table></div></div>
<div class="column side" tabindex="0" role="region" aria-label="Other storage">
<div class="card"><h2>Sparse components</h2><table id="sparse"><thead><tr></tr></thead>
<tbody></tbody></table></div>
<div class="card"><h2>Indexes</h2><table id="indexes"><thead><tr></tr></thead>
<tbody></tbody></table></div>
<div class="card"><h2>Arrays</h2><table id="arrays"><thead><tr></tr></thead>
<tbody></tbody></table></div>
<div class="card"><h2>Queries</h2><table id="queries"><thead><tr></tr></thead>
<tbody></tbody></table></div>
</div>
</section>
<section class="view" id="view-map" role="tabpanel" aria-labelledby="tab-map" hidden>
<div class="column grow">
<div class="card row">
<div class="query"><label class="visually-hidden" for="map-query">Query of the map</label>
<input id="map-query" class="mono" autocomplete="off" spellcheck="false" placeholder="Query"></div>
<label>x <select id="map-x"></select></label><label>y <select id="map-y"></select></label>
<label>colour <select id="map-c"></select></label><label>size <select id="map-s"></select></label>
<button id="fit">Fit</button>
<label><input type="checkbox" id="follow"> Follow the selected entity</label>
<span id="map-keys" class="soft">Keys on the map: arrows pan, + and - zoom, N and P select</span>
</div>
<div class="row"><span id="map-count" class="soft" role="status"></span>
<span id="map-error" class="error" role="alert"></span></div>
<div class="card grow mapframe"><canvas class="map" id="map" tabindex="0" role="application"
 aria-label="Map" aria-describedby="map-keys"></canvas></div>
</div>
<aside class="card side" id="map-entity" aria-label="Selected entity" tabindex="-1"></aside>
</section>
<section class="view" id="view-time" role="tabpanel" aria-labelledby="tab-time" hidden>
<div class="card column grow">
<h2>Time</h2>
<div class="row">
<button id="pause2" aria-pressed="false">Pause</button><button id="step2">One update</button>
<label>Speed <select id="speed"></select></label>
</div>
<p id="led" class="note" hidden>The program calls <code>world:update</code> itself, so this page
 cannot pause or step it.</p>
<h2>Snapshots</h2>
<p class="soft">One per second after this view was first opened, at most 60 and 64 MB. Going back
 restores entities, resources and timers, and continues with the current scripts. It does not
 restore inputs, <code>script.state</code> or Lua variables.</p>
<div id="ring-problem" class="error" role="alert"></div>
<div class="row"><span id="ring-size" class="soft"></span></div>
<div class="scroll grow" tabindex="0" role="region" aria-label="Snapshots">
<table id="ring"><thead><tr></tr></thead><tbody></tbody></table></div>
</div>
</section>
<section class="view" id="view-scripts" role="tabpanel" aria-labelledby="tab-scripts" hidden>
<div class="card column grow">
<div class="row"><h2 class="grow">Scripts</h2><button id="reload">Reload now</button></div>
<p id="no-session" class="note" hidden>The program has not passed a session of live scripts.</p>
<div id="script-error" role="alert"></div>
<div class="scroll grow" tabindex="0" role="region" aria-label="Scripts">
<table id="files"><thead><tr></tr></thead><tbody></tbody></table>
<h3 id="orphans-title" hidden>Orphans: components that no script declares any more</h3>
<p id="orphans" class="mono"></p>
<h3 id="swapped-title" hidden>Components that the last reload changed</h3>
<table id="swapped"><thead><tr></tr></thead><tbody></tbody></table></div>
</div>
</section>
</main>
<div id="message" role="status" aria-live="polite"></div>
]==]

local SCRIPT = [==[
"use strict";
(() => {
const $ = id => document.getElementById(id);
const fragment = location.hash.slice(1);
if (/^[0-9a-f]{32}$/.test(fragment)) sessionStorage.setItem("ecs-token", fragment);
const token = sessionStorage.getItem("ecs-token") || "";
history.replaceState(null, "", location.pathname);

// ---- elements: data is only ever inserted as text ----

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key in node && key !== "list") node[key] = value;
    else node.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) if (child !== null &&
    child !== undefined) node.append(child);
  return node;
}
function text(node, value) { if (node.textContent !== value) node.textContent = value; }
let clearing = 0;
function say(message) {
  text($("message"), message);
  clearTimeout(clearing);
  clearing = setTimeout(() => text($("message"), ""), 6000);
}

// Updates the rows of a table by key. The node of a row is kept while the row is shown, so that it
// keeps focus and selection.
function sync(table, heads, items) {
  const head = table.tHead.rows[0], body = table.tBodies[0];
  const wanted = heads.map(h => h.title).join("\0");
  if (head.dataset.heads !== wanted) {
    head.dataset.heads = wanted;
    head.replaceChildren(...heads.map(h => el("th", { class: h.n ? "n" : "", scope: "col" },
      h.title)));
    body.replaceChildren();
  }
  const known = new Map();
  const kept = new Set(items.map(item => String(item.key)));
  for (const row of [...body.rows]) {
    if (kept.has(row.dataset.key)) known.set(row.dataset.key, row);
    else row.remove();
  }
  let place = body.firstChild;
  for (const item of items) {
    if (!kept.delete(String(item.key))) continue;   // one that is there twice is shown once
    const row = known.get(String(item.key)) || (item.make ? item.make() : el("tr", {},
      heads.map(h => el("td", { class: h.n ? "n" : h.mono ? "mono" : "" }))));
    row.dataset.key = item.key;
    if (item.fill) item.fill(row);
    else item.cells.forEach((cell, i) => {
      if (typeof cell === "function") cell(row.cells[i]);
      else text(row.cells[i], cell === undefined || cell === null ? "" : String(cell));
    });
    if (row === place) place = row.nextSibling;
    else body.insertBefore(row, place);
  }
}
// A cell that contains one node, which is created once.
const held = (make, fill) => cell => {
  if (!cell.firstChild) cell.append(make());
  fill(cell.firstChild);
};
const button = (label, go) => held(() => {
  const node = el("button", { class: "link", type: "button" });
  node.addEventListener("click", () => node.go());
  return node;
}, node => { text(node, label); node.go = go; });

// ---- numbers ----

const count = n => Number(n || 0).toLocaleString("en-US");
function time(seconds) {
  if (!seconds) return "0";
  if (seconds < 1e-6) return (seconds * 1e9).toFixed(1) + " ns";
  if (seconds < 1e-3) return (seconds * 1e6).toFixed(1) + " \u00b5s";
  return seconds < 1 ? (seconds * 1e3).toFixed(2) + " ms" : seconds.toFixed(2) + " s";
}
function size(bytes) {
  if (bytes < 1024) return bytes + " B";
  return bytes < 1048576 ? (bytes / 1024).toFixed(1) + " KB" : (bytes / 1048576).toFixed(1) + " MB";
}

// ---- the program ----

const headers = { Authorization: "Bearer " + token };
async function ask(path) {
  const answer = await fetch(path, { headers, cache: "no-store" });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error || answer.statusText);
  return value;
}
async function act(op, given) {
  try {
    const answer = await fetch("/api/do", { method: "POST", cache: "no-store",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ op, ...given }) });
    const value = await answer.json();
    say(value.error || value.done || op);
    return answer.ok && !value.error ? value : null;
  } catch (problem) {
    say("The program does not answer: " + problem.message);
    return null;
  }
}

// Opens the stream of a view's content. It is opened again after the connection breaks.
function follow(parameters, show) {
  const control = new AbortController();
  const path = "/api/events?" + new URLSearchParams(parameters);
  (async () => {
    while (!control.signal.aborted) {
      try {
        const answer = await fetch(path, { headers, signal: control.signal, cache: "no-store" });
        if (!answer.ok) throw new Error((await answer.json()).error);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = "";;) {
          const { value, done } = await reader.read();
          if (done) break;
          const lines = (rest + value).split("\n");
          rest = lines.pop();
          for (const line of lines) if (line && !control.signal.aborted) take(JSON.parse(line),
            show);
        }
        throw new Error("the program has ended, or has closed the inspector");
      } catch (problem) {
        if (control.signal.aborted) return;
        text($("facts"), "not connected: " + problem.message);
      }
      await new Promise(wake => setTimeout(wake, 1500));
    }
  })();
  return () => control.abort();
}
let top_now = {};
function take(value, show) {
  if (value.top) head(value.top);
  show(value.data, value.error);
}
function head(top) {
  text($("facts"), `${count(top.entities)} entities \u00b7 ${count(top.updates)} updates` +
    (top.paused ? " \u00b7 paused" : "") + (top.speed !== 1 ? ` \u00b7 speed ${top.speed}` : "") +
    (top.edit ? "" : " \u00b7 read-only"));
  for (const id of ["pause", "pause2"]) {
    text($(id), top.paused ? "Resume" : "Pause");
    $(id).setAttribute("aria-pressed", String(top.paused));
    $(id).disabled = !top.edit || !top.led;
  }
  for (const id of ["step", "step2", "speed"]) $(id).disabled = !top.edit || !top.led;
  $("led").hidden = top.led;
  if (document.activeElement !== $("speed")) $("speed").value = String(top.speed);
  $("undo").disabled = !top.undo || !top.edit;
  $("undo").title = top.undo ? "Undo: " + top.undo : "Nothing has been changed";
  if (top.declared !== top_now.declared) load_schema();
  top_now = top;
}

let schema = { components: [], prefabs: [], edit: false };
const component = name => schema.components.find(c => c.name === name);
async function load_schema() {
  try {
    schema = await ask("/api/schema");
  } catch (problem) {
    text($("facts"), "not connected: " + problem.message);
    return;
  }
  const chosen = $("prefab").value;
  $("prefab").replaceChildren(el("option", { value: "" }, "an empty entity"),
    ...schema.prefabs.map(name => el("option", { value: name }, name)));
  $("prefab").value = chosen;
  $("prefab").disabled = $("spawn").disabled = $("reset").disabled = !schema.edit;
  $("reload").disabled = !schema.edit || !schema.session;
  list_fields();
}

// ---- input of queries, with completion of names ----

function query_box(input, changed) {
  const list = el("ul", { class: "choices", role: "listbox", id: input.id + "-choices",
    "aria-label": "Names" });
  list.hidden = true;
  input.after(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-autocomplete", "list");
  let chosen = -1, waiting = 0;
  const word = () => /[A-Za-z_][\w.]*$/.exec(input.value.slice(0, input.selectionStart));
  function hide() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }
  function complete(name) {
    const found = word(), end = input.selectionStart, start = found ? found.index : end;
    input.value = input.value.slice(0, start) + name + input.value.slice(end);
    input.setSelectionRange(start + name.length, start + name.length);
    hide();
    later();
  }
  function mark(at) {
    const items = [...list.children];
    chosen = items.length ? (at + items.length) % items.length : -1;
    items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
    if (chosen < 0) return;
    input.setAttribute("aria-activedescendant", items[chosen].id);
    items[chosen].scrollIntoView({ block: "nearest" });
  }
  function offer() {
    const found = word(), given = found ? found[0].toLowerCase() : "";
    let names = schema.components.map(c => c.name);
    const dot = given.indexOf(".");
    const owner = dot > 0 && schema.components.find(c => c.name.toLowerCase() === given.slice(0,
      dot));
    if (owner) names = owner.fields.map(f => owner.name + "." + f.name);
    names = given ? names.filter(n => n.toLowerCase().startsWith(given) &&
      n.toLowerCase() !== given) : [];
    list.replaceChildren(...names.slice(0, 12).map((name, i) => el("li", { role: "option",
      id: list.id + i, onmousedown: event => { event.preventDefault(); complete(name); } }, name)));
    list.hidden = names.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    chosen = -1;
  }
  function later() { clearTimeout(waiting); waiting = setTimeout(() => changed(input.value), 300); }
  input.addEventListener("input", () => { offer(); later(); });
  input.addEventListener("blur", hide);
  input.addEventListener("keydown", event => {
    if (event.key === "Escape") hide();
    else if (event.key === "Enter") {
      if (!list.hidden && chosen >= 0) complete(list.children[chosen].textContent);
      else { hide(); clearTimeout(waiting); changed(input.value); }
      event.preventDefault();
    } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      mark(chosen < 0 && event.key === "ArrowUp" ? -1 : chosen + (event.key === "ArrowDown" ? 1 :
        -1));
      event.preventDefault();
    }
  });
}

// ---- entities ----

let selected = 0, stop_list = null, stop_entity = null, panel = null;
function list_entities() {
  if (stop_list) stop_list();
  stop_list = follow({ view: "entities", q: $("query").value }, (data, error) => {
    text($("query-error"), error || "");
    if (!data) { text($("count"), ""); return; }
    const rows = data.rows.split("\uE001").slice(0, -1).map(row => row.split("\uE000"));
    text($("count"), data.count > rows.length ? `${count(data.count)} match, the first ` +
      `${rows.length} are shown` : `${count(data.count)} match`);
    const heads = [{ title: "Entity" }, ...data.columns.map(title => ({ title, mono: true }))];
    sync($("rows"), heads, rows.map(row => ({ key: row[0], cells: [button(row[1], () =>
      select(Number(row[0]), true)), ...heads.slice(1).map((_, i) => row[i + 2])] })));
    for (const row of $("rows").tBodies[0].rows)
      row.classList.toggle("chosen", row.dataset.key === String(selected));
  });
}
function select(id, focus) {
  selected = id;
  for (const row of $("rows").tBodies[0].rows)
    row.classList.toggle("chosen", row.dataset.key === String(id));
  show_entity(focus);
}
function show_entity(focus) {
  if (stop_entity) stop_entity();
  stop_entity = null;
  panel = $(current === "map" ? "map-entity" : "entity");
  panel.replaceChildren(el("p", { class: "soft" }, selected ? "..." :
    current === "map" ? "Click an entity on the map to see it here."
      : "Choose an entity to see its components."));
  if (!selected) return;
  const shown = new Entity(panel);
  stop_entity = follow({ view: "entity", id: selected }, (data, error) => shown.show(data, error));
  if (focus) panel.focus();
}
const link = (id, name) => el("button", { class: "link", type: "button",
  onclick: () => select(id, true) }, name);

// The panel of an entity. Unchanged parts are kept, so that one field can be edited while others
// change.
class Entity {
  constructor(panel) {
    this.panel = panel;
    this.parts = new Map();
    this.title = el("h2");
    this.actions = el("div", { class: "row" });
    this.list = el("div");
    this.children = el("div");
    this.build_actions();
  }
  build_actions() {
    const adds = el("select", { "aria-label": "Component to add" });
    const target = el("input", { placeholder: "target", "aria-label": "Target", size: 10 });
    target.hidden = true;
    adds.append(el("option", { value: "" }, "Add a component"), ...schema.components.map(c =>
      el("option", { value: c.name }, c.name)));
    const go = () => act("add", { id: selected, component: adds.value,
      target: target.hidden ? undefined : target.value });
    adds.addEventListener("change", () => {
      const about = component(adds.value);
      target.hidden = !(about && about.relation);
    });
    this.actions.replaceChildren(
      el("button", { type: "button", onclick: () => act("despawn", { id: selected }) }, "Despawn"),
      adds, target, el("button", { type: "button", onclick: go }, "Add"));
    this.actions.hidden = !schema.edit;
  }
  show(data, error) {
    if (!data || data.dead) {
      this.drop();
      this.panel.replaceChildren(el("p", { class: "soft" }, error || "This entity is dead."));
      return;
    }
    if (this.title.parentNode !== this.panel)
      this.panel.replaceChildren(this.title, this.actions, this.list, this.children);
    text(this.title, data.title);
    const seen = new Set();
    for (const part of data.components) {
      seen.add(part.name);
      let known = this.parts.get(part.name);
      const shape = part.leaves.map(leaf => leaf[0]).join("\0");
      if (!known || known.shape !== shape) {
        const fresh = this.make(part);
        if (known) known.node.replaceWith(fresh.node); else this.list.append(fresh.node);
        known = fresh;
        known.shape = shape;
        this.parts.set(part.name, known);
      }
      known.fill(part);
    }
    for (const [name, known] of this.parts) if (!seen.has(name)) {
      this.drop(known.node);
      this.parts.delete(name);
    }
    const told = JSON.stringify(data.children);
    if (this.told === told) return;
    this.told = told;
    const tree = list => el("ul", { class: "tree" }, list.map(child => el("li", {},
      link(child.id, child.name), child.children.length ? tree(child.children) : null)));
    this.children.replaceChildren(...data.children.length
      ? [el("div", { class: "component" }, el("h3", {}, "Children"), tree(data.children))] : []);
  }
  // Takes a part away, or all; whoever was in it with the keyboard is then in the panel.
  drop(node) {
    if ((node || this.panel).contains(document.activeElement)) this.panel.focus();
    if (node) node.remove();
  }
  make(part) {
    const about = component(part.name) || { fields: [] };
    const fields = part.leaves.map(leaf => new Field(part.name, about, leaf));
    const ties = el("ul", { class: "tree" });
    const off = el("span", { class: "tag" }, "off");
    const node = el("div", { class: "component" }, el("div", { class: "row" },
      el("h3", { title: about.doc || "" }, part.name, " ", off),
      schema.edit ? el("button", { class: "link", type: "button",
        "aria-label": "Remove " + part.name,
        onclick: () => act("remove", { id: selected, component: part.name }) }, "remove") : null),
    fields.length ? el("div", { class: "fields" }, fields.map(f => f.nodes)) : null, ties);
    let told = "";
    return { node, fill: now => {
      off.hidden = !now.off;
      now.leaves.forEach((leaf, i) => fields[i].fill(leaf));
      const ties_now = JSON.stringify(now.ties || []);
      if (ties_now === told) return;
      told = ties_now;
      ties.replaceChildren(...(now.ties || []).map(tie => el("li", {}, link(tie.id, tie.name), " ",
        el("span", { class: "mono soft" }, tie.text))));
      ties.hidden = !(now.ties || []).length;
    } };
  }
}
let fields_made = 0;
class Field {
  constructor(owner, about, leaf) {
    const [path, , type] = leaf, short = path.slice(owner.length + 1);
    const declared = about.fields.find(f => short === f.name || short.startsWith(f.name + ".") ||
      short.startsWith(f.name + "[")) || {};
    this.path = path;
    const id = "field" + ++fields_made;
    const hint = [type, declared.doc, declared.min !== undefined && "at least " + declared.min,
      declared.max !== undefined && "at most " + declared.max].filter(Boolean).join("; ");
    this.unit = el("span", { class: "unit" }, declared.unit || "");
    const editable = schema.edit && type !== "any" && !(about.exclusive && short === "target");
    const names = /^enum\((.*)\)$/.exec(type);
    if (!editable) this.input = el("span", { class: "mono", title: hint });
    else if (names) this.input = el("select", { id, title: hint }, names[1].split(",").map(n =>
      el("option", { value: n.trim() }, n.trim())));
    else if (type === "bool") this.input = el("input", { id, type: "checkbox", title: hint });
    else this.input = el("input", { id, title: hint, autocomplete: "off", spellcheck: false });
    this.kind = !editable ? "text" : type === "bool" ? "bool" : "value";
    if (type === "entity") {
      this.jump = el("button", { class: "link", type: "button", "aria-label": "Go to " + short,
        onclick: () => select(this.target, true) }, "go");
      this.unit.append(" ", this.jump);
    }
    this.nodes = [editable ? el("label", { htmlFor: id, title: hint }, short)
      : el("span", { class: "name", title: hint }, short), this.input, this.unit];
    if (editable) this.listen();
  }
  listen() {
    const send = () => {
      const value = this.kind === "bool" ? String(this.input.checked) : this.input.value;
      if (value !== this.shown) act("set", { id: selected, field: this.path, value });
    };
    this.input.addEventListener("change", send);
    this.input.addEventListener("keydown", event => {
      if (event.key === "Escape" && this.kind !== "bool") this.input.value = this.shown;
    });
  }
  fill(leaf) {
    const value = leaf[1];
    if (this.jump) { this.target = leaf[3]; this.jump.hidden = !leaf[3]; }
    this.shown = value;
    if (this.kind === "text") text(this.input, value);
    else if (this.kind === "bool") this.input.checked = value === "true";
    else if (document.activeElement !== this.input && this.input.value !== value)
      this.input.value = value;
  }
}

// ---- systems ----

const history_of = new Map();
let explained = null;
function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function spark(canvas, values) {
  const ratio = devicePixelRatio || 1, w = 120 * ratio, h = 22 * ratio;
  if (canvas.width !== w) { canvas.width = w; canvas.height = h; }
  const g = canvas.getContext("2d"), most = Math.max(1e-9, ...values);
  g.clearRect(0, 0, w, h);
  g.fillStyle = css("--spark");
  values.forEach((value, i) => {
    const tall = Math.max(value > 0 ? ratio : 0, (h - 2) * value / most);
    g.fillRect(Math.floor(w - (values.length - i) * w / 240), h - tall, 1, tall);
  });
}
function toggle(name, kind) {
  return held(() => {
    const node = el("input", { type: "checkbox", onchange: () => act("switch", {
      name: node.dataset.name,
      on: node.checked }) });
    return node;
  }, node => {
    node.dataset.name = name;
    node.setAttribute("aria-label", name + " runs");
    node.disabled = !schema.edit;
    node.checked = kind.enabled;
  });
}
function system_row(system) {
  const values = history_of.get(system.name) || [];
  const mean = system.runs ? system.seconds / system.runs : 0;
  return { key: "s " + system.name, cells: [toggle(system.name, system),
    button(system.name, () => explain(system.name)),
    held(() => el("span"), node => {
      node.className = "tag " + (system.parked ? "" : system.tier || "");
      text(node, system.parked ? "parked" : system.tier || system.on);
    }),
    held(() => el("canvas", { class: "spark", role: "img" }), node => {
      node.setAttribute("aria-label", `${system.name}: ${time(system.last)} in the last run`);
      spark(node, values);
    }),
    system.rows === undefined ? "" : count(system.rows), time(system.last), time(mean),
    time(system.peak), system.per_row ? time(system.per_row) : "",
    system.left ? count(system.left.last) : "", system.cpu === undefined ? "" : time(system.cpu)] };
}
const SYSTEM_HEADS = [{ title: "On" }, { title: "System" }, { title: "Tier" },
  { title: "240 updates" }, { title: "Rows", n: true }, { title: "Last", n: true },
  { title: "Mean", n: true }, { title: "Peak", n: true }, { title: "Per row", n: true },
  { title: "Left to Lua", n: true }, { title: "CPU", n: true }];
function group_row(key, title, cell) {
  return { key, make: () => el("tr", { class: "group" }, el("th", { scope: "rowgroup" }),
    el("th", { colSpan: 10, scope: "rowgroup" })), fill: row => {
    if (cell) cell(row.cells[0]);
    text(row.cells[1], title);
  } };
}
function show_systems(data, error) {
  if (!data) { text($("frame"), error || ""); return; }
  const names = new Set(data.systems.map(s => s.name));
  for (const frame of data.frames) for (const name of names) {
    if (!history_of.has(name)) history_of.set(name, []);
    const values = history_of.get(name);
    values.push(Number(frame.systems[name]) || 0);
    if (values.length > 240) values.shift();
  }
  for (const name of history_of.keys()) if (!names.has(name)) history_of.delete(name);
  const last = data.frames[data.frames.length - 1];
  if (last) text($("frame"), `The last update took ${time(last.time)}`);
  const items = [];
  for (const phase of data.phases) {
    const systems = data.systems.filter(s => s.phase === phase.name);
    if (!systems.length && !phase.fixed) continue;
    items.push(group_row("p " + phase.name,
      phase.name + (phase.fixed ? `, every ${time(phase.fixed)}`
      : ""), toggle(phase.name, phase)));
    for (const system of systems) items.push(system_row(system));
  }
  if (data.observers.length) items.push(group_row("observers", "observers", null));
  for (const observer of data.observers) items.push(system_row(observer));
  sync($("systems"), SYSTEM_HEADS, items);
  for (const row of $("systems").tBodies[0].rows)
    row.classList.toggle("chosen", row.dataset.key === "s " + explained);
}
function part(title, content) {
  if (content === undefined || content === null || content.length === 0) return null;
  return el("div", { class: "component" }, el("h3", {}, title), typeof content === "string"
    ? el("p", {}, content) : Array.isArray(content)
      ? el("p", { class: "mono" }, content.join(", ")) : content);
}
async function explain(name) {
  explained = name;
  const box = $("explain");
  box.focus();
  try {
    const { about, beside } = await ask("/api/explain?" + new URLSearchParams({ name }));
    if (explained !== name) return;
    const reasons = (about.reasons || (about.reason ? [about.reason] : [])).map(r =>
      typeof r === "string" ? r : (r.line ? `line ${r.line}: ` : "") + r.reason);
    const others = beside ? beside.systems.filter(s => s !== name) : [];
    box.replaceChildren(...[el("h2", {}, name, " ", el("span", { class: "tag " + about.tier },
      about.tier)),
      reasons.length ? part("Why it stays Lua", el("ul", { class: "tree" }, reasons.map(r =>
        el("li", {}, r)))) : null,
      part("Reads", about.reads), part("Writes", about.writes), part("Searches", about.indexes),
      about.left ? part("Left to Lua in the last run", `${count(about.left.rows)} rows` +
        (about.left.why ? ": " + about.left.why : "")) : null,
      part("Runs row by row", about.ordered),
      about.threads ? part("Threads",
        `${about.threads}` + (about.alone ? ": " + about.alone : "")) : null,
      others.length ? part("Can run in parallel with", others)
        : part("Runs alone", beside ? beside.why || "no system can run in parallel with it" : null),
      about.program ? part("Program", el("pre", { tabIndex: 0 }, about.program)) : null]
      .filter(Boolean));
  } catch (problem) {
    box.replaceChildren(el("h2", {}, name), el("p", { class: "error" }, problem.message));
  }
}

// ---- storage ----

let first_tables = null, first_arrays = null;
const grown = (first, key, now, unit) => {
  const before = first.get(key);
  const more = before === undefined ? now : now - before;
  return more > 0 ? "+" + unit(more) : "";
};
function show_storage(data) {
  if (!data) return;
  if (!first_tables) {
    first_tables = new Map(data.tables.map(t => [t.types.join(), t.bytes]));
    first_arrays = new Map(data.arrays.map(a => [a.name, a.length]));
  }
  text($("tables-title"), `Tables: ${count(data.table_count)}, ${count(data.rows)} rows, ` +
    `${size(data.bytes)} in the world`);
  sync($("tables"), [{ title: "Components" }, { title: "Rows", n: true }, { title: "Capacity",
    n: true },
    { title: "Bytes", n: true }, { title: "Grown", n: true }],
  data.tables.map(t => ({ key: t.id + " " + t.types.join(), cells: [t.types.join(", ") || "none",
    count(t.rows),
    count(t.capacity), size(t.bytes), grown(first_tables, t.types.join(), t.bytes, size)] })));
  sync($("sparse"), [{ title: "Component" }, { title: "Rows", n: true }],
    data.sparse.map(s => ({ key: s.name, cells: [s.name, count(s.rows)] })));
  sync($("indexes"), [{ title: "Index" }, { title: "By" }, { title: "Rows", n: true },
    { title: "Bytes", n: true }], data.indexes.map(i => ({ key: i.name,
    cells: [i.name, `${i.by} of ${i.of}`, count(i.rows), size(i.bytes)] })));
  sync($("arrays"), [{ title: "Array" }, { title: "Length", n: true }, { title: "Grown", n: true }],
    data.arrays.map(a => ({ key: a.name, cells: [a.name, count(a.length),
      grown(first_arrays, a.name, a.length, count)] })));
  sync($("queries"), [{ title: "Query", mono: true }, { title: "Tables", n: true },
    { title: "Rows", n: true }], data.queries.map((q, i) => ({ key: i + q.text,
    cells: [q.text || "all", count(q.tables), count(q.rows) + (q.more ? "+" : "")] })));
  for (const [id, list] of [["sparse", data.sparse], ["indexes", data.indexes],
    ["arrays", data.arrays], ["queries", data.queries]])
    $(id).parentNode.hidden = list.length === 0;
}

// ---- map ----

let points = [], stop_map = null, camera = { x: 0, y: 0, scale: 1, set: false };
const NUMBERS = /^(f32|f64|[iu](8|16|32|64)|bool)$/;
function list_fields() {
  const names = [];
  for (const c of schema.components) for (const f of c.fields)
    if (NUMBERS.test(f.type)) names.push(c.name + "." + f.name);
    else {
      const nested = component(f.type);
      for (const g of nested ? nested.fields : []) if (NUMBERS.test(g.type))
        names.push(`${c.name}.${f.name}.${g.name}`);
    }
  for (const [id, any] of [["map-x", false], ["map-y", false], ["map-c", true], ["map-s", true]]) {
    const select = $(id), before = select.value;
    select.replaceChildren(...(any ? [el("option", { value: "" }, "none")] : []),
      ...names.map(name => el("option", { value: name }, name)));
    if (names.includes(before)) select.value = before;
    else if (!any) {
      const end = id === "map-x" ? ".x" : ".y", fit = names.filter(n => n.endsWith(end));
      fit.sort((a, b) => a.split(".").length - b.split(".").length ||
        /^pos/i.test(b) - /^pos/i.test(a));
      select.value = fit[0] || names[0] || "";
      if (id === "map-y" && $("map-x").value.endsWith(".x")) {
        const beside = $("map-x").value.slice(0, -1) + "y";
        if (names.includes(beside)) select.value = beside;
      }
    }
  }
  if (!$("map-query").value &&
    $("map-x").value) $("map-query").value = $("map-x").value.split(".")[0];
  if (current === "map") open_map();
}
function open_map() {
  if (stop_map) stop_map();
  stop_map = follow({ view: "map", q: $("map-query").value, x: $("map-x").value,
    y: $("map-y").value,
    c: $("map-c").value, s: $("map-s").value }, (data, error) => {
    text($("map-error"), error || "");
    if (!data) return;
    points = data.points ? data.points.split(";").map(p => p.split(" ").map(Number)) : [];
    text($("map-count"), data.count > points.length
      ? `${count(data.count)} match, ${count(points.length)} of them are shown`
      : `${count(points.length)} shown`);
    if (!camera.set && points.length) fit();
    draw();
  });
}
function fit() {
  const xs = points.map(p => p[1]).filter(Number.isFinite),
    ys = points.map(p => p[2]).filter(Number.isFinite);
  const canvas = $("map"), box = canvas.getBoundingClientRect();
  if (!xs.length || !ys.length || !box.width) return;
  const low = Math.min(...xs), high = Math.max(...xs), bottom = Math.min(...ys),
    top = Math.max(...ys);
  camera = { x: (low + high) / 2, y: (bottom + top) / 2, set: true,
    scale: 0.9 * Math.min(box.width / Math.max(high - low, 1), box.height / Math.max(top - bottom,
      1)) };
  draw();
}
function place(p, box) {
  return [box.width / 2 + (p[1] - camera.x) * camera.scale,
    box.height / 2 - (p[2] - camera.y) * camera.scale];
}
function range(at) {
  let low = Infinity, high = -Infinity;
  for (const p of points) if (Number.isFinite(p[at])) {
    low = Math.min(low, p[at]);
    high = Math.max(high, p[at]);
  }
  return { low, part: v => high > low ? (v - low) / (high - low) : 0.5 };
}
function draw() {
  const canvas = $("map"), box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
  if (!box.width) return;
  if (canvas.width !== Math.round(box.width * ratio)) canvas.width = Math.round(box.width * ratio);
  if (canvas.height !== Math.round(box.height * ratio)) canvas.height = Math.round(box.height *
    ratio);
  const chosen = points.find(p => p[0] === selected);
  if (chosen && $("follow").checked) { camera.x = chosen[1]; camera.y = chosen[2]; }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, box.width, box.height);
  grid(g, box);
  const colour = $("map-c").value && range(3), big = $("map-s").value && range(4);
  const plain = css("--spark");
  for (const p of points) {
    const [x, y] = place(p, box);
    if (!(x > -20 && y > -20 && x < box.width + 20 && y < box.height + 20)) continue;
    g.fillStyle = colour && Number.isFinite(p[3]) ?
      `hsl(${240 - 220 * colour.part(p[3])} 75% 52%)` : plain;
    g.beginPath();
    g.arc(x, y, big && Number.isFinite(p[4]) ? 1.5 + 7 * Math.sqrt(big.part(p[4])) : 2.5, 0, 7);
    g.fill();
  }
  if (!chosen) return;
  const [x, y] = place(chosen, box);
  g.strokeStyle = css("--bad");
  g.lineWidth = 2;
  g.beginPath();
  g.arc(x, y, 9, 0, 7);
  g.stroke();
}
function grid(g, box) {
  const step = 10 ** Math.ceil(Math.log10(70 / camera.scale));
  const fine = step * camera.scale > 350 ? step / 5 : step * camera.scale > 150 ? step / 2 : step;
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(fine))));
  g.strokeStyle = css("--line");
  g.fillStyle = css("--soft");
  g.lineWidth = 1;
  g.font = "11px system-ui, sans-serif";
  const left = camera.x - box.width / 2 / camera.scale,
    low = camera.y - box.height / 2 / camera.scale;
  g.beginPath();
  for (let i = Math.ceil(left / fine); i * fine < left + box.width / camera.scale; i++) {
    const x = Math.round(box.width / 2 + (i * fine - camera.x) * camera.scale) + 0.5;
    g.moveTo(x, 0);
    g.lineTo(x, box.height);
    g.fillText((i * fine).toFixed(digits), x + 3, box.height - 4);
  }
  for (let i = Math.ceil(low / fine); i * fine < low + box.height / camera.scale; i++) {
    const y = Math.round(box.height / 2 - (i * fine - camera.y) * camera.scale) + 0.5;
    g.moveTo(0, y);
    g.lineTo(box.width, y);
    g.fillText((i * fine).toFixed(digits), 3, y - 3);
  }
  g.stroke();
}
function zoom(by, at) {
  const box = $("map").getBoundingClientRect(), px = at ? at[0] : box.width / 2,
    py = at ? at[1] : box.height / 2;
  const x = camera.x + (px - box.width / 2) / camera.scale,
    y = camera.y - (py - box.height / 2) / camera.scale;
  camera.scale *= by;
  camera.x = x - (px - box.width / 2) / camera.scale;
  camera.y = y + (py - box.height / 2) / camera.scale;
  camera.set = true;
  draw();
}
function pick(px, py) {
  const box = $("map").getBoundingClientRect();
  let best = null, near = 15 * 15;
  for (const p of points) {
    const [x, y] = place(p, box), far = (x - px) ** 2 + (y - py) ** 2;
    if (far < near) { near = far; best = p; }
  }
  if (best) { select(best[0], false); draw(); }
}
function listen_map() {
  const canvas = $("map");
  let drag = null;
  canvas.addEventListener("pointerdown", event => {
    drag = { x: event.offsetX, y: event.offsetY, moved: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!drag) return;
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    drag = { x: event.offsetX, y: event.offsetY, moved: drag.moved + Math.abs(dx) + Math.abs(dy) };
    camera.x -= dx / camera.scale;
    camera.y += dy / camera.scale;
    draw();
  });
  canvas.addEventListener("pointerup", event => {
    if (drag && drag.moved < 4) pick(event.offsetX, event.offsetY);
    drag = null;
  });
  canvas.addEventListener("wheel", event => {
    zoom(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    const far = 60 / camera.scale;
    const moves = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0,
      -far] };
    if (moves[event.key]) { camera.x += moves[event.key][0]; camera.y += moves[event.key][1];
      draw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (/^[np]$/i.test(event.key) && points.length) {
      const at = points.findIndex(p => p[0] === selected), by = /n/i.test(event.key) ? 1 : -1;
      select(points[at < 0 ? 0 : (at + by + points.length) % points.length][0], false);
      draw();
    } else return;
    event.preventDefault();
  });
  for (const id of ["map-x", "map-y", "map-c", "map-s"]) $(id).addEventListener("change", () => {
    if (id === "map-x" || id === "map-y") camera.set = false;
    open_map();
  });
  $("fit").addEventListener("click", fit);
  addEventListener("resize", () => { if (current === "map") draw(); });
}

// ---- time ----

function show_time(data) {
  if (!data) return;
  const bytes = data.ring.reduce((sum, kept) => sum + kept.bytes, 0);
  text($("ring-problem"), data.problem ? "No snapshots are taken: " + data.problem : "");
  text($("ring-size"), `${data.ring.length} snapshots, ${size(bytes)}`);
  sync($("ring"), [{ title: "Update", n: true }, { title: "Ago", n: true }, { title: "Bytes",
    n: true },
    { title: "" }], [...data.ring].reverse().map(kept => ({ key: kept.number,
    cells: [count(kept.tick), Math.round(kept.age) + " s", size(kept.bytes),
      cell => {
        button("Go back to this", () => act("back", { number: kept.number }))(cell);
        cell.firstChild.disabled = !schema.edit;
      }] })));
}

// ---- scripts ----

function show_scripts(data) {
  if (!data) return;
  $("no-session").hidden = !data.none;
  if (data.none) return;
  const box = $("script-error"), told = data.last_error || "";
  if (box.dataset.told !== told) {
    box.dataset.told = told;
    box.replaceChildren(...told ? [el("h3", {}, "The last error"), el("pre", { class: "error",
      tabIndex: 0 }, told)]
      : [el("p", { class: "soft" }, "The last reload succeeded.")]);
  }
  sync($("files"), [{ title: "File", mono: true }, { title: "Version", n: true }, {
    title: "Last reload" }],
    data.files.map(f => ({ key: f.path, cells: [f.path, f.version,
      data.swapped_files.includes(f.path) ? "reloaded" : ""] })));
  $("orphans-title").hidden = !data.orphans.length;
  text($("orphans"), data.orphans.join(", "));
  const swapped = Object.entries(data.swapped || {}).map(([name, report]) => ({ key: name,
    cells: [name, Object.entries(report).map(([key, value]) => value === null ||
      typeof value !== "object" ? `${key}: ${value}` : Object.keys(value).length === 0 ? "" :
        `${key}: ` + (Array.isArray(value) ? value.join(", ") : Object.entries(value).map(
          ([to, from]) => `${to} from ${from}`).join(", "))).filter(Boolean).join("; ")] }));
  $("swapped-title").hidden = !swapped.length;
  sync($("swapped"), swapped.length ? [{ title: "Component" }, { title: "Change" }] : [], swapped);
}

// ---- views ----

const VIEWS = {
  entities: { title: "Entities", open: () => { list_entities(); show_entity(); },
    close: () => { if (stop_list) stop_list(); } },
  systems: { title: "Systems", open: () => follow({ view: "systems" }, show_systems) },
  storage: { title: "Storage", open: () => follow({ view: "storage" }, show_storage) },
  map: { title: "Map", open: () => { open_map(); show_entity(); }, close: () => {
    if (stop_map) stop_map(); } },
  time: { title: "Time", open: () => follow({ view: "time" }, show_time) },
  scripts: { title: "Scripts", open: () => follow({ view: "scripts" }, show_scripts) },
};
let current = null, stop_view = null;
function go(name) {
  if (current === name) return;
  if (current && VIEWS[current].close) VIEWS[current].close();
  if (stop_view) stop_view();
  if (stop_entity) stop_entity();
  stop_view = stop_entity = null;
  current = name;
  for (const other of Object.keys(VIEWS)) {
    $("view-" + other).hidden = other !== name;
    const tab = $("tab-" + other);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
  }
  stop_view = VIEWS[name].open() || null;
}
function build_tabs() {
  const names = Object.keys(VIEWS);
  $("tabs").append(...names.map(name => el("button", { id: "tab-" + name, role: "tab",
    type: "button",
    "aria-controls": "view-" + name, onclick: () => go(name) }, VIEWS[name].title)));
  $("tabs").addEventListener("keydown", event => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = names.indexOf(current);
    const next = by ? names[(at + by + names.length) % names.length]
      : event.key === "Home" ? names[0] : event.key === "End" ? names[names.length - 1] : null;
    if (!next) return;
    go(next);
    $("tab-" + next).focus();
    event.preventDefault();
  });
}

build_tabs();
query_box($("query"), list_entities);
query_box($("map-query"), open_map);
listen_map();
$("speed").append(...[0.1, 0.25, 0.5, 1, 2, 4, 8].map(n => el("option", { value: String(n) },
  String(n))));
$("speed").addEventListener("change", () => act("speed", { speed: Number($("speed").value) }));
for (const id of ["pause", "pause2"]) $(id).addEventListener("click", () => act("pause", {
  on: !top_now.paused }));
for (const id of ["step", "step2"]) $(id).addEventListener("click", () => act("step"));
$("undo").addEventListener("click", async () => {
  const done = await act("undo");
  if (done && typeof done.id === "number") select(done.id, false);
});
$("spawn").addEventListener("click", async () => {
  const done = await act("spawn", { prefab: $("prefab").value });
  if (done) select(done.id, true);
});
$("reset").addEventListener("click", () => act("reset_counters"));
$("reload").addEventListener("click", () => act("reload"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (current === "map") draw(); });
load_schema().then(() => go("entities"));
})();
]==]

-- ---- the hashes in the Content-Security-Policy ----

-- Returns the first 32 bits of the fractional parts of roots of the first primes.
local function constants(count, power)
  local list, candidate = {}, 2
  while #list < count do
    local prime = true
    for i = 2, math.floor(candidate ^ 0.5) do
      prime = prime and candidate % i ~= 0
    end
    if prime then
      local root = candidate ^ power
      list[#list + 1] = math.floor((root - math.floor(root)) * 2.0 ^ 32)
    end
    candidate = candidate + 1
  end
  return list
end

local START, ROUND = constants(8, 1 / 2), constants(64, 1 / 3)

local function rotate(x, n)
  return (x >> n | x << (32 - n)) & 0xffffffff
end

local function block(h, text, at)
  local w = { string.unpack((">I4"):rep(16), text, at) }
  for i = 17, 64 do
    local x, y = w[i - 15], w[i - 2]
    local s0 = rotate(x, 7) ~ rotate(x, 18) ~ x >> 3
    local s1 = rotate(y, 17) ~ rotate(y, 19) ~ y >> 10
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) & 0xffffffff
  end
  local a, b, c, d, e, f, g, k = table.unpack(h)
  for i = 1, 64 do
    local s1 = rotate(e, 6) ~ rotate(e, 11) ~ rotate(e, 25)
    local t1 = k + s1 + (e & f ~ ~e & g) + ROUND[i] + w[i]
    local t2 = (rotate(a, 2) ~ rotate(a, 13) ~ rotate(a, 22)) + (a & b ~ a & c ~ b & c)
    k, g, f, e, d, c, b, a = g, f, e, (d + t1) & 0xffffffff, c, b, a, (t1 + t2) & 0xffffffff
  end
  for i, x in ipairs { a, b, c, d, e, f, g, k } do
    h[i] = (h[i] + x) & 0xffffffff
  end
end

-- SHA-256 (FIPS 180-4).
local function sha256(text)
  local h = table.move(START, 1, 8, 1, {})
  local padded = text .. "\128" .. ("\0"):rep(-(#text + 9) % 64) .. string.pack(">I8", 8 * #text)
  for at = 1, #padded, 64 do
    block(h, padded, at)
  end
  return string.pack((">I4"):rep(8), table.unpack(h))
end

local function hash(text)
  return "'sha256-" .. json.base64(sha256(text)) .. "'"
end

return {
  page = table.concat {
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
    "<title>ecs inspector</title>\n<style>", STYLE, "</style>\n</head>\n<body>\n", BODY,
    "<script>", SCRIPT, "</script>\n</body>\n</html>\n",
  },
  policy = table.concat({
    "default-src 'none'", "script-src " .. hash(SCRIPT), "style-src " .. hash(STYLE),
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  }, "; "),
}
