import { createReadStream, existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { usageError } from "../runtime/errors.ts";
import type { Session } from "../types.ts";
import { type ExportRow, readRows } from "./csv-rows.ts";
import { convert, makeSlug } from "./placeholders.ts";
import type { Consent, MovingSource, SourceList, SourcePerson, SourceSuppression, SourceTemplate } from "./source.ts";

/** A file of an export. */
interface ExportFile {
  /** Its path in the archive or folder. */
  readonly path: string;
  bytes(): AsyncIterable<Uint8Array>;
}

/** Kinds of files of an audience, in the order in which they are read: a no first, and who never agreed last. */
const KINDS = ["cleaned", "unsubscribed", "subscribed", "nonsubscribed"] as const;
type Kind = (typeof KINDS)[number];

const CONSENT: Readonly<Record<Kind, Consent>> = {
  cleaned: "refused",
  unsubscribed: "refused",
  subscribed: "agreed",
  nonsubscribed: "unknown",
};

const ADDRESS = "Email Address";

/** Columns that are Mailchimp's own account of a person. */
const OWN_COLUMNS = new Set(
  [
    ...["MEMBER_RATING", "OPTIN_TIME", "OPTIN_IP", "CONFIRM_TIME", "CONFIRM_IP", "LATITUDE", "LONGITUDE", "GMTOFF", "DSTOFF"],
    ...["TIMEZONE", "CC", "REGION", "LAST_CHANGED", "LEID", "EUID", "UNSUB_TIME", "UNSUB_CAMPAIGN_TITLE", "UNSUB_CAMPAIGN_ID"],
    ...["UNSUB_REASON", "UNSUB_REASON_OTHER", "CLEAN_TIME", "CLEAN_CAMPAIGN_TITLE", "CLEAN_CAMPAIGN_ID"],
  ].flatMap((name) => [name, name.toLowerCase()]),
);

/** Texts of a contact by the column that has them. */
const TEXT_COLUMNS: Readonly<Record<string, string>> = { "First Name": "firstName", "Last Name": "lastName", "Phone Number": "phone" };

/** An export of Mailchimp: its archive, a folder, or single files. `list` names the list of those who subscribed. Throws CliError. */
export async function openMailchimp(session: Session, given: readonly string[], list: string | undefined): Promise<MovingSource> {
  const files = (await Promise.all(given.map((path) => openFiles(resolve(session.host.cwd, path), path)))).flat();
  const members = files.flatMap((file) => {
    const kind = findKind(file.path);
    return kind === null ? [] : [{ ...file, kind }];
  });
  const sorted = members.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
  if (members.length === 0)
    throw usageError(`There is no file of an audience in ${given.join(", ")}.`, {
      hint: "Mailchimp names them subscribed_…csv, unsubscribed_…csv, cleaned_…csv and nonsubscribed_…csv. Give the archive that it made.",
    });
  const missing = KINDS.filter((kind) => kind !== "nonsubscribed" && !members.some((file) => file.kind === kind));
  const templates = files.filter(({ path }) => /(?:^|\/)templates?\/.*\.html?$/i.test(path));
  const audiences = new Map(sorted.filter(({ kind }) => kind === "subscribed").map(({ path }) => [path, list ?? nameAudience(path)]));
  return {
    title: `Mailchimp's ${given.map((path) => basename(path)).join(", ")}`,
    lists: async (): Promise<readonly SourceList[]> =>
      [...new Set(audiences.values())].map((name) => ({ key: name, name, description: null, public: true })),
    async *suppressions(): AsyncGenerator<readonly SourceSuppression[]> {},
    async *people(): AsyncGenerator<readonly SourcePerson[]> {
      for (const { path, kind, bytes } of sorted)
        for await (const rows of readRows(path, bytes(), [ADDRESS])) yield rows.map((row) => toPerson(row, kind, audiences.get(path)));
    },
    async *templates(): AsyncGenerator<SourceTemplate> {
      for (const file of templates) yield toTemplate(file.path, await readText(file));
    },
    remarks: () =>
      missing.length === 0
        ? []
        : [`There is no file of those who are ${missing.join(" or ")}: give the whole archive, so that none of them gets mail.`],
  };
}

function findKind(path: string): Kind | null {
  const name = basename(path).toLowerCase();
  if (!name.endsWith(".csv")) return null;
  return KINDS.find((kind) => name.startsWith(kind)) ?? null;
}

/** The name of an audience from the path of its file; Mailchimp's folders and names of files have it, or an id. */
function nameAudience(path: string): string {
  const folder = basename(dirname(path));
  if (![".", "", "lists", "audiences"].includes(folder.toLowerCase())) return folder.replaceAll("_", " ");
  return "Mailchimp";
}

function toPerson({ at, cells, fault }: ExportRow, kind: Kind, audience: string | undefined): SourcePerson {
  const texts: Record<string, string> = {};
  const customFields: Record<string, string> = {};
  for (const [column, cell] of cells) {
    const field = TEXT_COLUMNS[column];
    if (field !== undefined) texts[field] = cell;
    else if (column !== ADDRESS && column !== "TAGS" && !OWN_COLUMNS.has(column)) customFields[column] = cell;
  }
  const tags = splitTags(cells.get("TAGS") ?? "");
  return {
    at,
    email: cells.get(ADDRESS) ?? "",
    consent: CONSENT[kind],
    fields: { ...texts, ...(tags.length > 0 && { tags }), ...(Object.keys(customFields).length > 0 && { customFields }) },
    suppression: kind === "cleaned" ? { reason: "bounce", note: "Cleaned at Mailchimp" } : null,
    joins: audience === undefined ? [] : [audience],
    left: [],
    fault,
  };
}

/** Tags as Mailchimp writes them: `"VIP","Beta, closed"`. */
function splitTags(text: string): string[] {
  const quoted = [...text.matchAll(/"((?:[^"]|"")*)"/g)].map(([, tag = ""]) => tag.replaceAll('""', '"'));
  const tags = quoted.length > 0 ? quoted : text.split(",");
  return [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ""))];
}

const MERGE_TAGS: Readonly<Record<string, string>> = {
  EMAIL: "{{email}}",
  FNAME: "{{firstName}}",
  LNAME: "{{lastName}}",
  UNSUB: "{{unsubscribeUrl}}",
  ARCHIVE: "{{viewInBrowserUrl}}",
};

function toTemplate(path: string, html: string): SourceTemplate {
  const converted = convert(html, /\*\|(.*?)\|\*/gs, (tag) => MERGE_TAGS[tag.toUpperCase()] ?? null);
  const name = basename(path).replace(/\.html?$/i, "");
  const obstacle = converted.obstacle === null ? (/\bmc:(?:edit|repeatable)\b/.test(html) ? "mc:edit" : null) : converted.obstacle;
  return {
    at: path,
    name: name.replaceAll("_", " "),
    slug: makeSlug(name, name),
    type: "marketing",
    fields: { html: converted.text },
    obstacle: obstacle === null ? null : `${obstacle} has no counterpart here.`,
  };
}

async function readText({ bytes }: ExportFile): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes()) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** The files of an archive, of a folder, or the file itself. Throws CliError. */
async function openFiles(path: string, given: string): Promise<ExportFile[]> {
  if (!existsSync(path)) throw usageError(`${given}: no such file.`);
  if (statSync(path).isDirectory())
    return globSync("**/*.{csv,html,htm}", { cwd: path })
      .sort()
      .map((file) => ({ path: file.replaceAll("\\", "/"), bytes: () => createReadStream(join(path, file)) }));
  if (!/\.zip$/i.test(path)) return [{ path: basename(path), bytes: () => createReadStream(path) }];
  const { unzipSync } = await import("fflate");
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(readFileSync(path), { filter: ({ name }) => /\.(?:csv|html?)$/i.test(name) });
  } catch (error) {
    throw usageError(`${given} is no archive that can be read (${error instanceof Error ? error.message : String(error)}).`);
  }
  return Object.entries(entries)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, bytes]) => ({
      path: name,
      async *bytes() {
        yield bytes;
      },
    }));
}
