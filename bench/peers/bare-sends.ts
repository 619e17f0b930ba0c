// Stores sends on Postgres with the bare driver, one transaction each, over some connections, and prints how many a second that
// were. Nothing is looked up and nothing is checked. BEGIN goes out with the first insert, and the other inserts with COMMIT.
//
//   node bare-sends.ts <postgres url> <connections> <seconds>
import pg from "pg";
import { openPostgres } from "../../packages/server/src/db/postgres/database.ts";
import { postgresSchema } from "../../packages/server/src/schema.pg.ts";
import { BODY } from "../load/load.ts";

const [url = "", connections = "16", seconds = "3"] = process.argv.slice(2);
const WORKSPACE = "ws_01kdvdna00bktj2mqmcfs0rmrb";
const AT = 1_790_000_000_000;
const WARMUP_MS = 1000;

const CONTENTS = `insert into contents (workspace_id, from_text, subject, html, text_body, headers, tags, attachments, bypass_unsubscribe)
  values ($1, $2, $3, $4, $5, '{}', '{"kind":"receipt"}', 0, false) returning id`;
const EMAIL = `insert into emails (workspace_id, id, contents_id, to_text, to_key, status, attempts, in_doubt, lane, faults, bytes,
  created_at, next_attempt_at, updated_at) values ($1, $2, $3, $4, $4, 'queued', 0, false, 1, 0, 0, $5, $5, $5)`;

await (await openPostgres(url, postgresSchema)).close();

let sent = 0;
let over = false;

async function client(n: number): Promise<void> {
  const c = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
  await c.connect();
  for (let i = 0; !over; i += 1) {
    const begun = c.query("begin");
    const contents = await c.query<{ id: string }>({
      name: "contents",
      text: CONTENTS,
      values: [WORKSPACE, BODY.from, BODY.subject, BODY.html, BODY.text],
    });
    const id = `em_01kdvdna00${n.toString(32).padStart(4, "0")}${i.toString(32).padStart(12, "0")}`;
    await Promise.all([
      begun,
      c.query({ name: "email", text: EMAIL, values: [WORKSPACE, id, contents.rows[0]?.id, `reader${i % 97}@mail.acme.dev`, AT] }),
      c.query("commit"),
    ]);
    sent += 1;
  }
  await c.end();
}

const clients = Array.from({ length: Number(connections) }, (_, n) => client(n));
await new Promise((next) => setTimeout(next, WARMUP_MS));
const before = sent;
const from = performance.now();
await new Promise((next) => setTimeout(next, Number(seconds) * 1000));
const rate = ((sent - before) * 1000) / (performance.now() - from);
over = true;
await Promise.all(clients);
process.stdout.write(`${rate}\n`);
