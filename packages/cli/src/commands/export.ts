import { extname, resolve } from "node:path";
import { type Contact, contract, type Pagination } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { noteCommand, noteOption } from "../about.ts";
import { act, type Flags, type Run } from "../act.ts";
import { checkInput, flagOfFields } from "../check.ts";
import { CliError, usageError } from "../errors.ts";
import { EXIT, type Exit } from "../exit.ts";
import { type CsvFlags, csvColumns, csvHead, csvOf } from "../export/rows.ts";
import { openSpool } from "../export/spool.ts";
import { type Target, toFile, toStdout } from "../export/target.ts";
import { fieldsOf } from "../fields.ts";
import { addField } from "../flags.ts";
import { gather } from "../gather.ts";
import { choice, separatorFlag } from "../import/flags.ts";
import { number } from "../import/summary.ts";
import { FORMATS, type Format } from "../import/table.ts";
import type { Placed } from "../places.ts";
import { type Call, callOf } from "../request.ts";
import type { Session } from "../session.ts";

const { export: endpoint } = contract.contacts;

type Page = { data: Contact[]; pagination: Pagination };

interface Shape extends Omit<CsvFlags, "keys"> {
  format: Format;
  columns: boolean;
  bom: boolean;
}

const LINES = 1000;

const EXAMPLES = `
Examples:
  mailsvc contacts export --output people.csv
  mailsvc contacts export --status UNSUBSCRIBED --custom-fields columns --output gone.csv
  mailsvc contacts export --tag vip --format ndjson | jq -r .email

A cell that a spreadsheet would run as a formula begins with '; the import takes it away again. docs/importing.md says more.`;

/** `mailsvc contacts export`: all contacts, or those that filters leave, as CSV or NDJSON. */
export function exportCommand(place: Placed, run: Run): Command {
  const fields = fieldsOf(endpoint);
  const command = noteCommand(new Command(place.words.at(-1)), place)
    .summary("Write all contacts to a file, as CSV or NDJSON")
    .description(
      "Write all contacts, or those that filters leave, to a file or stdout. What is exported can be imported again, and comes out the same.",
    )
    .addHelpText("after", EXAMPLES);
  for (const field of fields) addField(command, field);
  command
    .addOption(noteOption(new Option("--output <file>", "The file; it appears when it is whole. stdout otherwise"), { type: "file" }))
    .addOption(choice("--format <format>", "By the file's name unless said, else csv", FORMATS))
    .addOption(
      choice("--custom-fields <how>", "In CSV: all in one column as JSON, which is exact, or a column each", ["json", "columns"], "json"),
    )
    .addOption(noteOption(new Option("--separator <character>", "Between cells: , ; | or tab (default ,)"), { type: "text" }))
    .addOption(noteOption(new Option("--bom", "Begin with the mark by which Excel knows UTF-8"), { type: "boolean" }))
    .addOption(noteOption(new Option("--no-guard", "Write cells that begin with = + - @ as they are"), { type: "boolean" }));
  return act(command, run, "read", async (session, _args, flags) => {
    session.flagOf = flagOfFields(fields);
    session.place = place;
    const { query } = await gather(session, endpoint, fields, flags);
    checkInput(endpoint, query, undefined, session.flagOf);
    const call = callOf(endpoint, [], query, undefined);
    if (!session.globals.dryRun) return exportContacts(session, call, flags);
    await session.printDryRun(call);
    return EXIT.ok;
  });
}

/** Every page, by its cursor. Throws CliError when the list leads round in circles. */
async function* pagesOf(session: Session, call: Call): AsyncGenerator<Contact[]> {
  const progress = session.progress("Exporting");
  const seen = new Set<string>();
  let done = 0;
  try {
    for (let query = call.query; ; ) {
      const { data, pagination } = (await session.send({ ...call, query })).data as Page;
      done += data.length;
      progress.say(`Exporting, ${number(done)} of ${number(Math.max(done, pagination.total))} contacts`);
      yield data;
      const cursor = pagination.nextCursor;
      if (!cursor) return;
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list leads back to where it was.", exit: EXIT.server });
      seen.add(cursor);
      query = { ...query, cursor };
    }
  } finally {
    progress.stop();
  }
}

function shapeOf(session: Session, flags: Flags): Shape {
  const output = flags["output"] === undefined ? "" : extname(String(flags["output"]));
  const named: Format | undefined = /^\.(?:ndjson|jsonl)$/i.test(output) ? "ndjson" : output === "" ? undefined : "csv";
  const format = (flags["format"] as Format | undefined) ?? named ?? (session.globals.json ? "ndjson" : "csv");
  const columns = flags["customFields"] === "columns";
  if (format === "ndjson" && columns) throw usageError("--custom-fields columns is for CSV; NDJSON has them as they are.");
  return {
    format,
    columns,
    separator: separatorFlag(flags["separator"]) ?? (/^\.tsv$/i.test(output) ? "\t" : ","),
    guarded: flags["guard"] !== false,
    bom: flags["bom"] === true,
  };
}

/** Writes CSV whose custom fields have columns of their own: all contacts are seen before the first line is written. */
async function writeColumns(pages: AsyncIterable<Contact[]>, shape: Shape, target: Target): Promise<[number, string[]]> {
  const spool = openSpool();
  try {
    for await (const contacts of pages) spool.add(contacts);
    const flags: CsvFlags = { ...shape, keys: spool.keys() };
    let lines = [`${shape.bom ? "\ufeff" : ""}${csvHead(flags)}`];
    let count = 0;
    for await (const contact of spool.contacts()) {
      lines.push(csvOf(contact, flags));
      count += 1;
      if (lines.length < LINES) continue;
      await target.write(lines.join(""));
      lines = [];
    }
    await target.write(lines.join(""));
    return [count, csvColumns(flags.keys)];
  } finally {
    spool.remove();
  }
}

/** Writes contacts as they come. Answers how many, and the columns they have. */
async function writeAll(pages: AsyncIterable<Contact[]>, shape: Shape, target: Target): Promise<[number, string[] | null]> {
  if (shape.columns) return writeColumns(pages, shape, target);
  const flags: CsvFlags = { ...shape, keys: null };
  const csv = shape.format === "csv";
  if (csv) await target.write(`${shape.bom ? "\ufeff" : ""}${csvHead(flags)}`);
  let count = 0;
  for await (const contacts of pages) {
    count += contacts.length;
    await target.write(contacts.map((c) => (csv ? csvOf(c, flags) : `${JSON.stringify(c)}\n`)).join(""));
  }
  return [count, csv ? csvColumns(null) : null];
}

async function exportContacts(session: Session, call: Call, flags: Flags): Promise<Exit> {
  const { out, term, host } = session;
  const shape = shapeOf(session, flags);
  const given = flags["output"] as string | undefined;
  const path = given === undefined || given === "-" ? null : resolve(host.cwd, given);
  const target = path === null ? toStdout(session) : toFile(path, given ?? "");
  let written: [number, string[] | null];
  try {
    written = await writeAll(pagesOf(session, call), shape, target);
  } catch (error) {
    target.drop();
    throw error;
  }
  target.keep();
  const [contacts, columns] = written;
  if (path !== null)
    await out.data(
      { file: path, format: shape.format, contacts, columns },
      () => `${term.out.green("Exported")} ${number(contacts)} contacts to ${path}`,
    );
  return EXIT.ok;
}
