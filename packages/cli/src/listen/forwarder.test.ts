import { expect, test } from "vitest";
import { type ForwardedEvent, Forwarder, MAX_UNANSWERED } from "./forwarder.ts";

const ABSENT = "http://127.0.0.1:1/absent";
const PRESENT = "http://127.0.0.1:2/present";

const broken = (code: string): Error => Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("no"), { code }) });

const event = (n: number, type: string): ForwardedEvent => ({
  id: `evt_${n}`,
  type,
  at: "2030-01-01T00:00:00.000Z",
  sequence: n,
  position: n,
  subject: "em_1",
  body: "{}",
});

test("a URL where nothing listens holds up neither another one nor the place that is stored for events that are done", async () => {
  const ended = new AbortController();
  const arrived: string[] = [];
  let listens = false;
  let wake = (): void => {};
  const fetch = async (url: string | URL | Request, { headers }: RequestInit = {}) => {
    if (String(url) === ABSENT && !listens) throw broken("ECONNREFUSED");
    arrived.push(new Headers(headers).get("webhook-id") ?? "");
    return new Response(null, { status: 200 });
  };
  const sleepers: (() => void)[] = [];
  const forwarder = new Forwarder({
    secret: "whsec_c2VjcmV0",
    fetch: fetch as typeof globalThis.fetch,
    listens: async () => true,
    now: () => 0,
    signal: ended.signal,
    sleep: () => new Promise((done) => sleepers.push(done)),
    findUrl: (type) => (type === "none" ? null : type === "absent" ? ABSENT : PRESENT),
    report: async ({ event: { id } }) => {
      if (id === "evt_40") wake();
    },
    waits: () => {},
    repeats: () => {},
  });
  const last = new Promise<void>((done) => (wake = done));
  // One subject for these events, so that each URL must get them in order.
  for (let n = 1; n <= 40; n += 1) await forwarder.add(event(n, n === 1 ? "present" : n <= 30 ? "absent" : n === 31 ? "none" : "present"));
  for (let n = 41; n <= 80; n += 1) await forwarder.add({ ...event(n, "absent"), subject: `em_${n}` });
  await last;
  expect(arrived).toEqual(["evt_1", ...Array.from({ length: 9 }, (_, i) => `evt_${32 + i}`)]);
  expect(forwarder.position).toBe(1);
  listens = true;
  const settled = forwarder.settle();
  const timer = setInterval(() => sleepers.splice(0).forEach((done) => void done()), 1);
  await settled;
  clearInterval(timer);
  expect(forwarder.position).toBe(80);
  expect(arrived.filter((id) => Number(id.slice(4)) > 1 && Number(id.slice(4)) <= 30)).toEqual(
    Array.from({ length: 29 }, (_, i) => `evt_${i + 2}`),
  );
});

test("an event that a webhook takes and does not answer is sent again, in order, and the fifth time given up", async () => {
  const arrived: string[] = [];
  const repeated: string[] = [];
  const reported: string[] = [];
  // It restarts with the first request in hand, is away once, hangs once, and answers; it never answers the second event.
  const failures = [broken("UND_ERR_SOCKET"), broken("ECONNREFUSED"), new DOMException("late", "TimeoutError")];
  const fetch = async (_url: unknown, { headers }: RequestInit = {}) => {
    const sent = new Headers(headers);
    arrived.push(`${sent.get("webhook-id")} ${sent.get("x-service-attempt")}`);
    const failure = sent.get("webhook-id") === "evt_2" ? broken("ECONNRESET") : failures.shift();
    if (failure !== undefined) throw failure;
    return new Response(null, { status: 200 });
  };
  const forwarder = new Forwarder({
    secret: "whsec_c2VjcmV0",
    fetch: fetch as typeof globalThis.fetch,
    listens: async () => true,
    now: () => 0,
    signal: new AbortController().signal,
    sleep: async () => {},
    findUrl: () => PRESENT,
    report: async ({ event: { id }, attempt, status }) => void reported.push(`${id} ${attempt} ${status}`),
    waits: () => {},
    repeats: ({ event: { id }, attempt, error }) => void repeated.push(`${id} ${attempt} ${error}`),
  });
  for (let n = 1; n <= 3; n += 1) await forwarder.add(event(n, "present"));
  await forwarder.settle();
  expect(arrived).toEqual([
    ...["evt_1 1", "evt_1 2", "evt_1 2", "evt_1 3"],
    ...["evt_2 1", "evt_2 2", "evt_2 3", "evt_2 4", "evt_2 5"],
    "evt_3 1",
  ]);
  expect(repeated.slice(0, 2)).toEqual(["evt_1 1 the connection broke off (UND_ERR_SOCKET)", "evt_1 2 no answer within 8 s"]);
  expect(reported).toEqual(["evt_1 3 200", "evt_2 5 null", "evt_3 1 200"]);
  expect(forwarder.position).toBe(3);
});

test("an event is sent again while packets are dropped, and fails at once where no request can succeed", async () => {
  let isUp = false;
  const waited: string[] = [];
  const reported: string[] = [];
  const fetch = async (url: unknown) => {
    if (url !== ABSENT) throw broken("DEPTH_ZERO_SELF_SIGNED_CERT");
    if (!isUp) throw new DOMException("late", "TimeoutError");
    return new Response(null, { status: 200 });
  };
  const forwarder = new Forwarder({
    secret: "whsec_c2VjcmV0",
    fetch: fetch as typeof globalThis.fetch,
    listens: async () => isUp,
    now: () => 0,
    signal: new AbortController().signal,
    sleep: async () => {},
    findUrl: (type) => (type === "absent" ? ABSENT : PRESENT),
    report: async ({ event: { id }, attempt, status }) => void reported.push(`${id} ${attempt} ${status}`),
    waits: (url) => {
      waited.push(url);
      // Longer than an event is repeated that is taken and not answered.
      isUp = waited.length > 2 * MAX_UNANSWERED;
    },
    repeats: ({ event: { id } }) => expect.fail(`${id} is sent again`),
  });
  await forwarder.add(event(1, "present"));
  await forwarder.settle();
  await forwarder.add(event(2, "absent"));
  await forwarder.settle();
  expect(reported).toEqual(["evt_1 1 null", "evt_2 1 200"]);
  expect(new Set(waited)).toEqual(new Set([ABSENT]));
  expect(forwarder.position).toBe(2);
});
