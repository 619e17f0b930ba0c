/** The style sheet of the page. Every text color has a contrast of at least 4.5 on every background. */
export const style = `
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #fff; --ink: #1a1d23; --soft: #5a626f; --line: #e2e5ea; --accent: #3457d5; --tint: #eef2ff; --bad: #b3261e; --good: #1f7a4d; --ice: #1b6fa8; }
@media (prefers-color-scheme: dark) { :root { --bg: #14161a; --card: #1b1e24; --ink: #e7e9ee; --soft: #98a0ae; --line: #2c313a; --accent: #8ea6ff; --tint: #232a42; --bad: #ff8a80; --good: #6fd3a0; --ice: #7cc7f5; } }
* { box-sizing: border-box; scrollbar-width: thin; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: var(--bg); color: var(--ink); font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
code, pre, kbd, time { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; font-variant-numeric: tabular-nums; }
button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 3px 10px; cursor: pointer; white-space: nowrap; }
button:hover:not(:disabled) { border-color: var(--accent); color: var(--accent); }
button:disabled { opacity: .45; cursor: default; }
button.danger:hover { border-color: var(--bad); color: var(--bad); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
a { color: var(--accent); }
@media (scripting: none) { .lists, .clock, main, #clear, #reset { display: none !important; } }
noscript { padding: 10px 16px; background: var(--tint); }
.quiet { color: var(--soft); }
kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; color: var(--soft); background: var(--bg); }
header { display: flex; align-items: center; gap: 16px; padding: 10px 16px; background: var(--card); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: 8px; margin: 0; font-size: 16px; }
h3 { font-size: 14px; margin: 0 0 6px; }
#timeline { border-top: 1px solid var(--line); border-radius: 8px; }
#timeline td:last-child { white-space: normal; }
.lists { gap: 2px; }
.lists button { border-color: transparent; background: none; color: var(--soft); }
.lists button[aria-current="true"] { background: var(--tint); color: var(--accent); font-weight: 600; }
.badge { font-size: 11px; line-height: 1.6; padding: 0 7px; border-radius: 9px; background: var(--tint); color: var(--accent); }
.about { margin: 0; flex: 1; min-width: 0; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav { display: flex; align-items: center; gap: 8px; }
nav a { text-decoration: none; margin-right: 4px; }
.clock { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 14px; padding: 8px 16px; border-bottom: 1px solid var(--line); }
.mode { display: inline-flex; align-items: center; gap: 7px; min-width: 78px; font-weight: 600; }
.mode::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--soft); }
.mode.running::before { background: var(--good); }
.mode.frozen { color: var(--ice); }
.mode.frozen::before { border-radius: 2px; background: var(--ice); }
.offline .mode::before { background: var(--bad); }
.buttons { display: flex; gap: 6px; }
main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
.view { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(280px, 360px) 1fr; }
.list { display: flex; flex-direction: column; min-height: 0; border-right: 1px solid var(--line); background: var(--card); }
.search { position: relative; padding: 10px 12px; border-bottom: 1px solid var(--line); }
.search input { width: 100%; font: inherit; color: inherit; background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: 6px 34px 6px 10px; }
.search kbd { position: absolute; right: 20px; top: 17px; }
.search input:focus + kbd { visibility: hidden; }
.rows { flex: 1; overflow-y: auto; list-style: none; margin: 0; padding: 0; }
.rows:empty::before { content: "Nothing here."; display: block; padding: 14px 12px; color: var(--soft); }
.rows button { display: grid; grid-template-columns: 1fr auto; gap: 0 10px; width: 100%; text-align: left; border: 0; border-bottom: 1px solid var(--line); border-left: 3px solid transparent; border-radius: 0; padding: 9px 12px 9px 11px; background: none; color: inherit; }
.rows button:hover { background: var(--bg); color: inherit; }
.rows button[aria-current] { background: var(--tint); border-left-color: var(--accent); }
.rows span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.rows .who { font-weight: 600; }
.rows time { font-size: 12px; align-self: center; }
.rows .subject, .rows .from { grid-column: 1 / -1; }
.rows .from { font-size: 12.5px; }
#more { margin: 10px 12px; }
footer { display: flex; justify-content: space-between; padding: 8px 12px; border-top: 1px solid var(--line); font-size: 12.5px; }
.one { min-width: 0; min-height: 0; display: flex; }
.empty { margin: auto; padding: 24px; max-width: 100%; color: var(--soft); text-align: center; }
.empty pre { text-align: left; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px; overflow-x: auto; color: var(--ink); }
.open { flex: 1; min-width: 0; display: flex; flex-direction: column; padding: 16px 20px 20px; }
.back { display: none; align-self: flex-start; margin-bottom: 10px; }
h2 { font-size: 19px; line-height: 1.35; margin: 0 0 8px; overflow-wrap: anywhere; max-height: 5.4em; overflow-y: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 1px 12px; margin: 0 0 14px; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; max-height: 4.5em; overflow-y: auto; }
.tabs { display: flex; gap: 2px; box-shadow: inset 0 -1px var(--line); overflow-x: auto; overflow-y: hidden; scrollbar-width: none; }
.tabs button { border: 0; border-bottom: 2px solid transparent; border-radius: 0; background: none; padding: 6px 12px; flex: none; }
.tabs button[aria-selected="true"] { border-bottom-color: var(--accent); color: var(--accent); font-weight: 600; }
.panel { flex: 1; min-height: 0; overflow: auto; display: flex; flex-direction: column; background: var(--card); border: 1px solid var(--line); border-top: 0; border-radius: 0 0 8px 8px; }
.panel iframe { flex: 1; width: 100%; border: 0; background: #fff; color-scheme: light; }
.panel pre { margin: 0; padding: 14px 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
.attempts td { white-space: nowrap; }
thead th { font-size: 12px; color: var(--soft); }
.state { font-size: 11.5px; line-height: 1.6; padding: 0 7px; border: 1px solid var(--line); border-radius: 9px; background: var(--card); color: var(--soft); white-space: nowrap; }
.state.delivered, .state.sent, .state.opened, .state.clicked { color: var(--good); }
.state.pending, .state.queued, .state.sending, .state.deferred { color: var(--ice); }
.state.dead, .state.bounced, .state.complained, .state.failed, .state.suppressed { color: var(--bad); }
.advice { display: flex; flex-direction: column; gap: 4px; margin: 0 0 14px; padding: 8px 12px; border-left: 3px solid var(--bad); background: var(--card); overflow-wrap: anywhere; }
.bar { display: flex; align-items: center; justify-content: space-between; gap: 8px; margin: 0; padding: 7px 14px; background: var(--tint); border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 6px 14px; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { white-space: nowrap; font-weight: 500; color: var(--soft); }
td { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12.5px; }
.files { list-style: none; margin: 0; padding: 6px 16px; }
.files li { padding: 8px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
#notice:not(:empty) { position: fixed; left: 50%; bottom: 20px; transform: translateX(-50%); width: max-content; max-width: calc(100vw - 32px); padding: 8px 16px; border-radius: 8px; background: var(--ink); color: var(--bg); box-shadow: 0 4px 18px #0004; }
#notice.bad:not(:empty) { background: var(--bad); }
dialog { border: 1px solid var(--line); border-radius: 10px; padding: 20px; max-width: 400px; background: var(--card); color: var(--ink); }
dialog::backdrop { background: #0006; }
dialog p { margin: 0 0 16px; }
dialog .buttons { justify-content: flex-end; }
#yes { background: var(--bad); border-color: var(--bad); color: var(--card); }
@media (max-width: 760px) {
  header { flex-wrap: wrap; gap: 6px 12px; padding: 10px 12px; }
  .brand { flex: 1; }
  .lists { order: 2; flex: 1 0 100%; margin-left: -10px; }
  .reading .lists { display: none; }
  .about { order: 3; flex: 1 0 100%; white-space: normal; font-size: 12.5px; }
  .clock { padding: 8px 12px; }
  .view { grid-template-columns: minmax(0, 1fr); }
  .list { border-right: 0; }
  .one { display: none; }
  .reading .list { display: none; }
  .reading .one { display: flex; }
  .reading .clock, .reading .about { display: none; }
  .open { padding: 12px; }
  .tabs button { padding: 6px 9px; }
  .back { display: block; }
  .search kbd, .keys { display: none; }
  #timeline thead { display: none; }
  #timeline tr, #timeline th, #timeline td { display: block; border: 0; padding: 3px 12px; }
  #timeline tr { border-bottom: 1px solid var(--line); padding: 6px 0; }
  .headers th { white-space: normal; min-width: 90px; }
}
`;
