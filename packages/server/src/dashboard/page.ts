import { hash } from "node:crypto";
import { script } from "./client/script.ts";
import { style } from "./style.ts";

/** What the page says of its server. */
export interface PageFacts {
  readonly mailer: "capture" | "smtp";
  readonly version: string;
  /** The ends of the API key; empty when it is not known. */
  readonly keyPreview: string;
}

/** What the page may do: run its one script, ask its own server, frame mail. Nothing from anywhere else. */
export function pagePolicy(): string {
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

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%233457d5'/%3E%3Cpath d='M7 11l9 7 9-7v11H7z' fill='none' stroke='white' stroke-width='2.2' stroke-linejoin='round'/%3E%3Cpath d='M7 11h18' stroke='white' stroke-width='2.2' stroke-linecap='round'/%3E%3C/svg%3E";

const MAILER = {
  capture: "Mail is captured here, nothing leaves this machine",
  smtp: "Mail leaves through SMTP; only simulated recipients end here",
} as const;

const KEYS = `<span class="keys"><kbd>j</kbd> <kbd>k</kbd> move</span>`;

/** The page, whole: the inbox, and what went to webhooks. All it shows it puts in as text; the HTML of a mail goes into a sandboxed frame. */
export function inboxPage({ mailer, version, keyPreview }: PageFacts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Inbox · mailsvc</title>
<link rel="icon" href="${ICON}">
<style>${style}</style>
</head>
<body>
<header>
  <div class="brand"><strong>mailsvc</strong><span class="badge">dev</span></div>
  <nav class="sides"><button type="button" id="to-inbox" aria-current="true">Inbox</button><button type="button" id="to-webhooks">Webhooks</button></nav>
  <p class="about">${MAILER[mailer]}.${keyPreview ? ` Key <code>${keyPreview}</code>, printed in full at the start.` : ""}</p>
  <nav class="actions"><a href="/openapi.json">API</a><button type="button" id="clear">Clear inbox</button><button type="button" id="reset" class="danger">Reset…</button></nav>
</header>
<section class="clock" aria-label="Clock">
  <span id="mode" class="mode">Clock</span><time id="now">…</time>
  <span class="buttons"><button type="button" id="freeze">Freeze</button><button type="button" id="advance">+15m</button><button type="button" id="next">Next timer</button></span>
  <span id="upcoming" class="quiet"></span>
</section>
<main id="inbox">
  <section class="list" aria-label="Captured mail">
    ${search("search", "Search recipient or subject")}
    <ol id="mails" class="rows"></ol>
    <button type="button" id="more" hidden>Show older</button>
    <footer class="quiet"><span id="count"></span>${KEYS}</footer>
  </section>
  <article class="one" aria-label="Mail">
    <div id="empty" class="empty"></div>
    <div id="open" class="open" hidden>
      <button type="button" id="back" class="back">← Inbox</button>
      <h1 id="subject"></h1>
      <dl id="facts"></dl>
      ${tabs("panel", { html: "HTML", text: "Text", source: "Source", headers: "Headers", attachments: "Attachments" })}
    </div>
  </article>
</main>
<main id="webhooks" hidden>
  <section class="list" aria-label="Events sent to webhooks">
    ${search("event-search", "Search type, agent, state or id")}
    <ol id="events" class="rows"></ol>
    <footer class="quiet"><span id="event-count"></span>${KEYS}</footer>
  </section>
  <article class="one" aria-label="Event">
    <div id="no-event" class="empty"></div>
    <div id="event" class="open" hidden>
      <button type="button" id="event-back" class="back">← Webhooks</button>
      <h1 id="event-type"></h1>
      <dl id="event-facts"></dl>
      <p id="event-advice" class="advice" hidden></p>
      ${tabs("event-panel", { body: "Body", attempts: "Attempts", answer: "Answer" })}
    </div>
  </article>
</main>
<div id="notice" role="status"></div>
<dialog id="ask"><p id="question"></p><div class="buttons"><button type="button" id="no">Cancel</button><button type="button" id="yes" class="danger"></button></div></dialog>
<noscript>This page needs JavaScript. The same as JSON: /__dev/inbox and /dashboard/events</noscript>
<script>${script()}</script>
<!-- mailsvc ${version} -->
</body>
</html>
`;
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
