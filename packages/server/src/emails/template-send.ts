import { type contract, type HandlerInput, listRecipients, parseAddress, type TemplateSendResponse } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import { toPlainTextInTurns } from "../html/plain-text.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { waitForTurn } from "../lib/turn.ts";
import {
  type CompiledTemplates,
  checkSubject,
  compileOwnSubject,
  makeAllowance,
  renderForSending,
  resolveBySlug,
  type Sendable,
  UNSUBSCRIBE_URL,
  VIEW_URL,
} from "../templates/templates.ts";
import { type AcceptedSend, acceptSend, type MessageContent, type Origin, type Request as SendRequest } from "./accept.ts";
import { type DecodedAttachments, decodeAttachments } from "./attachments.ts";
import type { EmailDeps } from "./deps.ts";
import { storeSends } from "./store-sends.ts";

type Request = Omit<HandlerInput<typeof contract.templates.send>, "slug">;

/** A template send with its mails rendered, or the error to answer. A repeat under an Idempotency-Key never looks at either. */
export interface PreparedSend {
  readonly failure?: ApiError;
  readonly ready?: {
    readonly request: SendRequest;
    readonly files: DecodedAttachments;
    readonly messages: ReadonlyMap<string, MessageContent>;
    readonly template: { readonly slug: string; readonly version: number };
  };
}

// Characters of HTML that are rendered in one stretch: a few milliseconds.
const STRETCH = 64 * 1024;

// Details in one answer: a batch of 50 may lack a hundred names each.
const MAX_DETAILS = 100;

/** Renders a template send before its transaction begins. */
export function prepareTemplateSend(
  read: Reader,
  cache: CompiledTemplates,
  workspaceId: string,
  slug: string,
  request: Request,
): Promise<PreparedSend> {
  return prepare(request, () => resolveBySlug(read, cache, workspaceId, slug));
}

/** Renders a test of one version. */
export function prepareTestSend(
  request: Pick<Request, "to" | "variables" | "from">,
  resolve: () => Promise<Sendable>,
): Promise<PreparedSend> {
  return prepare(request, resolve);
}

/** Checks a template send. Throws the error of the preparation, or what `acceptSend` throws. */
export async function acceptPrepared({ failure, ready }: PreparedSend, tx: Tx, deps: EmailDeps, origin: Origin): Promise<AcceptedSend> {
  if (failure) throw failure;
  if (!ready) throw new Error("The preparation gave neither an error nor a send.");
  const { request, files, messages, template } = ready;
  return acceptSend(tx, deps, { ...origin, request, files, template: { ...template, messages } });
}

/**
 * Queues the mails of template sends, and answers in their order. They are rendered already: a version published later does not change
 * them.
 */
export async function storeTemplateSends(tx: Tx, deps: EmailDeps, sends: readonly AcceptedSend[]): Promise<TemplateSendResponse[]> {
  const answers = await storeSends(tx, deps, sends);
  return answers.map((answer, i) => ({ ...answer, template: sends[i]?.template?.slug ?? "" }));
}

/** Checks that a rendered subject fits into a mail header. Throws ApiError validation_error. */
function toSubject(rendered: string | null): string {
  const subject = rendered ?? "";
  if (subject.trim() === "") throw invalid("subject", "required", "With these variables, the subject is empty.");
  checkSubject(subject);
  return subject;
}

/** The message of each recipient, by key. Recipients of the same message share one object, so that it is stored once. */
async function renderContents(request: Request, sendable: Sendable): Promise<Map<string, MessageContent>> {
  const subject = request.subject === undefined ? undefined : await compileOwnSubject(request.subject);
  const common = { unsubscribeUrl: UNSUBSCRIBE_URL, viewInBrowserUrl: VIEW_URL, ...request.variables };
  const personal = new Map(Object.entries(request.recipientVariables ?? {}).map(([to, values]) => [parseAddress(to).key, { to, values }]));
  const seen = new Map<string, MessageContent>();
  const left = makeAllowance();
  let stretch = 0;
  const render = async (values: Readonly<Record<string, unknown>>, of: string): Promise<MessageContent> => {
    const rendered = renderForSending(sendable, values, of, left, subject);
    const html = rendered.html || null;
    stretch += html?.length ?? 0;
    if (stretch > STRETCH) {
      await waitForTurn();
      stretch = 0;
    }
    const text = rendered.text ?? (html === null ? null : await toPlainTextInTurns(html));
    const message = { subject: toSubject(rendered.subject), html, text: text || null };
    if (message.html === null && message.text === null)
      throw new ApiError("template_error", "With these variables, the email is empty.", {
        details: [{ path: "", code: "empty", message: "It has neither HTML nor text." }],
      });
    const key = JSON.stringify(message);
    const before = seen.get(key);
    if (before) return before;
    seen.set(key, message);
    return message;
  };
  let shared: MessageContent | undefined;
  const messages = new Map<string, MessageContent>();
  const missing: Missing[] = [];
  const boxes = listRecipients(request).map(({ box }) => box);
  for (const { key, address } of boxes) {
    const own = personal.get(key);
    try {
      if (own) messages.set(key, await render({ ...common, ...own.values }, `recipientVariables.${own.to}`));
      else messages.set(key, (shared ??= await render(common, "variables")));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "missing_variables") throw error;
      missing.push({ to: address, error });
    }
  }
  const [first] = missing;
  if (first) throw boxes.length === 1 ? first.error : mergeMissing(missing);
  return messages;
}

/** A recipient for whom the template cannot be rendered. */
interface Missing {
  readonly to: string;
  readonly error: ApiError;
}

/** One error for all recipients without a value of a variable, which tells who they are. */
function mergeMissing(missing: readonly Missing[]): ApiError {
  const byPath = Map.groupBy(
    missing.flatMap(({ to, error }) => error.details.map((detail) => ({ to, detail }))),
    ({ detail }) => detail.path,
  );
  const details = [...byPath.values()].map((of) => {
    const { message, ...detail } = (of[0] as (typeof of)[number]).detail;
    return { ...detail, message: `${message.replace(/\.$/, "")} for ${listSome(of.map(({ to }) => to))}.` };
  });
  const whom = listSome(missing.map(({ to }) => to));
  return new ApiError("missing_variables", `The template needs variables that have no values for ${whom}.`, {
    details: details.slice(0, MAX_DETAILS),
  });
}

/** The first three of some addresses, and how many more there are. */
function listSome(addresses: readonly string[]): string {
  const more = addresses.length - 3;
  return `${addresses.slice(0, 3).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

async function prepare(request: Request, resolve: () => Promise<Sendable>): Promise<PreparedSend> {
  try {
    const sendable = await resolve();
    const from = request.from ?? sendable.from;
    if (from === null) throw invalid("from", "required", `from is required, because the template ${sendable.slug} has no sender.`);
    const messages = await renderContents(request, sendable);
    const { variables: _values, recipientVariables: _own, attachments, icalEvent, ...rest } = request;
    const replyTo = request.replyTo ?? sendable.replyTo ?? undefined;
    return {
      ready: {
        request: { ...rest, from, replyTo, subject: "" },
        files: attachments || icalEvent ? await decodeAttachments({ attachments, icalEvent }) : [],
        messages,
        template: { slug: sendable.slug, version: sendable.version },
      },
    };
  } catch (error) {
    if (error instanceof ApiError) return { failure: error };
    throw error;
  }
}
