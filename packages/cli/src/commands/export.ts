import { extname, resolve } from "node:path";
import { type Contact, contract, type Pagination } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { listFields } from "../contract/fields.ts";
import { addField } from "../contract/flags.ts";
import { readInput } from "../contract/input.ts";
import { setCommandMetadata, setOptionMetadata } from "../contract/metadata.ts";
import { checkInput, mapPathsToFlags } from "../contract/validate.ts";
import { openBuffer } from "../export/buffer.ts";
import { type CsvFlags, formatContact, formatHeader, listColumns } from "../export/rows.ts";
import { openFile, openStdout, type Target } from "../export/target.ts";
import { buildChoiceOption, parseSeparator } from "../import/flags.ts";
import { formatNumber } from "../import/summary.ts";
import { FORMATS, type Format } from "../import/table.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import type { Call, CommandSpec, Session } from "../types.ts";

const { export: endpoint } = contract.contacts;

type Page = { data: Contact[]; pagination: Pagination };

interface Shape extends Omit<CsvFlags, "keys"> {
  format: Format;
  columns: boolean;
  bom: boolean;
}

const LINES_PER_WRITE = 1000;

const EXAMPLES = `
Examples:
  mailsvc contacts export --output people.csv
  mailsvc contacts export --status UNSUBSCRIBED --custom-fields columns --output gone.csv
  mailsvc contacts export --tag vip --format ndjson | jq -r .email

Cells that a spreadsheet would run as a formula get a leading ', which an import removes. See docs/importing.md.`;

/** `mailsvc contacts export`: all contacts, or those that match filters, as CSV or NDJSON. */
export function exportCommand(spec: CommandSpec, run: Run): Command {
  const fields = listFields(endpoint);
  const command = setCommandMetadata(new Command(spec.words.at(-1)), spec)
    .summary("Write all contacts to a file, as CSV or NDJSON")
    .description("Write all contacts, or those that match filters, to a file or stdout. Importing an export again changes nothing.")
    .addHelpText("after", EXAMPLES);
  for (const field of fields) addField(command, field);
  command
    .addOption(
      setOptionMetadata(new Option("--output <file>", "Output file, created when the export is complete; stdout by default"), {
        type: "file",
      }),
    )
    .addOption(buildChoiceOption("--format <format>", "Output format; by default from the file name, else csv", FORMATS))
    .addOption(
      buildChoiceOption(
        "--custom-fields <how>",
        "Custom fields in CSV: one column of JSON, which is lossless, or one column each",
        ["json", "columns"],
        "json",
      ),
    )
    .addOption(setOptionMetadata(new Option("--separator <character>", "Cell separator: , ; | or tab (default ,)"), { type: "text" }))
    .addOption(setOptionMetadata(new Option("--bom", "Start with a byte order mark, so that Excel detects UTF-8"), { type: "boolean" }))
    .addOption(setOptionMetadata(new Option("--no-guard", "Do not escape cells that begin with = + - @"), { type: "boolean" }));
  return runAction(command, run, "read", async (session, _args, flags) => {
    session.flagOf = mapPathsToFlags(fields);
    session.spec = spec;
    const { query } = await readInput(session, endpoint, fields, flags);
    checkInput(endpoint, query, undefined, session.flagOf);
    const call = buildCall(endpoint, [], query, undefined);
    if (!session.globals.dryRun) return exportContacts(session, call, flags);
    await session.printDryRun(call);
    return EXIT.ok;
  });
}

/** Fetches every page. Throws CliError when the server repeats a cursor. */
async function* fetchPages(session: Session, call: Call): AsyncGenerator<Contact[]> {
  const progress = session.progress("Exporting");
  const seen = new Set<string>();
  let done = 0;
  try {
    for (let query = call.query; ; ) {
      const { data, pagination } = (await session.send({ ...call, query })).data as Page;
      done += data.length;
      progress.update(`Exporting, ${formatNumber(done)} of ${formatNumber(Math.max(done, pagination.total))} contacts`);
      yield data;
      const cursor = pagination.nextCursor;
      if (!cursor) return;
      if (seen.has(cursor)) throw new CliError({ code: "list_loops", message: "The list repeats its pages.", exit: EXIT.server });
      seen.add(cursor);
      query = { ...query, cursor };
    }
  } finally {
    progress.stop();
  }
}

function readShape(session: Session, flags: Flags): Shape {
  const output = flags["output"] === undefined ? "" : extname(String(flags["output"]));
  const named: Format | undefined = /^\.(?:ndjson|jsonl)$/i.test(output) ? "ndjson" : output === "" ? undefined : "csv";
  const format = (flags["format"] as Format | undefined) ?? named ?? (session.globals.json ? "ndjson" : "csv");
  const columns = flags["customFields"] === "columns";
  if (format === "ndjson" && columns) throw usageError("--custom-fields columns is only for CSV.");
  return {
    format,
    columns,
    separator: parseSeparator(flags["separator"]) ?? (/^\.tsv$/i.test(output) ? "\t" : ","),
    guarded: flags["guard"] !== false,
    bom: flags["bom"] === true,
  };
}

/** Writes CSV with a column per custom field. Reads all contacts before it writes the first line. */
async function writeColumns(pages: AsyncIterable<Contact[]>, shape: Shape, target: Target): Promise<[number, string[]]> {
  const buffer = openBuffer();
  try {
    for await (const contacts of pages) buffer.add(contacts);
    const flags: CsvFlags = { ...shape, keys: buffer.keys() };
    let lines = [`${shape.bom ? "\ufeff" : ""}${formatHeader(flags)}`];
    let count = 0;
    for await (const contact of buffer.contacts()) {
      lines.push(formatContact(contact, flags));
      count += 1;
      if (lines.length < LINES_PER_WRITE) continue;
      await target.write(lines.join(""));
      lines = [];
    }
    await target.write(lines.join(""));
    return [count, listColumns(flags.keys)];
  } finally {
    buffer.remove();
  }
}

/** Writes contacts as they arrive. Returns their number and the columns. */
async function writeAll(pages: AsyncIterable<Contact[]>, shape: Shape, target: Target): Promise<[number, string[] | null]> {
  if (shape.columns) return writeColumns(pages, shape, target);
  const flags: CsvFlags = { ...shape, keys: null };
  const csv = shape.format === "csv";
  if (csv) await target.write(`${shape.bom ? "\ufeff" : ""}${formatHeader(flags)}`);
  let count = 0;
  for await (const contacts of pages) {
    count += contacts.length;
    await target.write(contacts.map((c) => (csv ? formatContact(c, flags) : `${JSON.stringify(c)}\n`)).join(""));
  }
  return [count, csv ? listColumns(null) : null];
}

async function exportContacts(session: Session, call: Call, flags: Flags): Promise<Exit> {
  const { out, term, host } = session;
  const shape = readShape(session, flags);
  const given = flags["output"] as string | undefined;
  const path = given === undefined || given === "-" ? null : resolve(host.cwd, given);
  const target = path === null ? openStdout(session) : openFile(path, given ?? "");
  let written: [number, string[] | null];
  try {
    written = await writeAll(fetchPages(session, call), shape, target);
  } catch (error) {
    target.discard();
    throw error;
  }
  target.commit();
  const [contacts, columns] = written;
  if (path !== null)
    await out.data(
      { file: path, format: shape.format, contacts, columns },
      () => `${term.out.green("Exported")} ${formatNumber(contacts)} contacts to ${path}`,
    );
  return EXIT.ok;
}
