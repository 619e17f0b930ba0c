import { type contract, type HandlerInput, parseAddress, type TemplateSendResponse } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { Deps } from "../deps.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { checkSubject, compileOwnSubject, makeAllowance, renderForSending, resolveBySlug, type Sendable } from "../templates/templates.ts";
import { type Files, readFiles, send, type Wording } from "./send.ts";

type Request = Omit<HandlerInput<typeof contract.templates.send>, "slug">;

/** A template send whose mails are rendered, or the error that it comes to; what an Idempotency-Key repeats is not asked again. */
export interface Accepted {
  readonly failure?: ApiError;
  readonly ready?: {
    readonly request: Parameters<typeof send>[0];
    readonly files: Files;
    readonly wordings: ReadonlyMap<string, Wording>;
    readonly template: { readonly slug: string; readonly version: number };
  };
}

// Details of one answer; a batch of 50 may miss a hundred names each.
const MAX_DETAILS = 100;

/** Renders a template send, before its transaction begins (SPEC 2, 4). */
export function acceptTemplate(read: Reader, workspaceId: string, slug: string, request: Request): Promise<Accepted> {
  return accepted(request, () => resolveBySlug(read, workspaceId, slug));
}

/** Renders a test of one version. */
export function acceptTest(request: Pick<Request, "to" | "variables" | "from">, resolve: () => Promise<Sendable>): Promise<Accepted> {
  return accepted(request, resolve);
}

/**
 * Queues the mails of a template send, rendered as they will go out: what is published later does not change them. Throws
 * the error it came to, or what `send` throws.
 */
export async function sendAccepted({ failure, ready }: Accepted, tx: Tx, deps: Deps, workspaceId: string): Promise<TemplateSendResponse> {
  if (failure) throw failure;
  if (!ready) throw new Error("Neither an error nor anything to send.");
  const { request, files, wordings, template } = ready;
  const answer = await send(request, tx, deps, workspaceId, files, { wordings, name: `${template.slug}@${template.version}` });
  return { ...answer, template: template.slug };
}

/** A rendered subject, fit for a mail header. Throws ApiError validation_error. */
function toSubject(rendered: string | null): string {
  const subject = rendered ?? "";
  if (subject.trim() === "") throw invalid("subject", "required", "With these variables the subject is empty.");
  checkSubject(subject);
  return subject;
}

/** What each recipient gets. Recipients who get the same share one wording, so that it is stored once. */
async function wordingsFor(request: Request, sendable: Sendable): Promise<Map<string, Wording>> {
  const subject = request.subject === undefined ? undefined : await compileOwnSubject(request.subject);
  const common = request.variables ?? {};
  const personal = new Map(Object.entries(request.recipientVariables ?? {}).map(([to, values]) => [parseAddress(to).key, { to, values }]));
  const seen = new Map<string, Wording>();
  const left = makeAllowance();
  const render = (values: Readonly<Record<string, unknown>>, of: string): Wording => {
    const rendered = renderForSending(sendable, values, of, left, subject);
    const wording = { subject: toSubject(rendered.subject), html: rendered.html || null, text: rendered.text || null };
    if (wording.html === null && wording.text === null)
      throw new ApiError("template_error", "With these variables the mail is empty.", {
        details: [{ path: "", code: "empty", message: "Neither HTML nor text is left." }],
      });
    const key = JSON.stringify(wording);
    const before = seen.get(key);
    if (before) return before;
    seen.set(key, wording);
    return wording;
  };
  let shared: Wording | undefined;
  const wordings = new Map<string, Wording>();
  const missing: ApiError[] = [];
  for (const to of typeof request.to === "string" ? [request.to] : request.to) {
    const key = parseAddress(to).key;
    const own = personal.get(key);
    try {
      if (own) wordings.set(key, render({ ...common, ...own.values }, `recipientVariables.${own.to}`));
      else wordings.set(key, (shared ??= render(common, "variables")));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "missing_variables") throw error;
      missing.push(error);
    }
  }
  if (missing.length > 0) throw allMissing(missing);
  return wordings;
}

function allMissing(errors: readonly ApiError[]): ApiError {
  const [first] = errors as [ApiError];
  const seen = new Set<string>();
  const details = errors.flatMap((error) => error.details).filter(({ path }) => !seen.has(path) && seen.add(path));
  if (errors.length === 1) return first;
  return new ApiError("missing_variables", `The template needs variables that ${errors.length} recipients have no values for.`, {
    details: details.slice(0, MAX_DETAILS),
  });
}

async function accepted(request: Request, resolve: () => Promise<Sendable>): Promise<Accepted> {
  try {
    const sendable = await resolve();
    const from = request.from ?? sendable.from;
    if (from === null) throw invalid("from", "required", `from is required: the template ${sendable.slug} names no sender.`);
    const wordings = await wordingsFor(request, sendable);
    const { variables: _values, recipientVariables: _own, attachments, ...rest } = request;
    const replyTo = request.replyTo ?? sendable.replyTo ?? undefined;
    return {
      ready: {
        request: { ...rest, from, replyTo, subject: "" },
        files: attachments ? await readFiles(attachments) : [],
        wordings,
        template: { slug: sendable.slug, version: sendable.version },
      },
    };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    throw error;
  }
}
