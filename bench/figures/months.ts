import { bigint, pgTable, text } from "drizzle-orm/pg-core";
import pg from "pg";
import { firstNumberOfMonth, type MonthlyTable, type MonthlyTables } from "../../packages/server/src/db/months.ts";
import { PostgresMonths } from "../../packages/server/src/db/postgres/months.ts";
import { firstIdAt, TEST_MAIL_FROM } from "../../packages/server/src/lib/ids.ts";
import { startOfMonth } from "../../packages/server/src/lib/month.ts";
import { insertManyRows } from "../../packages/server/test/many-rows.ts";
import { startPostgres } from "../../packages/server/test/postgres-server.ts";
import { call, mailsvc } from "../contenders.ts";
import { type Bench, type Figure, median } from "../figure.ts";
import { type Load, load, sends } from "../load/load.ts";

// As `retention-data.ts` has them, for which a benchmark would need all of the server's sources.
const MAIL: MonthlyTables = {
  tables: [toTable("emails", "id"), toTable("email_labels", "email_id"), toTable("engagements", "email_id")],
  firstKey: (ms) => firstIdAt("em", startOfMonth(ms)),
  apart: TEST_MAIL_FROM,
  counted: false,
};
const CONTENTS: MonthlyTables = {
  tables: [toCounted("contents", "id"), toCounted("attachments", "contents_id"), toCounted("attachment_parts", "contents_id")],
  firstKey: firstNumberOfMonth,
  apart: null,
  counted: true,
};
const EVENTS: MonthlyTables = { ...CONTENTS, tables: [toCounted("events", "sequence"), toCounted("event_numbers", "event_key")] };

const ROWS = 200_000;
const ROUNDS = 3;
const CONNECTIONS = 20;
const LOAD_MS = 5000;
const DROP_AFTER_MS = 1500;

interface Round {
  readonly alone: Load;
  readonly during: Load;
  readonly dropMs: number;
}

/** Sends while a month of mail and events is dropped. */
export const months: Bench = {
  name: "months",
  meaning:
    `Sends over ${CONNECTIONS} connections on Postgres with fsync on, while a month of ${ROWS.toLocaleString("en-US")} mails with their contents and events is dropped, against the same load without that. ` +
    "p99, longest: of the answers, in ms; errors: answers that were none or not 2xx; drop: what the drop took.",
  onlyByName: true,
  run: async () => {
    const rounds: Round[] = [];
    for (let i = 0; i < ROUNDS; i++) rounds.push(await measure());
    const compare = (name: string, of: (one: Load) => number): Figure => {
      const during = rounds.map((round) => of(round.during));
      const ratio = median(rounds.map((round) => of(round.during) / of(round.alone)));
      return { name: `months.${name}`, value: median(during), unit: "ms", against: "without a drop", ratio, rounds: during };
    };
    const plain = (name: string, unit: string, values: readonly number[]): Figure => ({
      name: `months.${name}`,
      value: median(values),
      unit,
      against: null,
      ratio: null,
      rounds: values,
    });
    return [
      compare("p99", ({ p99 }) => p99),
      compare("longest", ({ max }) => max),
      plain(
        "errors",
        "answers",
        rounds.map(({ during }) => during.refused + during.timeouts + during.broken),
      ),
      plain(
        "drop",
        "ms",
        rounds.map(({ dropMs }) => dropMs),
      ),
    ];
  },
};

async function measure(): Promise<Round> {
  const database = await startPostgres({ durable: true });
  const client = new pg.Client({ connectionString: database.url });
  try {
    const server = await mailsvc({ flags: ["--database-url", database.url] });
    await client.connect();
    try {
      const parts = new PostgresMonths(database.url, async (text, values) => (await client.query(text, values)).rows);
      const groups = [MAIL, CONTENTS, EVENTS];
      const now = Date.now();
      // The old month is what was made before this one; what the server makes meanwhile is of this one.
      const owners = { workspaceId: server.workspaceId, otherWorkspaceId: "ws_other", listingId: "lst_many", activationId: "act_many" };
      for (const statement of insertManyRows("postgres", owners, ROWS).slice(0, 9)) await client.query(statement);
      await client.query("vacuum analyze contents, emails, email_labels, events, event_numbers");
      for (const group of groups) await parts.prepare(group, startOfMonth(now, -1));
      for (const group of groups) await parts.advance(group, now);
      const run = (): Promise<Load> =>
        load({
          port: server.port,
          requests: sends(server.apiKey),
          connections: CONNECTIONS,
          warmupMs: 1000,
          durationMs: LOAD_MS,
          timeoutMs: 10_000,
        });
      await call(server, "GET", "/api/v1/emails");
      const alone = await run();
      const dropped = (async () => {
        await new Promise((resolve) => setTimeout(resolve, DROP_AFTER_MS));
        const from = performance.now();
        for (const group of groups) {
          const end = await parts.findEnd(group, now);
          if (end === null) throw new Error("There is no month to be dropped.");
          // As the sweep does, which waits a minute in between.
          while ((await parts.drop(group, end, [])) === "locked");
        }
        return performance.now() - from;
      })();
      const [during, dropMs] = await Promise.all([run(), dropped]);
      return { alone, during, dropMs };
    } finally {
      await server.stop();
    }
  } finally {
    await client.end();
    await database.dispose();
  }
}

function toTable(name: string, column: string): MonthlyTable {
  const table = pgTable(name, { key: text(column) });
  return { table, key: table.key };
}

function toCounted(name: string, column: string): MonthlyTable {
  const table = pgTable(name, { key: bigint(column, { mode: "number" }) });
  return { table, key: table.key };
}
