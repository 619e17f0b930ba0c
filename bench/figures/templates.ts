import Handlebars from "handlebars";
import { compileSet, render } from "../../packages/server/src/templates/engine/engine.ts";
import { loadParser } from "../../packages/server/src/templates/engine/parser.ts";
import { call, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { BODY, load, sends } from "../load/load.ts";

const ROUNDS = 9;
const ROUND_MS = 300;
const SIZE = 20 * 1024;

const filler = "Grüße aus der Werkstatt, wo die Maschine rechnet. ";

const VALUES = {
  name: "Ada <Lovelace>",
  vip: true,
  ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`title${i}`, `Gear & wheel "${i}"`])),
  lines: Array.from({ length: 10 }, (_, i) => ({ title: `Line ${i}`, price: i * 1.5 })),
};

const SEND_ROUNDS = 3;

/** Rendering of templates, against Handlebars. */
export const templates: Bench = {
  name: "templates",
  meaning:
    "A template of 20 KB with 150 values, a condition and a loop, rendered in this process, its budgets and its list of missing variables kept. " +
    "handlebars: the same source compiled once by Handlebars. with-text: subject, HTML, and the plain text made from it, as a send does. " +
    "send: sends by a template of 1 KB at 100 connections, each durable, against direct sends of the same mails. Ratios are medians of those within each round, the two in turns.",
  run: async () => {
    const html = page();
    const parse = await loadParser();
    const bundle = { slug: "x", subject: "Hello {{ name }}", html, variables: [], isLayout: false, layout: null, partials: new Map() };
    const ours = compileSet(parse, { ...bundle, text: "-" });
    const whole = compileSet(parse, { ...bundle, text: null });
    const theirs = Handlebars.compile(html);
    if (render(ours, VALUES).html !== theirs(VALUES)) throw new Error("The two do not render the same.");
    // A text grown by appending is in pieces until it is read; reading its bytes is part of sending it.
    const measure = [
      () => Buffer.byteLength(theirs(VALUES)),
      () => Buffer.byteLength(render(ours, VALUES).html ?? ""),
      () => Buffer.byteLength(render(whole, VALUES).text ?? ""),
    ] as const;
    const rounds = Array.from({ length: ROUNDS + 1 }, () => measure.map(rate)).slice(1) as [number, number, number][];
    const figure = (name: string, at: 1 | 2, more: Partial<Figure> = {}): Figure => ({
      name,
      value: median(rounds.map((round) => round[at])),
      unit: "renders/s",
      against: "handlebars",
      ratio: median(rounds.map((round) => round[at] / round[0])),
      rounds: rounds.map((round) => round[at]),
      ...more,
    });
    return [figure("templates.render", 1, { goal: { op: ">=", than: 0.9 } }), figure("templates.with-text", 2), await sendFigure()];
  },
};

/** A mail of 20 KB: 150 values between tags and in attributes, a condition, and a loop over ten lines of two values. */
function page(): string {
  const rows = Array.from({ length: 75 }, (_, i) => `<tr><td style="padding: 4px" title="{{ title${i % 5} }}">{{ name }}</td></tr>`).join(
    "\n",
  );
  const list = "{{#each lines}}<li>{{ title }}: {{ price }}</li>{{/each}}{{#if vip}}<b>{{ name }}</b>{{else}}-{{/if}}";
  const rest = Math.max(0, SIZE - rows.length - list.length - 60);
  const text = filler.repeat(Math.ceil(rest / filler.length)).slice(0, rest);
  return `<html><body><table>${rows}</table><ul>${list}</ul><p>${text}</p></body></html>`;
}

/** Runs `work` repeatedly and returns how often per second. Its results are kept, so that the engine cannot drop the work. */
function rate(work: () => number): number {
  const from = performance.now();
  let done = 0;
  let kept = 0;
  for (let now = from; now - from < ROUND_MS; now = performance.now()) {
    for (let i = 0; i < 50; i += 1) kept += work();
    done += 50;
  }
  if (kept === 0) throw new Error("Nothing was rendered.");
  return (done * 1000) / (performance.now() - from);
}

/** The sends of `sends`, by a template that comes to the same mails. */
function byTemplate(apiKey: string): string[] {
  return Array.from({ length: 97 }, (_, i) => {
    const body = JSON.stringify({
      to: `reader${i}@mail.acme.dev`,
      tags: { kind: "receipt", batch: `${i % 7}` },
      variables: { what: "a little" },
    });
    return (
      `POST /api/v1/send/receipt HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${apiKey}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    );
  });
}

/** Template sends a second, with the direct sends of the same mails at the same time on the same server. */
async function sendFigure(): Promise<Figure> {
  const server = await mailsvc();
  try {
    const { subject, from, html, text } = BODY;
    const source = (written: string): string => written.replaceAll("a little", "{{ what }}");
    await call(server, "POST", "/api/v1/templates", {
      name: "Receipt",
      subject,
      from,
      html: source(html),
      text: source(text),
      publish: true,
    });
    const order = { port: server.port, connections: 100, warmupMs: 1000, durationMs: 3000, timeoutMs: 5000 };
    const rounds: [number, number][] = [];
    for (let i = 0; i < SEND_ROUNDS; i += 1) {
      const direct = await load({ ...order, requests: sends(server.apiKey) });
      const templated = await load({ ...order, requests: byTemplate(server.apiKey) });
      rounds.push([templated.perSecond, direct.perSecond]);
    }
    return {
      name: "templates.send",
      value: median(rounds.map(([ours]) => ours)),
      unit: "sends/s",
      against: "direct send",
      ratio: median(rounds.map(([ours, direct]) => ours / direct)),
      rounds: rounds.map(([ours]) => ours),
    };
  } finally {
    await server.stop();
  }
}
