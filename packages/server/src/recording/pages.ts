import { hash } from "node:crypto";
import { buildMailPolicy, renderMailHtml } from "../dashboard/dashboard.ts";
import { escapeHtml } from "../html/escape.ts";
import type { DevPage } from "../http/public/dev-pages.ts";
import { type MailParser, readCapturedMail } from "../inbound/inbound.ts";
import { notFound } from "../lib/api-error.ts";
import type { Line, LineOf } from "./lines.ts";
import { linesOf, type Recording } from "./read.ts";

/** The style sheet of the page. */
export const STYLE = `
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #fff; --ink: #1a1d23; --soft: #5a626f; --line: #e2e5ea; --accent: #3457d5; --bad: #b3261e; --good: #1f7a4d; }
@media (prefers-color-scheme: dark) { :root { --bg: #14161a; --card: #1b1e24; --ink: #e7e9ee; --soft: #98a0ae; --line: #2c313a; --accent: #8ea6ff; --bad: #ff8a80; --good: #6fd3a0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1100px; padding: 20px; background: var(--bg); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 16px; margin: 28px 0 8px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 10px 0; }
a { color: var(--accent); }
code, pre, time { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12.5px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--bg); border: 1px solid var(--line); border-radius: 6px; padding: 8px; margin: 6px 0; max-height: 420px; overflow: auto; }
details, .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: 6px 0; padding: 6px 12px; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.quiet { color: var(--soft); } .bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); }
table { border-collapse: collapse; width: 100%; } td { padding: 3px 8px 3px 0; vertical-align: top; overflow-wrap: anywhere; } td:first-child { white-space: nowrap; }
iframe { width: 100%; height: 420px; border: 1px solid var(--line); border-radius: 6px; background: #fff; }
`;

/** The page of a recording: everything of it in words, as HTML without scripts. All texts of the recording are escaped. */
export function renderRecording(recording: Recording): string {
  const sections = [problems, mails, emails, deliveries, requests, smtp, control, events, coverage, log]
    .map((section) => section(recording))
    .filter(({ count }) => count > 0);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Recording · mailsvc</title>
<style>${STYLE}</style>
</head>
<body>
${renderHead(recording)}
<nav aria-label="Sections">${sections.map(({ id, title, count }) => `<a href="#${id}">${title} <span class="quiet">${count}</span></a>`).join("")}</nav>
<main>
${sections.map(({ id, title, body }) => `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${body}</section>`).join("\n")}
</main>
</body>
</html>
`;
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly count: number;
  readonly body: string;
}

function renderHead(recording: Recording): string {
  const [head] = linesOf(recording, "recording");
  const [end] = linesOf(recording, "end");
  const command = head === undefined || head.command.length === 0 ? "mailsvc dev" : head.command.join(" ");
  const result =
    end === undefined
      ? '<span class="bad">The recording ends early.</span>'
      : end.exitCode === 0
        ? `<span class="good">Exit code 0</span> after ${seconds(end.ms)}`
        : `<span class="bad">Exit code ${end.exitCode}</span> after ${seconds(end.ms)}`;
  const omitted = Object.entries(end?.omitted ?? {}).map(([kind, n]) => `${n} × ${escapeHtml(kind)}`);
  return `<header><h1><code>${escapeHtml(command)}</code></h1>
<p>${result}, begun ${time(head?.startedAt ?? "")}, mailsvc ${escapeHtml(head?.mailsvc ?? "?")} on Node ${escapeHtml(head?.node ?? "?")}, ${escapeHtml(head?.platform ?? "?")}. Secrets were removed; nothing here can be changed.</p>
${omitted.length > 0 ? `<p class="bad">Left out for their size: ${omitted.join(", ")}.</p>` : ""}${recording.damaged > 0 ? `<p class="bad">${recording.damaged} lines could not be read and are left out.</p>` : ""}</header>`;
}

function problems(recording: Recording): Section {
  const found = linesOf(recording, "explanation");
  const body = found.map(
    ({
      id,
      title,
      status,
      summary,
      timeline,
      next,
      actions,
    }) => `<details${found.length <= 3 ? " open" : ""}><summary><span class="bad">${escapeHtml(status)}</span> ${escapeHtml(title)}</summary>
<p>${escapeHtml(summary)}</p>${rows(timeline.map(({ at, what, why }) => [time(at), `${escapeHtml(what)}${why === null ? "" : `<br><span class="quiet">${escapeHtml(why)}</span>`}`]))}
${next === null ? "" : `<p>Next: ${escapeHtml(next.what)} ${next.at === null ? "" : time(next.at)}</p>`}${actions.length === 0 ? "" : `<ul>${actions.map(({ what, command }) => `<li>${escapeHtml(what)}${command === null ? "" : `: <code>${escapeHtml(command)}</code>`}</li>`).join("")}</ul>`}<p class="quiet">${escapeHtml(id)}</p></details>`,
  );
  return { id: "problems", title: "Did not arrive", count: found.length, body: body.join("") };
}

function mails(recording: Recording): Section {
  const found = linesOf(recording, "mail");
  const body = found.map(
    ({ to, from, subject, receivedAt, size, raw }, i) =>
      `<details><summary>${time(receivedAt)} <strong>${escapeHtml(to)}</strong> ${escapeHtml(subject || "(no subject)")} <span class="quiet">from ${escapeHtml(from)}, ${size} bytes</span></summary>
<p><a href="/mail/${i}">HTML</a> · <a href="/mail/${i}/source">Source</a></p>${pre(raw.slice(0, 20_000))}</details>`,
  );
  return { id: "mails", title: "Captured mail", count: found.length, body: body.join("") };
}

function emails(recording: Recording): Section {
  const found = linesOf(recording, "email");
  const body = found.map(
    ({ id, to, subject, status, attempts, lastError, events: own }) =>
      `<details><summary><span class="${status === "delivered" || status === "sent" ? "good" : "bad"}">${escapeHtml(status)}</span> <strong>${escapeHtml(to)}</strong> ${escapeHtml(subject)} <span class="quiet">${attempts} attempts</span></summary>
${lastError === null ? "" : pre(lastError.message)}${rows(own.map(({ type, at, data }) => [time(at), `${escapeHtml(type)} ${data ? `<code>${json(data)}</code>` : ""}`]))}<p class="quiet">${escapeHtml(id)}</p></details>`,
  );
  return { id: "emails", title: "Emails", count: found.length, body: body.join("") };
}

function deliveries(recording: Recording): Section {
  const found = linesOf(recording, "delivery");
  const body = found.map(
    ({ id, type, state, receiver, body: sent, log: attempts }) =>
      `<details><summary><span class="${state === "delivered" ? "good" : "bad"}">${escapeHtml(state)}</span> <strong>${escapeHtml(type)}</strong> to ${escapeHtml(receiver)} <span class="quiet">${attempts.length} attempts</span></summary>
${rows(attempts.map(({ attempt, at, ms, class: kind, httpStatus, message, hint, answer }) => [`${attempt}. ${time(at)}`, `${escapeHtml(kind)} ${httpStatus ?? ""} in ${ms} ms<br>${escapeHtml(message ?? "")} <span class="quiet">${escapeHtml(hint)}</span>${answer === null ? "" : pre(answer)}`]))}${sent === null ? "" : pre(sent)}<p class="quiet">${escapeHtml(id)}</p></details>`,
  );
  return { id: "deliveries", title: "Webhooks", count: found.length, body: body.join("") };
}

function requests(recording: Recording): Section {
  const found = linesOf(recording, "request");
  const body = found.map(({ at, clock, ms, method, path, status, headers, body: sent, answerHeaders, answer }) => {
    const fault = answerHeaders["x-mailsvc-fault"];
    const bad = status === null || status >= 400;
    return `<details><summary>${time(at)} <strong>${escapeHtml(method)} ${escapeHtml(path)}</strong> <span class="${bad ? "bad" : "good"}">${status ?? "no answer"}</span> <span class="quiet">${ms} ms</span>${fault === undefined ? "" : ` <span class="bad">fault ${escapeHtml(fault)}</span>`}</summary>
<p class="quiet">Time of the server: ${time(clock)}</p>${pre(formatHeaders(headers))}${sent.size > 0 ? pre(formatBody(sent)) : ""}${pre(formatHeaders(answerHeaders))}${answer.size > 0 ? pre(formatBody(answer)) : ""}</details>`;
  });
  return { id: "requests", title: "Requests", count: found.length, body: body.join("") };
}

/** Messages that came over SMTP, and what was refused before one came. */
function smtp(recording: Recording): Section {
  const found = linesOf(recording, "smtp");
  const lines = found.map(({ at, from, to, size, reply }): [string, string] => [
    time(at),
    `<span class="${/^2/.test(reply) ? "good" : "bad"}">${escapeHtml(reply)}</span><br><span class="quiet">from ${escapeHtml(from || "nobody")} to ${escapeHtml(to.join(", ") || "nobody")}${size === null ? "" : `, ${size} bytes`}</span>`,
  ]);
  return { id: "smtp", title: "SMTP", count: found.length, body: `<div class="card">${rows(lines)}</div>` };
}

/** Moves of the clock, fault rules and resets, in their order. */
function control({ lines }: Recording): Section {
  const found = lines
    .filter((line): line is LineOf<"clock" | "fault" | "reset"> => line.kind === "clock" || line.kind === "fault" || line.kind === "reset")
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  return {
    id: "control",
    title: "Clock, faults, resets",
    count: found.length,
    body: `<div class="card">${rows(found.map((line) => [time(line.at), describeControl(line)]))}</div>`,
  };
}

function describeControl(line: LineOf<"clock" | "fault" | "reset">): string {
  if (line.kind === "reset") return line.what === "reset" ? "Everything was erased." : "A snapshot was restored.";
  if (line.kind === "fault") return `Fault rules ${escapeHtml(line.action)}: <code>${escapeHtml(line.rule)}</code>`;
  const fired = line.fired.map(({ name }) => name).join(", ");
  return `Clock ${escapeHtml(line.action)}: ${escapeHtml(line.mode)} at ${time(line.now)}${fired === "" ? "" : `, ran ${escapeHtml(fired)}`}`;
}

function events(recording: Recording): Section {
  const found = linesOf(recording, "event");
  const body = `<div class="card">${rows(found.map(({ at, type, data }) => [time(at), `${escapeHtml(type)} ${data ? `<code>${json(data)}</code>` : ""}`]))}</div>`;
  return { id: "events", title: "Events", count: found.length, body };
}

function coverage(recording: Recording): Section {
  const [found] = linesOf(recording, "coverage");
  if (!found) return { id: "coverage", title: "Coverage", count: 0, body: "" };
  const { kind: _kind, ...lists } = found;
  const body = rows(
    Object.entries(lists).map(([name, { reached, never }]) => [
      escapeHtml(name),
      `${reached.length} of ${reached.length + never.length}<br><span class="good">${escapeHtml(reached.join(", "))}</span><br><span class="quiet">never: ${escapeHtml(never.join(", "))}</span>`,
    ]),
  );
  return { id: "coverage", title: "Coverage", count: Object.keys(lists).length, body: `<div class="card">${body}</div>` };
}

function log(recording: Recording): Section {
  const found = linesOf(recording, "log");
  const lines = found.map(
    ({ at, level, message, facts }: Extract<Line, { kind: "log" }>) => `${at} ${level} ${message} ${JSON.stringify(facts)}`,
  );
  return { id: "log", title: "Log", count: found.length, body: pre(lines.join("\n")) };
}

function rows(cells: readonly (readonly [string, string])[]): string {
  return `<table><tbody>${cells.map(([a, b]) => `<tr><td>${a}</td><td>${b}</td></tr>`).join("")}</tbody></table>`;
}

function time(at: string): string {
  return `<time>${escapeHtml(at)}</time>`;
}

function json(value: unknown): string {
  return escapeHtml(JSON.stringify(value));
}

function pre(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}

function formatHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

function formatBody({ text, size }: { text: string; size: number }): string {
  return text.length < size ? `${text}\n… (${size} bytes)` : text;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

// No scripts, nothing from elsewhere, and no page may frame it.
const POLICY = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The pages of a recording: all of it at `/`, and each mail as HTML or source. */
export function recordingPages(recording: Recording, parser: MailParser): readonly DevPage[] {
  const mails = linesOf(recording, "mail");
  const find = (position = ""): string => {
    const mail = /^\d{1,6}$/.test(position) ? mails[Number(position)] : undefined;
    if (!mail) throw notFound("mail", position);
    return mail.raw;
  };
  const html = renderRecording(recording);
  return [
    { path: "/", serve: async () => ({ type: "text/html; charset=utf-8", body: html, headers: [["content-security-policy", POLICY]] }) },
    {
      path: "/mail/:position",
      serve: async ({ position }) => {
        const { html: shown, files } = await readCapturedMail(parser, Buffer.from(find(position), "latin1"));
        return {
          type: "text/html; charset=utf-8",
          body: renderMailHtml({ html: shown, attachments: files }),
          headers: [["content-security-policy", buildMailPolicy(false)]],
        };
      },
    },
    {
      path: "/mail/:position/source",
      serve: async ({ position }) => ({
        type: "text/plain; charset=utf-8",
        body: Buffer.from(find(position), "latin1"),
        headers: [["content-security-policy", "sandbox; default-src 'none'"]],
      }),
    },
  ];
}
