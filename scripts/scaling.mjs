// The figures of docs/scaling.md, from those that bench/results.json keeps.
import { readFileSync } from "node:fs";
import "./sources.mjs";
import { CONNECTIONS_PER_PROCESS } from "../packages/server/src/db/postgres/pool.ts";

const PAGE = new URL("../docs/scaling.md", import.meta.url);
const RESULTS = new URL("../bench/results.json", import.meta.url);

const DAY_SECONDS = 86_400;
/** A peak is this many times the average of a day. */
const PEAK = 10;
// Rows and bytes that a mail leaves behind: an email, three events, their labels, and its share of the contents.
const ROWS_PER_MAIL = 8;
const BYTES_PER_MAIL = 1500;

const count = (n, digits = 0) => n.toLocaleString("en-US", { maximumFractionDigits: digits });
const micro = (n) => `${count(n)} µs`;
/** Two digits, as far as anything of a plan can be known. */
const rough = (n) => count(Number(n.toPrecision(2)), 2);

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = ([head, ...rows]) => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

/** Returns the last result of a bench: its figures by name, and their place and time. */
const readBench = (results, bench) => {
  const found = results.find((one) => one.bench === bench);
  if (!found) throw new Error(`bench/results.json has nothing of ${bench}: npm run bench -- ${bench} --save`);
  return { figures: Object.fromEntries(found.figures.map(({ name, value }) => [name, value])), about: found.about };
};

const costs = (results) => {
  const { figures, about } = readBench(results, "drain");
  const { figures: accept } = readBench(results, "accept");
  const { figures: postgres } = readBench(results, "postgres");
  const ways = { capture: "SQLite, captured", smtp: "SQLite, by SMTP", "pg.capture": "Postgres, captured", "pg.smtp": "Postgres, by SMTP" };
  const delivery = Object.entries(ways).map(([key, way]) => [way, micro(figures[`drain.${key}.cpu`]), count(figures[`drain.${key}`])]);
  return [
    table([["Delivering", "processor time per mail, server and database", "mails a second, one process"], ...delivery]),
    table([
      ["Accepting, with deliveries of the same time", "processor time per send", "sends a second, one process"],
      ["SQLite", micro(accept["accept.cpu"]), count(accept["accept.vs-naive"])],
      ["Postgres, with the database's", micro(postgres["postgres.accept.cpu"]), count(postgres["postgres.accept"])],
    ]),
    `Measured ${about}. A busy\nmachine takes up to three times as long.`,
  ].join("\n\n");
};

const processes = (results) => {
  const { figures, about } = readBench(results, "scaling");
  const of = (part, show) => [1, 2, 3].map((size) => show(figures[`scaling.${size}.${part}`]));
  return [
    table([
      ["What", "1 process", "2 processes", "3 processes"],
      ["processor time of the servers", ...of("server", micro)],
      ["processor time of Postgres", ...of("postgres", micro)],
      ["transactions", ...of("transactions", (n) => count(n, 2))],
      ["bytes of the log (WAL)", ...of("wal", count)],
    ]),
    `Measured ${about}.`,
  ].join("\n\n");
};

// Next limit, by millions of mails a day.
const LIMITS = {
  10: "none: one small machine for each",
  100: "the disk: keep mail for weeks (`--keep`), put the log on a disk of its own",
  1000: "the log, which one Postgres writes in one order: divide workspaces over ten databases",
};

const limits = (results) => {
  const { figures } = readBench(results, "scaling");
  const [server, database, wal] = ["server", "postgres", "wal"].map((part) => figures[`scaling.1.${part}`]);
  const rows = Object.entries(LIMITS).map(([millions, limit]) => {
    const mails = millions * 1e6;
    const peak = (mails / DAY_SECONDS) * PEAK;
    const cores = (peak * server) / 1e6;
    // At half load.
    const servers = Math.ceil(cores * 2);
    const run =
      servers === 1 ? "one process" : `${rough(servers)} processes at half load, ${rough(servers * CONNECTIONS_PER_PROCESS)} connections`;
    return [
      `${count(Number(millions))} million`,
      `${rough(peak)} a second`,
      rough((peak * database) / 1e6),
      `${rough(cores)}: ${run}`,
      `${rough((peak * wal) / 1e6)} MB/s`,
      `${rough((mails * wal) / 1e9)} GB`,
      `${rough((mails * ROWS_PER_MAIL) / 1e6)} million, ${rough((mails * BYTES_PER_MAIL) / 1e9)} GB`,
      limit,
    ];
  });
  return [
    `A mail is counted with ${micro(server)} of processor time for the servers and ${micro(database)} for Postgres, from accepting it to the`,
    `reply of the mail server, and with ${count(wal / 1000, 1)} KB of log: the column "1 process" above. A peak is ${PEAK} times the average of a day.`,
    "",
    table([
      ["Mails a day", "At peak", "Cores of Postgres", "Cores of servers", "Log at peak", "Log a day", "New rows a day", "The next limit"],
      ...rows,
    ]),
  ].join("\n");
};

const SECTIONS = { costs, processes, limits };

/** docs/scaling.md with the figures of bench/results.json between its marks. */
export const scalingPage = () => {
  const results = JSON.parse(readFileSync(RESULTS, "utf8"));
  let page = readFileSync(PAGE, "utf8");
  for (const [name, write] of Object.entries(SECTIONS)) {
    const marked = new RegExp(`(<!-- figures: ${name} -->\n)[\\s\\S]*?(\n<!-- end -->)`);
    if (!marked.test(page)) throw new Error(`docs/scaling.md has no marks of the figures "${name}".`);
    page = page.replace(marked, (_, start, end) => `${start}\n${write(results)}\n${end}`);
  }
  return page;
};
