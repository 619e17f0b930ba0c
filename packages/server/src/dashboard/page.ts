import { hash } from "node:crypto";
import { script } from "./client/script.ts";
import { style } from "./style.ts";

/** Facts about the server that the page shows. */
interface PageFacts {
  readonly mailer: "capture" | "smtp";
  readonly version: string;
  /** The beginning and end of the API key; empty when it is not known. */
  readonly keyPreview: string;
}

/** The page may run its one script, call its own server and frame mail. Nothing is loaded from elsewhere. */
export function buildPolicy(): string {
  return [
    "default-src 'none'",
    `script-src ${source(script())}`,
    `style-src ${source(style)}`,
    "connect-src 'self'",
    "frame-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The icon of the service, an SVG. */
export const ICON =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='#3457d5'/><path d='M7 11l9 7 9-7v11H7z' fill='none' stroke='white' stroke-width='2.2' stroke-linejoin='round'/><path d='M7 11h18' stroke='white' stroke-width='2.2' stroke-linecap='round'/></svg>";

const MAILER = {
  capture: "Mail is captured here, nothing leaves this machine",
  smtp: "Mail leaves through SMTP; only simulated recipients end here",
} as const;

/** The HTML of the page: the inbox, the activity and the webhooks. It inserts content as text; the HTML of a mail is shown in a sandboxed frame. */
export function renderDevPage({ mailer, version, keyPreview }: PageFacts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Inbox · mailsvc</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript. The same data as JSON: <a href="/__dev/inbox">mail</a>, <a href="/dashboard/emails">emails</a>, <a href="/dashboard/events">events</a></noscript>
<header>
  <h1 class="brand">mailsvc <span class="badge">dev</span></h1>
  <nav class="lists" aria-label="Lists"><button type="button" id="to-inbox" aria-current="true">Inbox</button><button type="button" id="to-activity">Activity</button><button type="button" id="to-webhooks">Webhooks</button></nav>
  <p class="about">${MAILER[mailer]}.${keyPreview ? ` Key <code>${keyPreview}</code>, printed in full at the start.` : ""}</p>
  <nav class="actions" aria-label="Actions"><a href="/openapi.json">API</a><button type="button" id="clear">Clear inbox</button><button type="button" id="reset" class="danger">Reset…</button></nav>
</header>
<section class="clock" aria-label="Clock">
  <span id="mode" class="mode">Clock</span><time id="now">…</time>
  <span class="buttons"><button type="button" id="freeze">Freeze</button><button type="button" id="advance">+15m</button><button type="button" id="next">Next timer</button></span>
  <span id="upcoming" class="quiet"></span>
</section>
<main>
<div id="inbox" class="view">
  <section class="list" aria-label="Captured mail">
    ${search("search", "Search recipient or subject")}
    <ol id="mails" class="rows"></ol>
    <button type="button" id="more" hidden>Show older</button>
    ${footer("count")}
  </section>
  <article class="one" aria-label="Mail">
    <div id="empty" class="empty"></div>
    <div id="open" class="open" hidden>
      <button type="button" id="back" class="back">← Inbox</button>
      <h2 id="subject"></h2>
      <dl id="facts"></dl>
      ${tabs("panel", { html: "HTML", text: "Text", source: "Source", headers: "Headers", attachments: "Attachments" })}
    </div>
  </article>
</div>
<div id="activity" class="view" hidden>
  <section class="list" aria-label="Emails">
    ${search("email-search", "Search recipient, subject or state")}
    <ol id="emails" class="rows"></ol>
    ${footer("email-count")}
  </section>
  <article class="one" aria-label="Email">
    <div id="no-email" class="empty"></div>
    <div id="email" class="open" hidden>
      <button type="button" id="email-back" class="back">← Activity</button>
      <h2 id="email-subject"></h2>
      <dl id="email-facts"></dl>
      <p id="email-advice" class="advice" hidden></p>
      <h3>Timeline</h3>
      <div id="timeline" class="panel attempts" tabindex="0"></div>
    </div>
  </article>
</div>
<div id="webhooks" class="view" hidden>
  <section class="list" aria-label="Events sent to webhooks">
    ${search("event-search", "Search type, agent, state or id")}
    <ol id="events" class="rows"></ol>
    ${footer("event-count")}
  </section>
  <article class="one" aria-label="Event">
    <div id="no-event" class="empty"></div>
    <div id="event" class="open" hidden>
      <button type="button" id="event-back" class="back">← Webhooks</button>
      <h2 id="event-type"></h2>
      <dl id="event-facts"></dl>
      <p id="event-advice" class="advice" hidden></p>
      ${tabs("event-panel", { body: "Body", attempts: "Attempts", answer: "Response" })}
    </div>
  </article>
</div>
</main>
<div id="notice" role="status"></div>
<dialog id="ask"><p id="question"></p><div class="buttons"><button type="button" id="no">Cancel</button><button type="button" id="yes" class="danger"></button></div></dialog>
<script>${script()}</script>
<!-- mailsvc ${version} -->
</body>
</html>
`;
}

function footer(count: string): string {
  return `<footer class="quiet"><span id="${count}"></span><span class="keys"><kbd>j</kbd> <kbd>k</kbd> move</span></footer>`;
}

function source(text: string): string {
  return `'sha256-${hash("sha256", text, "base64")}'`;
}

function tab(name: string, label: string, panel: string): string {
  return `<button type="button" role="tab" id="tab-${name}" data-tab="${name}" aria-controls="${panel}">${label}</button>`;
}

function tabs(panel: string, labels: Readonly<Record<string, string>>): string {
  return `<div class="tabs" role="tablist">${Object.entries(labels)
    .map(([name, label]) => tab(name, label, panel))
    .join("")}</div>
      <div id="${panel}" class="panel" role="tabpanel" tabindex="0"></div>`;
}

function search(id: string, what: string): string {
  return `<div class="search"><input id="${id}" type="search" placeholder="${what}" aria-label="${what}" autocomplete="off" spellcheck="false"><kbd>/</kbd></div>`;
}
