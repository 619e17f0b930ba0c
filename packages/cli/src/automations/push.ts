import { type AutomationDetail, contract } from "@mailsvc/sdk/contract";
import type { Change, Outcome } from "../folders/folder.ts";
import { CliError, toFailure } from "../runtime/errors.ts";
import { buildCall } from "../runtime/request.ts";
import type { Call, Session } from "../types.ts";
import { type AutomationFile, formatPlace } from "./file.ts";
import type { StoredAutomation } from "./noun.ts";
import type { References } from "./references.ts";

type AutomationChange = Change<AutomationFile, StoredAutomation>;

const DONE = { create: "created", update: "updated", release: "activated", remove: "archived" } as const;

/** Applies one change. A refused change is an outcome; errors that concern all changes, such as a missing key, are thrown. */
export async function applyChange(session: Session, references: References, change: AutomationChange, activate: boolean): Promise<Outcome> {
  const { kind, local, stored } = change;
  let done: AutomationDetail | null = null;
  try {
    const send = async (call: Call): Promise<AutomationDetail> => (await session.send(call)).data as AutomationDetail;
    if (kind === "remove") {
      const id = stored?.id ?? "";
      if (stored?.status === "ACTIVE") await send(buildCall(contract.automations.pause, [id], {}, undefined));
      await send(buildCall(contract.automations.archive, [id], {}, undefined));
      return { action: DONE.remove };
    }
    if (local && kind !== "release") {
      const { definition, unknown } = await references.toIds(local);
      if (unknown.length > 0) return fail("unknown_name", "Something it refers to is not on the server.", local, unknown);
      done = await send(buildSave(change, definition));
    }
    const isDraft = done ? done.status === "DRAFT" : stored?.isUnreleased === true;
    if (activate && isDraft) done = await send(buildCall(contract.automations.activate, [done?.id ?? stored?.id ?? ""], {}, undefined));
    return { action: DONE[kind], version: done?.version ?? null, ...(done && { id: done.id }) };
  } catch (error) {
    const failure = toFailure(error);
    const { status = 0 } = failure;
    // The names saved before the failure are told; the next change meets a failure that concerns all of them again.
    if (done === null && (error instanceof CliError || !(status === 400 || status === 404 || status === 409))) throw error;
    const message = done ? `${DONE[kind]}, but not activated: ${failure.message}` : failure.message;
    const details = (failure.details ?? []).map((detail) => ({ path: parsePath(detail.path), message: detail.message }));
    return { ...fail(failure.code, message, local, details), ...(done && { id: done.id }) };
  }
}

function fail(
  code: string,
  message: string,
  local: AutomationFile | null,
  details: readonly { path: readonly PropertyKey[]; message: string }[],
): Outcome {
  const located = details.map((detail) => {
    const step = detail.path[0] === "steps" ? local?.steps[Number(detail.path[1])]?.id : undefined;
    const text = step === undefined || detail.message.includes(`"${step}"`) ? detail.message : `The step "${step}": ${detail.message}`;
    const origin = local?.origin;
    if (!origin) return { path: detail.path.join("."), message: text };
    const place = origin.locate(detail.path);
    return { path: formatPlace({ file: origin.file, ...place }), message: text, ...place };
  });
  return { action: "failed", error: { code, message, details: located } };
}

function buildSave({ kind, fields, stored }: AutomationChange, definition: AutomationFile): Call {
  const { origin: _, reEntryDelayHours, ...rest } = definition;
  const body = { ...rest, ...(reEntryDelayHours !== null && { reEntryDelayHours }) };
  if (kind === "create") return buildCall(contract.automations.create, [], {}, body);
  // Steps and connections are one definition.
  const changesGraph = fields.includes("steps") || fields.includes("connections");
  const changed = Object.entries(body).filter(([field]) =>
    field === "steps" || field === "connections" ? changesGraph : fields.includes(field),
  );
  const patch = { ...Object.fromEntries(changed), revision: stored?.revision };
  return buildCall(contract.automations.update, [stored?.id ?? ""], {}, patch);
}

/** `steps[2].templateId` as a path. */
function parsePath(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) => (index === undefined ? (name as string) : Number(index)));
}
