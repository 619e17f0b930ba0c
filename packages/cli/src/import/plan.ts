import { hash } from "node:crypto";
import { resolve } from "node:path";
import { type ContactImportSummary, contract } from "@mailsvc/sdk/contract";
import type { Flags } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Session } from "../types.ts";
import { type Checkpoint, type ImportProgress, openCheckpoint } from "./checkpoint.ts";
import { createFlaggedResolver } from "./columns.ts";
import { decode } from "./decode.ts";
import { parseCellFlags, parseLimits, parseTextFlags } from "./flags.ts";
import { CONTACTS, type ImportFlags, type ImportKind } from "./kind.ts";
import { openSource, type Source } from "./source.ts";
import { openTable, type Table } from "./table.ts";
import { awaitTag } from "./undoing.ts";

/** An import that is ready to start: its file is open, its columns are mapped, and recorded progress is loaded. */
export interface ImportPlan {
  kind: ImportKind;
  source: Source;
  table: Table;
  flags: ImportFlags;
  checkpoint: Checkpoint | null;
  from: ImportProgress;
  errorsFile: string | null;
  batchSize: number;
  concurrency: number;
  maxErrors: number;
}

/** Prepares an import without sending any rows. Throws CliError when it cannot start. */
export async function planImport(session: Session, kind: ImportKind, given: string, flags: Flags): Promise<ImportPlan> {
  const { host } = session;
  const dryRun = flags["dryRun"] === true || session.globals.dryRun;
  const sides = parseLimits(flags, kind);
  const resolver = createFlaggedResolver(kind, {
    map: (flags["map"] as string[] | undefined) ?? [],
    keepCustom: flags["customFields"] !== "ignore",
  });
  const text = parseTextFlags(flags);
  const cells = parseCellFlags(flags);
  const source = openSource(session, given);
  // Read the whole file once before sending anything, so that an encoding error is found before half of it is imported.
  if (source.path !== null) for await (const _ of decode(source.name, source.bytes(), text.encoding)) if (session.signal.aborted) break;
  const table = await openTable(source, kind, resolver, text, cells);
  const noteIn = (flags["resumeFile"] as string | undefined) ?? (source.path === null ? undefined : `${source.path}.import`);
  const checkpoint = dryRun || noteIn === undefined ? null : openCheckpoint(resolve(host.cwd, noteIn));
  const from = await loadProgress(session, kind, flags, checkpoint);
  if (kind === CONTACTS && !dryRun) {
    const given = flags["import"] as string | undefined;
    const started =
      given === undefined ? await startImport(session, source.name, flags["tag"], from.startedAt) : { importId: given, tag: null };
    Object.assign(from, started);
  }
  const errorsFile = flags["errorsFile"] === undefined ? null : resolve(host.cwd, String(flags["errorsFile"]));
  if (errorsFile !== null && errorsFile === source.path) throw usageError("--errors-file must not be the imported file.");
  return {
    kind,
    source,
    table,
    flags: {
      mode: flags["mode"] === "skip" ? "skip" : "upsert",
      dryRun,
      startAutomations: flags["startAutomations"] === true,
      list: flags["list"] as string | undefined,
    },
    checkpoint,
    from,
    errorsFile,
    ...sides,
  };
}

/** Identity of an import, which must be unchanged to resume it: server, workspace, and the flags that decide what is sent. */
async function buildIdentity(session: Session, kind: ImportKind, flags: Flags): Promise<string> {
  const { workspace } = (await session.send(buildCall(contract.me.get, [], {}, undefined))).data as { workspace: { id: string } };
  const names = [
    "mode",
    "map",
    "customFields",
    "types",
    "format",
    "encoding",
    "separator",
    "header",
    "guard",
    "batch",
    "reason",
    "scope",
    "tag",
    "list",
    "import",
    "startAutomations",
  ];
  const given = Object.fromEntries(names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
  return `${kind.noun} into ${workspace.id} at ${session.settings().url} ${JSON.stringify(given)}`;
}

/** Begins the import on the server. Its key is that of the progress, so a resumed import goes on with the same one. `tag` false means none. */
async function startImport(
  session: Session,
  file: string,
  tag: unknown,
  startedAt: string,
): Promise<Pick<ImportProgress, "importId" | "tag">> {
  if (typeof tag === "string") await awaitTag(session, tag);
  const body = {
    file: file.slice(0, 255),
    ...(tag === false ? { tag: null } : tag === undefined || tag === true ? {} : { tag: String(tag) }),
  };
  const headers = { "Idempotency-Key": `import-${hash("sha256", `${startedAt}\n${file}`, "hex").slice(0, 40)}` };
  const { data } = await session.send({ ...buildCall(contract.contacts.startImport, [], {}, body), headers });
  const started = data as ContactImportSummary;
  return { importId: started.id, tag: started.tag };
}

async function loadProgress(session: Session, kind: ImportKind, flags: Flags, checkpoint: Checkpoint | null): Promise<ImportProgress> {
  const startedAt = new Date(session.host.now()).toISOString();
  const fresh: ImportProgress = {
    version: 1,
    startedAt,
    for: "",
    batches: 0,
    chain: "",
    rows: 0,
    failed: 0,
    counts: {},
    importId: null,
    tag: null,
    automations: [],
    errorsBytes: 0,
  };
  if (!checkpoint) return fresh;
  fresh.for = await buildIdentity(session, kind, flags);
  const noted = flags["restart"] === true ? null : checkpoint.load();
  if (noted && noted.for !== fresh.for)
    throw usageError(`${checkpoint.path} belongs to another import.`, {
      code: "other_import",
      hint: `It was started as: ${noted.for}. This is: ${fresh.for}. Start over with --restart, or use another --resume-file.`,
    });
  if (noted) return noted;
  checkpoint.save(fresh);
  return fresh;
}
