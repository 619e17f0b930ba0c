import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContactImportSummary, SignUpForm } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { seededRandom } from "../packages/server/src/lib/random.ts";
import { type Api, all, call, total, until } from "./support/api.ts";
import { KILLED_STORES } from "./support/killed-store.ts";
import { chooseSeed, countKills, recordKills } from "./support/kills.ts";
import { type ServerProcess, startServer } from "./support/server.ts";

/** Kills on each database. */
const ROUNDS = countKills(3);
/** Programs that import and undo, and visitors that sign up, at the same time. */
const IMPORTERS = 3;
const VISITORS = 6;
const ROWS = 20;
const BATCHES = 3;
const OPEN = ["queued", "sending", "deferred"];
/** Contacts that are there before, and that some imports change. */
const EARLIER = 40;
// From the first answers until a kill at most.
const KILL_WITHIN_MS = 600;

/** An import, as its program knows it. */
interface Imported {
  readonly id: string;
  /** Addresses of the batches that were answered. */
  readonly rows: string[];
  /** Addresses of the batch whose answer was lost. */
  lost: readonly string[];
  /** The answer to its undoing: none was asked for, it was lost, or it came. */
  undo: "none" | "lost" | "done";
}

interface ContactRow {
  readonly id: string;
  readonly email: string;
  readonly firstName: string | null;
  readonly tags: readonly string[];
}

const earlier = Array.from({ length: EARLIER }, (_, i) => `earlier${i}@people.example`);

/** Clients that go on until the server dies, and what they were told. */
class Clients {
  readonly imports: Imported[] = [];
  /** Addresses of sign-ups that were answered, and of those whose answer was lost. */
  readonly signedUp = new Set<string>();
  readonly unanswered = new Set<string>();
  readonly refused: string[] = [];
  readonly #random: () => number;
  #number = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Returns the number of imports, of undone ones, and of sign-ups. */
  count(): [imports: number, undone: number, signedUp: number] {
    return [this.imports.length, this.imports.filter(({ undo }) => undo === "done").length, this.signedUp.size];
  }

  /** Runs all clients. Settles when the server has gone. */
  async run(api: Api, form: string): Promise<void> {
    const all = [
      ...Array.from({ length: IMPORTERS }, () => this.#until(api, () => this.#import(api))),
      ...Array.from({ length: VISITORS }, () => this.#until(api, () => this.#signUp(api, form))),
    ];
    await Promise.all(all);
  }

  async #until(api: Api, work: () => Promise<void>): Promise<void> {
    try {
      for (;;) await work();
    } catch (error) {
      // An answer is a fault; no answer is the kill.
      if (/: \d{3} /.test(String(error))) this.refused.push(`${api.url} ${error}`);
    }
  }

  async #import(api: Api): Promise<void> {
    const { id } = await call<ContactImportSummary>(api, "POST", "/api/v1/contacts/imports", { file: "people.csv" });
    const one: Imported = { id, rows: [], lost: [], undo: "none" };
    this.imports.push(one);
    for (let batch = 0; batch < BATCHES; batch += 1) {
      this.#number += 1;
      const own = Array.from({ length: ROWS }, (_, i) => `p${this.#number}-${i}@people.example`);
      const emails = [...own, ...earlier.filter(() => this.#random() < 0.1)];
      one.lost = emails;
      const rows = emails.map((email) => ({ email, firstName: `of ${id}` }));
      await call(api, "POST", "/api/v1/contacts/import", { rows, import: id });
      one.rows.push(...emails);
      one.lost = [];
    }
    if (this.#random() < 0.5) return;
    one.undo = "lost";
    await call(api, "POST", `/api/v1/contacts/imports/${id}/undo`);
    one.undo = "done";
  }

  async #signUp(api: Api, form: string): Promise<void> {
    this.#number += 1;
    const n = this.#number;
    const email = `visitor${n}@people.example`;
    this.unanswered.add(email);
    const response = await fetch(new URL(new URL(form).pathname, api.url), {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ email }),
      headers: { "x-forwarded-for": `10.${Math.floor(n / 65_536)}.${Math.floor(n / 256) % 256}.${n % 256}` },
    });
    await response.arrayBuffer();
    // A form takes fifty a second; who is refused is not promised anything.
    if (response.status === 429) await new Promise((next) => setTimeout(next, 50));
    else if (response.status >= 400) throw new Error(`A sign-up: ${response.status} `);
    else this.signedUp.add(email);
    this.unanswered.delete(email);
  }
}

test.each(KILLED_STORES)(
  "%s: imports, their undoing and sign-ups are whole after kills, and nobody is asked twice to confirm",
  { timeout: 120_000 + ROUNDS * 30_000 },
  async (engine, open) => {
    const seed = chooseSeed();
    const { fraction } = seededRandom(seed);
    const folder = mkdtempSync(join(tmpdir(), "mailsvc-audience-"));
    const data = join(folder, "data");
    const store = await open(data);
    let apiKey = "";
    let running: ServerProcess | undefined;
    const start = async (): Promise<Api> => {
      const limits = "send=1000000,write=1000000,read=1000000";
      running = startServer({ data, flags: ["--dev", "--trust-proxy", "127.0.0.1", "--rate-limit", limits, ...store.flags] });
      const ready = await running.ready();
      if (!ready) throw new Error(`The server did not start:\n${running.stderr()}`);
      apiKey = ready.apiKey ?? apiKey;
      return { url: ready.url, apiKey };
    };
    const clients = new Clients(fraction);
    try {
      let api = await start();
      const list = await call<{ id: string }>(api, "POST", "/api/v1/lists", { name: "Newsletter" });
      const form = await call<SignUpForm>(api, "POST", "/api/v1/forms", { name: "Newsletter", listId: list.id });
      await call(api, "POST", "/api/v1/contacts/import", { rows: earlier.map((email) => ({ email, firstName: "Earlier" })) });
      for (let round = 0; round < ROUNDS; round += 1) {
        const [begun, undone, signedUp] = clients.count();
        const working = clients.run(api, form.url);
        // An undoing is done each other round, so that kills come early and late.
        const isUnderWay = async () => {
          const now = clients.count();
          return now[0] > begun && now[2] > signedUp && (round % 2 === 0 || now[1] > undone);
        };
        await until(60, isUnderWay, async () => `imports, undone, sign-ups: ${clients.count()}`);
        await new Promise((next) => setTimeout(next, fraction() * KILL_WITHIN_MS));
        expect(await running?.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
        await working;
        api = await start();
      }
      expect(clients.refused).toEqual([]);
      const listImports = () => all<ContactImportSummary>(api, "/api/v1/contacts/imports");
      // An undoing that had begun goes on by itself.
      await until(
        60,
        async () => (await listImports()).every(({ state }) => state !== "UNDOING"),
        async () => JSON.stringify(await listImports()),
      );
      const states = new Map((await listImports()).map((one) => [one.id, one]));
      // A job writes the mail that asks to confirm.
      const listAsked = async () => Map.groupBy(await all<{ to: string }>(api, "/__dev/inbox"), ({ to }) => to);
      const countUnasked = () => [...clients.signedUp].filter((email) => !asked.has(email)).length;
      let asked = await listAsked();
      await until(
        60,
        async () => {
          asked = await listAsked();
          return countUnasked() === 0;
        },
        async () => `${countUnasked()} of ${clients.signedUp.size} were not asked`,
      );
      const countOpen = async () => (await Promise.all(OPEN.map((status) => total(api, `/api/v1/emails?status=${status}`)))).join();
      await until(60, async () => (await countOpen()) === "0,0,0", countOpen);
      asked = await listAsked();
      const contacts = new Map((await all<ContactRow>(api, "/api/v1/contacts")).map((row) => [row.email, row]));

      const missing: string[] = [];
      const isUndone = (one: Imported): boolean => states.get(one.id)?.state === "UNDONE";
      for (const one of clients.imports) {
        if (one.undo === "done" && !isUndone(one)) missing.push(`the undoing of ${one.id}`);
        if (one.undo === "none") expect(isUndone(one), one.id).toBe(false);
        const own = one.rows.filter((email) => !earlier.includes(email));
        for (const email of own) if (contacts.has(email) === isUndone(one)) missing.push(`${email} of ${one.id}, ${one.undo}`);
        // A batch is there as a whole or not at all.
        const lost = one.lost.filter((email) => !earlier.includes(email));
        expect([0, lost.length], one.id).toContain(lost.filter((email) => contacts.has(email)).length);
      }
      // A name that was there before, or that of an import that stayed.
      const stayed = new Set(clients.imports.filter((one) => !isUndone(one)).map(({ id }) => `of ${id}`));
      for (const email of earlier) {
        const { firstName } = contacts.get(email) as ContactRow;
        if (firstName !== "Earlier" && !stayed.has(firstName ?? "")) missing.push(`the name of ${email}: ${firstName}`);
      }

      const submissions = await all<{ contactId: string | null }>(api, `/api/v1/forms/${form.id}/submissions`);
      const entered = new Set(submissions.map(({ contactId }) => contactId));
      for (const email of clients.signedUp)
        if (!entered.has(contacts.get(email)?.id ?? "") || !asked.has(email)) missing.push(`the sign-up of ${email}`);
      const repeated = [...asked].filter(([, mails]) => mails.length > 1);
      recordKills({
        suite: "imports, their undoing and sign-ups",
        database: engine,
        seed,
        kills: ROUNDS,
        acknowledged: clients.signedUp.size + clients.imports.reduce((sum, { rows }) => sum + rows.length, 0),
        missing: missing.length,
        repeated: repeated.length,
        unlisted: repeated.length,
      });
      expect(missing).toEqual([]);
      expect(repeated).toEqual([]);
      for (const to of asked.keys()) expect(clients.signedUp.has(to) || clients.unanswered.has(to), to).toBe(true);
      expect(clients.signedUp.size).toBeGreaterThan(0);
      expect(clients.imports.some(isUndone)).toBe(true);
      expect(await store.inspect()).toEqual({ jobs: 0, sound: true });
    } finally {
      await running?.kill("SIGKILL");
      await store.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
