import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { dropDatabases } from "../packages/server/test/postgres.ts";
import { type Api, call, until } from "./support/api.ts";
import { type ServerProcess, startServer } from "./support/server.ts";
import { type TestDatabase, testDatabases } from "./support/test-database.ts";

/* A workspace is deleted while a second server writes into it, and the servers are killed in turn while its rows go. */

const CONTACTS = 4000;
const OTHERS = 500;
/** The parts of its contacts that are left when a server is killed. */
const KILLS = [0.9, 0.6, 0.3];
const SERVERS = 2;

afterAll(dropDatabases);

async function fill(api: Api, contacts: number): Promise<void> {
  const list = await call<{ id: string }>(api, "POST", "/api/v1/lists", { name: "Readers" });
  for (let from = 0; from < contacts; from += 500) {
    const rows = Array.from({ length: 500 }, (_, i) => ({ email: `r${from + i}@reader.test`, tags: ["vip"], firstName: "Ada" }));
    await call(api, "POST", "/api/v1/contacts/import", { rows, list: list.id });
  }
  const steps = [{ id: "wait", type: "delay", for: "300d" }];
  const trigger = { type: "event", name: "cart" };
  const automation = { name: "Carts", trigger, steps, connections: [{ from: "trigger", to: "wait" }] };
  const { id } = await call<{ id: string }>(api, "POST", "/api/v1/automations", automation);
  await call(api, "POST", `/api/v1/automations/${id}/activate`);
  for (let i = 0; i < 20; i += 1) await call(api, "POST", "/api/v1/track", { contact: `r${i}@reader.test`, name: "cart" });
}

/** The number of rows of each table that name a text. */
async function countNaming({ query }: TestDatabase, text: string): Promise<Record<string, number>> {
  const tables = await query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname = 'public'`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await query<{ n: number }>(`select count(*)::int as n from ${name} t where t::text like '%${text}%'`);
    if (row && row.n > 0) counts[name] = row.n;
  }
  return counts;
}

/** The rows of tables that name a workspace, once its events are numbered and its counters are folded; without its jobs. */
async function settledRows(database: TestDatabase, id: string): Promise<Record<string, number>> {
  const look = async (): Promise<Record<string, number>> =>
    Object.fromEntries(Object.entries(await countNaming(database, id)).filter(([name]) => name !== "public.jobs"));
  let [last, steady] = [await look(), 0];
  await until(
    300,
    async () => {
      const now = await look();
      steady = JSON.stringify(now) === JSON.stringify(last) ? steady + 1 : 0;
      last = now;
      return steady === 20;
    },
    async () => JSON.stringify(last),
  );
  return last;
}

test("a deletion that is killed again and again ends, leaves nothing of the workspace, and takes nothing of another", {
  timeout: 600_000,
}, async () => {
  const database = await testDatabases.postgres();
  const servers: { process: ServerProcess; url: string }[] = [];
  let started = 0;
  const start = async (): Promise<{ process: ServerProcess; url: string }> => {
    const process = startServer({
      data: join(database.folder, `data-${started++}`),
      flags: [...database.flags],
    });
    const ready = await process.ready();
    if (!ready) throw new Error(`The server did not start: ${process.stderr()}`);
    return { process, url: ready.url };
  };
  let writing = true;
  try {
    for (let i = 0; i < SERVERS; i += 1) servers.push(await start());
    const { operatorKey } = JSON.parse(readFileSync(join(database.folder, "data-0", "first-keys.json"), "utf8")) as { operatorKey: string };
    const at = (place: number, apiKey: string): Api => ({ url: servers[place]?.url ?? "", apiKey });
    const make = (name: string) => call<{ id: string; apiKey: string }>(at(0, operatorKey), "POST", "/api/v1/workspaces", { name });
    const [gone, other] = [await make("Gone"), await make("Other")];
    await fill(at(0, gone.apiKey), CONTACTS);
    await fill(at(1, other.apiKey), OTHERS);
    const jobsOf = async (id: string): Promise<number> =>
      (await database.query<{ n: number }>(`select count(*)::int as n from jobs where payload::text like '%${id}%'`))[0]?.n ?? 0;
    const before = await settledRows(database, other.id);
    const contactsOf = async (id: string): Promise<number> =>
      (await database.query<{ n: number }>(`select count(*)::int as n from contacts where workspace_id = '${id}'`))[0]?.n ?? 0;

    // Somebody goes on writing at the other server, until the key is refused there too.
    const writer = (async () => {
      for (let i = 0; writing; i += 1) {
        const answer = await fetch(`${servers[1]?.url}/api/v1/contacts`, {
          method: "POST",
          headers: { authorization: `Bearer ${gone.apiKey}`, "content-type": "application/json" },
          body: JSON.stringify({ email: `late${i}@reader.test` }),
        }).catch(() => null);
        if (answer?.status === 401) return i;
      }
      return -1;
    })();
    await call(at(0, operatorKey), "DELETE", `/api/v1/workspaces/${gone.id}`);
    expect(await writer).toBeGreaterThan(0);

    for (const [i, left] of KILLS.entries()) {
      await until(
        300,
        async () => (await contactsOf(gone.id)) <= CONTACTS * left,
        async () => `${await contactsOf(gone.id)} contacts are left`,
      );
      const place = i % SERVERS;
      await servers[place]?.process.kill("SIGKILL");
      servers[place] = await start();
    }
    // A pass follows after a minute, until one finds nothing; here each is due at once.
    const ended = async (): Promise<boolean> => {
      await database.query(
        `update jobs set run_at = ${Date.now()} where run_at > ${Date.now()} and state = 'ready' and payload::text like '%"deleted"%'`,
      );
      return (await jobsOf(gone.id)) === 0;
    };
    await until(300, ended, async () => JSON.stringify(await countNaming(database, gone.id)));
    // The operator's own log goes on saying that there was one, and who deleted it.
    expect(await countNaming(database, gone.id)).toEqual({ "public.audit_entries": 2 });
    const kept = await database.query<{ action: string }>("select action from audit_entries where workspace_id is null order by id");
    expect(kept.map(({ action }) => action)).toEqual(["workspaces.create", "workspaces.create", "workspaces.delete"]);
    expect(await settledRows(database, other.id)).toEqual(before);
    expect(await contactsOf(other.id)).toBe(OTHERS);
    for (const place of servers.keys()) {
      expect(
        (await call<{ pagination: { total: number } }>(at(place, other.apiKey), "GET", "/api/v1/contacts?limit=1")).pagination.total,
      ).toBe(OTHERS);
      await expect(call(at(place, gone.apiKey), "GET", "/api/v1/me")).rejects.toThrow("401");
    }
  } finally {
    writing = false;
    await Promise.all(servers.map(({ process }) => process.kill("SIGKILL")));
    await database.clear();
  }
});
