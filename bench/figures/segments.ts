import { Client } from "undici";
import { type Contender, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { PERSONS_PER_REQUEST, personAt } from "../load/persons.ts";

const SMALL = 10_000;
const LARGE = 1_000_000;
const REQUESTS = 20;
const ROUNDS = 3;

type Send = (method: "GET" | "POST", path: string, body?: unknown) => Promise<{ ms: number; answer: unknown }>;

const vip = { field: "tags", operator: "contains", value: "vip" };
// One in 4,250, and nothing an index could help with.
const rare = {
  all: [
    { field: "customFields.plan", operator: "equals", value: "pro" },
    { field: "customFields.seats", operator: "equals", value: 3 },
    { field: "firstName", operator: "startsWith", value: "Té" },
  ],
};

interface Place {
  list: string;
  segment: string;
}

/** The queries, and how much longer each may take with a hundred times as many contacts; null if it must read all of them. */
const QUESTIONS: readonly { name: string; than: number | null; ask(send: Send, place: Place): Promise<{ ms: number }> }[] = [
  { name: "members", than: 2, ask: (send, { segment }) => send("GET", `/api/v1/segments/${segment}/contacts`) },
  { name: "list", than: 2, ask: (send, { list }) => send("GET", `/api/v1/lists/${list}/contacts`) },
  { name: "counts", than: 2, ask: (send) => send("GET", "/api/v1/lists") },
  { name: "join", than: 2, ask: (send, { list }) => send("POST", `/api/v1/lists/${list}/contacts`, { contacts: [personAt(0).email] }) },
  {
    name: "preview.tag",
    than: null,
    ask: (send) =>
      send("POST", "/api/v1/segments/preview", { rules: { all: [vip, { field: "customFields.plan", operator: "equals", value: "pro" }] } }),
  },
  { name: "preview.all", than: null, ask: (send) => send("POST", "/api/v1/segments/preview", { rules: rare }) },
];

/** Lists and segments among a million contacts. */
export const segments: Bench = {
  name: "segments",
  meaning:
    "The time of one request among a million contacts, and how many times what it takes among 10,000: a page of a segment and of a list of half of them, all lists with their counts, joining a list. preview counts the " +
    "contacts that fulfil a rule: among those of a tag, and with a rule no index helps with, where all are looked at. build: contacts a second compared with the rules of a new segment, in the background.",
  run: async () => {
    const server = await mailsvc();
    const { send, close } = sending(server);
    try {
      const list = ((await send("POST", "/api/v1/lists", { name: "half" })).answer as { id: string }).id;
      await fill(send, list, 0, SMALL);
      const small = await times(send, { list, segment: (await build(send)).id });
      await fill(send, list, SMALL, LARGE);
      const built = await build(send);
      const large = await times(send, { list, segment: built.id });
      return [
        ...QUESTIONS.map(({ name, than }): Figure => {
          const rounds = large.get(name) ?? [];
          const ratio = median(rounds) / median(small.get(name) ?? []);
          return {
            name: `segments.${name}`,
            value: median(rounds),
            unit: "ms",
            against: "10,000 contacts",
            ratio,
            ...(than !== null && { goal: { op: "<=", than } }),
            rounds,
          };
        }),
        { name: "segments.build", value: (LARGE / built.ms) * 1000, unit: "contacts/s", against: null, ratio: null },
      ];
    } finally {
      await close();
      await server.stop();
    }
  },
};

function sending({ url, apiKey }: Contender): { send: Send; close(): Promise<void> } {
  const client = new Client(url, { bodyTimeout: 0, headersTimeout: 0 });
  return {
    send: async (method, path, body) => {
      const from = performance.now();
      const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
      const { statusCode, body: text } = await client.request({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = JSON.parse(await text.text());
      if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${JSON.stringify(answer).slice(0, 300)}`);
      return { ms: performance.now() - from, answer };
    },
    close: () => client.close(),
  };
}

async function times(send: Send, place: Place): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++)
    for (const { name, than, ask } of QUESTIONS) {
      const each: number[] = [];
      for (let k = 0; k < (than === null ? 2 : REQUESTS); k++) each.push((await ask(send, place)).ms);
      // The first round warms up.
      if (round > 0) found.set(name, [...(found.get(name) ?? []), median(each)]);
    }
  return found;
}

/** Imports people, half of them onto the list. */
async function fill(send: Send, list: string, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += PERSONS_PER_REQUEST) {
    const rows = Array.from({ length: Math.min(PERSONS_PER_REQUEST, to - at) }, (_, i) => personAt(at + i));
    await send("POST", "/api/v1/contacts/import", { rows });
    if ((at / PERSONS_PER_REQUEST) % 2 === 0) await send("POST", `/api/v1/lists/${list}/contacts`, { contacts: rows.map((r) => r.email) });
  }
}

async function build(send: Send): Promise<{ id: string; ms: number }> {
  const from = performance.now();
  const { answer } = await send("POST", "/api/v1/segments", { name: "vips", rules: vip });
  const { id } = answer as { id: string };
  for (;;) {
    const { answer: now } = await send("GET", `/api/v1/segments/${id}`);
    if ((now as { state: string }).state === "READY") return { id, ms: performance.now() - from };
    await new Promise((next) => setTimeout(next, 20));
  }
}
