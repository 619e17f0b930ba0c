import { contract } from "@mailsvc/sdk/contract";
import type { Change, Outcome } from "../folders/folder.ts";
import { CliError, toFailure } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import type { Call, Session } from "../types.ts";
import { FILES, type TemplateFiles } from "./folder.ts";
import { getEntry } from "./origin.ts";

const DONE = { create: "created", update: "updated", release: "published", remove: "deleted" } as const;

interface ApiDetail {
  path: string;
  message: string;
  line?: number;
  column?: number;
}

/** Applies one change. A refused change is an outcome; errors that concern all changes, such as a missing key, are thrown. */
export async function applyChange(session: Session, change: Change<TemplateFiles>, publish: boolean): Promise<Outcome> {
  const { key: slug, kind } = change;
  try {
    if (kind === "update" && change.fields.includes("kind"))
      throw new CliError({
        code: "invalid_state",
        message: "The kind of a template cannot be changed. Delete it first.",
        exit: EXIT.conflict,
      });
    const { data } = await session.send(buildChangeCall(change, publish));
    if (kind === "remove") return { action: DONE.remove };
    const { id, version } = data as { id: string; version?: number | null };
    return { action: DONE[kind], id, ...(version !== undefined && { version }) };
  } catch (error) {
    const failure = toFailure(error);
    const { status = 0 } = failure;
    if (!(error instanceof CliError) && !(status === 400 || status === 404 || status === 409)) throw error;
    const details = ((error as { details?: readonly ApiDetail[] }).details ?? []).map((detail) => ({
      ...(detail.path === "html" && change.local?.renderedFrom
        ? { path: `${slug}/${getEntry(change.local.renderedFrom)}`, message: `In the HTML rendered from it: ${detail.message}` }
        : {
            path: formatFilePath(slug, detail.path, detail),
            message: detail.message.replace(/^Line \d+, column \d+: /, ""),
            ...(detail.line === undefined ? {} : { line: detail.line, column: detail.column ?? 1 }),
          }),
    }));
    return { action: "failed", error: { code: failure.code, message: failure.message, details } };
  }
}

function buildChangeCall({ kind, fields, local, stored }: Change<TemplateFiles>, publish: boolean): Call {
  const id = stored?.id ?? "";
  const revision = stored?.revision;
  if (kind === "create") return buildCall(contract.templates.create, [], {}, { ...local, publish });
  if (kind === "release") return buildCall(contract.templates.publish, [id], {}, { revision });
  if (kind === "remove") return buildCall(contract.templates.delete, [id], {}, undefined);
  // HTML that is given without the files it was rendered from is HTML written by hand.
  const sent = local?.renderedFrom ? new Set([...fields, "renderedFrom"]) : fields;
  const body = Object.fromEntries([...sent].map((field) => [field, local?.[field as keyof typeof local]]));
  return buildCall(contract.templates.update, [id], {}, { ...body, publish, revision });
}

// Maps an error's path to a file: `html` of this template, or `footer.html` of a partial.
function formatFilePath(slug: string, path: string, place: { line?: number; column?: number }): string {
  const [, part, field = ""] = /^(?:([a-z0-9_-]+)\.)?(html|text|blocks)$/.exec(path) ?? [];
  if (field === "") return path === "" ? slug : `${slug}/${FILES.about}: ${path}`;
  const file = `${part ?? slug}/${FILES[field as "html" | "text" | "blocks"]}`;
  return place.line === undefined ? file : `${file}:${place.line}:${place.column ?? 1}`;
}
