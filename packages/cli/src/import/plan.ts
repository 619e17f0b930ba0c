import { resolve } from "node:path";
import { contract } from "@mailsvc/sdk/contract";
import type { Flags } from "../act.ts";
import { usageError } from "../errors.ts";
import { callOf } from "../request.ts";
import type { Session } from "../session.ts";
import { type Checkpoint, checkpointAt, type Progress } from "./checkpoint.ts";
import { resolverOf } from "./columns.ts";
import { decode } from "./decode.ts";
import { amountFlags, cellFlags, textFlags } from "./flags.ts";
import type { ImportFlags, Kind } from "./kind.ts";
import { openSource, type Source } from "./source.ts";
import { openTable, type Table } from "./table.ts";

/** An import that is ready to begin: its file opened, its columns found, and where an earlier run left off. */
export interface Plan {
  kind: Kind;
  source: Source;
  table: Table;
  flags: ImportFlags;
  checkpoint: Checkpoint | null;
  from: Progress;
  errorsFile: string | null;
  batchSize: number;
  concurrency: number;
  maxErrors: number;
}

/** Makes ready for an import. Sends no rows. Throws CliError that says what stands in the way. */
export async function planOf(session: Session, kind: Kind, given: string, flags: Flags): Promise<Plan> {
  const { host } = session;
  const dryRun = flags["dryRun"] === true || session.globals.dryRun;
  const sides = amountFlags(flags, kind);
  const resolver = resolverOf(kind, { map: (flags["map"] as string[] | undefined) ?? [], keepCustom: flags["customFields"] !== "ignore" });
  const text = textFlags(flags);
  const cells = cellFlags(flags);
  const source = openSource(session, given);
  // A file is read once before anything is sent: half an import is a poor way to learn that the text is in another encoding.
  if (source.path !== null) for await (const _ of decode(source.name, source.bytes(), text.encoding)) if (session.signal.aborted) break;
  const table = await openTable(source, kind, resolver, text, cells);
  const noteIn = (flags["resumeFile"] as string | undefined) ?? (source.path === null ? undefined : `${source.path}.import`);
  const checkpoint = dryRun || noteIn === undefined ? null : checkpointAt(resolve(host.cwd, noteIn));
  const from = await progressFrom(session, kind, flags, checkpoint);
  const errorsFile = flags["errorsFile"] === undefined ? null : resolve(host.cwd, String(flags["errorsFile"]));
  if (errorsFile !== null && errorsFile === source.path)
    throw usageError("--errors-file must be another file than the one that is imported.");
  return {
    kind,
    source,
    table,
    flags: { mode: flags["mode"] === "skip" ? "skip" : "upsert", dryRun },
    checkpoint,
    from,
    errorsFile,
    ...sides,
  };
}

/** What must be the same for an import to go on: the server, the workspace, and the flags that decide what is sent. */
async function identity(session: Session, kind: Kind, flags: Flags): Promise<string> {
  const { workspace } = (await session.send(callOf(contract.me.get, [], {}, undefined))).data as { workspace: { id: string } };
  const names = ["mode", "map", "customFields", "types", "format", "encoding", "separator", "header", "guard", "batch", "reason", "scope"];
  const said = Object.fromEntries(names.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
  return `${kind.noun} into ${workspace.id} at ${session.settings().url} ${JSON.stringify(said)}`;
}

async function progressFrom(session: Session, kind: Kind, flags: Flags, checkpoint: Checkpoint | null): Promise<Progress> {
  const startedAt = new Date(session.host.now()).toISOString();
  const fresh: Progress = { version: 1, startedAt, for: "", batches: 0, chain: "", rows: 0, failed: 0, counts: {}, errorsBytes: 0 };
  if (!checkpoint) return fresh;
  fresh.for = await identity(session, kind, flags);
  const noted = flags["restart"] === true ? null : checkpoint.load();
  if (noted && noted.for !== fresh.for)
    throw usageError(`${checkpoint.path} belongs to another import.`, {
      code: "other_import",
      hint: `It was begun as: ${noted.for}. This is: ${fresh.for}. Begin anew with --restart, or keep them apart with --resume-file.`,
    });
  if (noted) return noted;
  checkpoint.save(fresh);
  return fresh;
}
