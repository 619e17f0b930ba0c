import { EXPLAINED_IDS, type ExplainedPrefix, type Explanation, type Permission, readContactRef } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import type { EmailDeps } from "../emails/deps.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import { fromUuid } from "../lib/uuids.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Queue } from "../queue/queue.ts";

export { explainAddress, explainContact } from "./contact.ts";
export { explainEmail } from "./email.ts";

/** An object to explain, by id or address: with `recipient` that recipient's copy of an email, with `activation` a run. */
interface Question {
  readonly workspaceId: string;
  readonly id: string;
  readonly recipient?: string | undefined;
  readonly activation?: string | undefined;
}

/** Explains one kind of object. */
export interface Explainer<Deps> {
  /** Permission that a key needs to read it. */
  readonly permission: Permission;
  /** Explains it, or gives the id of what it is about, which explains it. Throws ApiError not_found. */
  readonly explain: (read: Reader, deps: Deps, question: Question) => Promise<Explanation | About>;
}

/** The id of another object that explains this one, perhaps with a recipient if that is an email. */
interface About {
  readonly about: string;
  readonly recipient?: string;
}

/** The explainers of each prefix of ids, in the order in which they are asked: the first that finds the object answers. */
export type Explainers<Deps> = Readonly<Record<ExplainedPrefix | "address" | "externalId", readonly Explainer<Deps>[]>>;

/** The caller, by its key. */
interface Asker {
  readonly owner: boolean;
  readonly permissions: ReadonlySet<string>;
}

/**
 * Explains an object by its id. `address` explains addresses, `externalId` what has no prefix that is known: contacts have ids of
 * their owner's, and runs ids of agents'; with an activation it is one of those. Throws ApiError not_found or forbidden.
 */
export async function explain<Deps extends ExplainDeps>(
  explainers: Explainers<Deps>,
  read: Reader,
  deps: Deps,
  asker: Asker,
  question: Question,
): Promise<Explanation> {
  const { id } = question;
  const kind = findKind(question);
  const all = explainers[kind];
  const allowed = all.filter(({ permission }) => asker.owner || asker.permissions.has(permission));
  let missing: ApiError | null = null;
  for (const { explain: answer } of allowed) {
    try {
      const found = await answer(read, deps, question);
      if (!("about" in found)) return found;
      const { about, recipient = question.recipient } = found;
      return await explain(explainers, read, deps, asker, { ...question, id: about, recipient });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "not_found") throw error;
      missing ??= error;
    }
  }
  // Whatever a key may read, an id of no kind is nothing: agents' own ids of runs come with their activation.
  if (kind === "externalId") return explainUuid(explainers, read, deps, asker, question);
  const lacking = all.find((one) => !allowed.includes(one));
  if (lacking !== undefined) throw lacks(lacking.permission);
  throw kind === "run" && !id.startsWith("run_") ? nothingHas(id) : missing;
}

/** Explains an object by the UUID that programs of Resend know it by. Throws ApiError not_found. */
async function explainUuid<Deps extends ExplainDeps>(
  explainers: Explainers<Deps>,
  read: Reader,
  deps: Deps,
  asker: Asker,
  question: Question,
): Promise<Explanation> {
  const { id } = question;
  const owns = Object.keys(EXPLAINED_IDS).map((prefix) => fromUuid(prefix, id));
  for (const own of owns.filter((one) => one !== id)) {
    try {
      return await explain(explainers, read, deps, asker, { ...question, id: own });
    } catch (error) {
      // A key need not read every kind of object that the UUID could be of.
      if (!(error instanceof ApiError) || (error.code !== "not_found" && error.code !== "forbidden")) throw error;
    }
  }
  throw nothingHas(id);
}

/** The error for an id that no explainable object has. Its prefix may be missing, or be that of an existing list or template. */
function nothingHas(id: string): ApiError {
  return new ApiError("not_found", `Nothing that can be explained has the id ${JSON.stringify(id.slice(0, 100))} in this workspace.`, {
    hint: `Give an address, the externalId of a contact, or the id of one of these: ${Object.values(EXPLAINED_IDS).flat().join(", ")}.`,
  });
}

function findKind({ id, activation }: Question): keyof Explainers<never> {
  if (readContactRef(id) === "email") return "address";
  const prefix = id.slice(0, Math.max(0, id.indexOf("_")));
  if (isExplained(prefix)) return prefix;
  return activation === undefined ? "externalId" : "run";
}

function isExplained(prefix: string): prefix is ExplainedPrefix {
  return Object.hasOwn(EXPLAINED_IDS, prefix);
}

function lacks(permission: Permission): ApiError {
  return new ApiError("forbidden", `This API key lacks the permission ${permission}.`, {
    details: [{ path: "", code: "missing_permission", message: permission }],
  });
}

export interface ExplainDeps {
  readonly clock: Clock;
  readonly config: { readonly dev: boolean };
  readonly mailer: Mailer;
  readonly queue: Queue;
  readonly renderHooks: EmailDeps["renderHooks"];
}
