import { extname } from "node:path";
import { type CsvFlags, formatContact, formatHeader, listColumns } from "@mailsvc/sdk/contact-files";
import { type Contact, contract } from "@mailsvc/sdk/contract";
import { Command, Option } from "commander";
import { listFields } from "../contract/fields.ts";
import { addField } from "../contract/flags.ts";
import { readInput } from "../contract/input.ts";
import { setCommandMetadata, setOptionMetadata } from "../contract/metadata.ts";
import { checkInput, mapPathsToFlags } from "../contract/validate.ts";
import { openBuffer } from "../export/buffer.ts";
import { fetchPages } from "../export/pages.ts";
import { type Target, writeExport } from "../export/target.ts";
import { buildChoiceOption, parseSeparator } from "../import/flags.ts";
import { FORMATS, type Format } from "../import/table.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { formatNumber } from "../text/units.ts";
import type { Call, CommandSpec, Session } from "../types.ts";

const { export: endpoint } = contract.contacts;

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
async function writeColumns(pages: AsyncIterable<readonly Contact[]>, shape: Shape, target: Target): Promise<[number, string[]]> {
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
async function writeAll(pages: AsyncIterable<readonly Contact[]>, shape: Shape, target: Target): Promise<[number, string[] | null]> {
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
  const { out, term } = session;
  const shape = readShape(session, flags);
  const pages = fetchPages<Contact>(session, call, "contacts");
  const { result, path } = await writeExport(session, flags["output"] as string | undefined, (target) => writeAll(pages, shape, target));
  const [contacts, columns] = result;
  if (path !== null)
    await out.data(
      { file: path, format: shape.format, contacts, columns },
      () => `${term.out.green("Exported")} ${formatNumber(contacts)} contacts to ${path}`,
    );
  return EXIT.ok;
}
