/** The page of `templates preview --watch`: asks for the newest rendering, and again whenever the server says that there is one. */
export function renderPreviewPage(nonce: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Preview</title><meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { margin: 0; background: Canvas; color: CanvasText; }
header { display: flex; gap: 12px; align-items: center; flex-wrap: wrap; padding: 10px 16px; border-bottom: 1px solid #8884; }
h1 { font-size: 15px; margin: 0; flex: 1; } #took, .place { opacity: .7; }
button { font: inherit; padding: 3px 10px; } button[aria-pressed=true] { background: #2557d6; color: #fff; border-color: #2557d6; }
main { display: grid; grid-template-columns: minmax(0, 1fr) 320px; min-height: calc(100vh - 55px); }
#mail { padding: 16px; background: #8882; } aside { padding: 16px; border-left: 1px solid #8884; overflow-wrap: anywhere; }
iframe { display: block; border: 0; width: 100%; height: calc(100vh - 90px); margin: 0 auto; background: #fff; color-scheme: light; }
.phone iframe { width: 375px; max-width: 100%; } .dark iframe { color-scheme: dark; background: #121212; }
pre { white-space: pre-wrap; margin: 0; max-width: 80ch; } h2 { font-size: 14px; margin: 0 0 8px; }
#errors { background: #b3261e; color: #fff; padding: 10px 16px; } #errors p { margin: 0; } ul { padding: 0; list-style: none; margin: 0 0 16px; }
li { margin-bottom: 10px; } .error { color: #d33; font-weight: 600; } .warning { color: #a60; font-weight: 600; }
@media (max-width: 700px) { main { display: block; } aside { border-left: 0; } }
</style></head><body>
<header><h1 id="subject">Rendering…</h1><span id="took"></span>
<span role="group" aria-label="View"><button data-view="desktop" aria-pressed="true">Desktop</button> <button data-view="phone">Phone</button>
<button data-view="dark">Dark</button> <button data-view="text">Text</button></span></header>
<div id="errors" role="alert" hidden></div>
<main><div id="mail"><iframe sandbox title="The mail"></iframe><pre hidden></pre></div>
<aside><h2 id="count">Findings</h2><ul id="findings"></ul><h2 id="lacks" hidden>Variables without a value</h2><p id="missing"></p></aside></main>
<script nonce="${nonce}">
const at = (id) => document.getElementById(id);
const frame = document.querySelector("iframe"), text = document.querySelector("pre"), mail = at("mail");
const add = (parent, tag, words, name) => { const e = parent.appendChild(document.createElement(tag)); e.textContent = words; if (name) e.className = name; return e; };
for (const button of document.querySelectorAll("button")) button.onclick = () => show(button.dataset.view);
function show(view) {
  mail.className = view;
  frame.hidden = view === "text"; frame.style.display = view === "text" ? "none" : ""; text.hidden = view !== "text";
  for (const b of document.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.view === view));
  location.hash = view;
}
async function load() {
  const state = await (await fetch("state")).json();
  at("errors").hidden = state.errors.length === 0; at("errors").replaceChildren();
  for (const { path, message } of state.errors) add(at("errors"), "p", path === "" ? message : path + "  " + message);
  if (state.mail) {
    const { subject, html, missingVariables, findings } = state.mail;
    document.title = at("subject").textContent = subject ?? "(no subject)";
    if (frame.srcdoc !== (html ?? "")) frame.srcdoc = html ?? "";
    text.textContent = state.mail.text ?? "(no text)";
    at("took").textContent = "rendered in " + state.took + " ms";
    at("count").textContent = findings.length === 0 ? "No findings" : findings.length + (findings.length === 1 ? " finding" : " findings");
    at("findings").replaceChildren();
    for (const f of findings) {
      const item = add(at("findings"), "li", "");
      add(item, "span", f.severity, f.severity); add(item, "span", " " + f.message); add(item, "div", f.rule + (f.line === null ? "" : ", line " + f.line), "place");
    }
    at("lacks").hidden = missingVariables.length === 0; at("missing").textContent = missingVariables.join(", ");
  }
}
new EventSource("changes").onmessage = load;
if (location.hash) show(location.hash.slice(1));
</script></body></html>
`;
}
