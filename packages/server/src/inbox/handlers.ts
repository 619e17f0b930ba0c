import { type contract, parseAnyAddress } from "@mailsvc/sdk/contract";
import { decodeAttachments } from "../emails/emails.ts";
import type { Handlers, PublicContext } from "../http/handler.ts";
import { simulateReply, simulateReport } from "../inbound/inbound.ts";
import { ApiError } from "../lib/api-error.ts";
import type { Arrivals } from "./arrivals.ts";
import {
  clearMail,
  clearTestMail,
  deleteMail,
  findFirstMail,
  findLastMailId,
  getMail,
  type InboxDeps,
  listMail,
  type MailRow,
  parseMail,
  toCapturedMail,
  toMailToAnswer,
  type WaitedMail,
} from "./inbox.ts";
import type { MailReleaser } from "./releaser.ts";
import { searchMail } from "./search.ts";

export function inboxHandlers(arrivals: Arrivals): Handlers<typeof contract.inbox, InboxDeps> {
  return {
    list: ({ text, ...input }, { deps }) =>
      text === undefined ? listMail(deps.db.read, input) : searchMail(deps.db.read, deps, { ...input, text }),
    wait: async (input, ctx) => parseMail(ctx.deps, await waitForMail(input, arrivals, ctx)),
    get: async ({ id }, { deps }) => parseMail(deps, await getMail(deps.db.read, id)),
    html: async ({ id }, { deps }) => {
      const { html } = await parseMail(deps, await getMail(deps.db.read, id));
      if (html === null) throw new ApiError("not_found", "This mail has no HTML part.");
      return html;
    },
    text: async ({ id }, { deps }) => {
      const { text } = await parseMail(deps, await getMail(deps.db.read, id));
      if (text === null) throw new ApiError("not_found", "This mail has no text part.");
      return text;
    },
    raw: async ({ id }, { deps }) => toSource(await getMail(deps.db.read, id)),
    reply: async ({ id, attachments, ...answer }, { deps }) => {
      const row = await getMail(deps.db.read, id);
      const files = await decodeAttachments({ attachments });
      const messageId = `<${deps.ids("mail")}@${parseAnyAddress(row.to).domain}>`;
      return simulateReply(deps, await toMailToAnswer(deps, row), { ...answer, attachments: files, messageId });
    },
    report: async ({ id, outcome }, { deps }) => {
      const { emailId, ...mail } = toCapturedMail(await getMail(deps.db.read, id));
      if (emailId === null) throw new ApiError("invalid_state", "This mail belongs to no email, so there is nothing to report.");
      await deps.db.tx((tx) => simulateReport(tx, deps, { emailId, to: mail.to }, outcome));
      return { emailId, ...mail };
    },
    delete: ({ id }, { deps }) => deps.db.tx((tx) => deleteMail(tx, id)),
    release: async ({ id, to }, { deps }) => deps.releaser.release((await getMail(deps.db.read, id)).raw, [to].flat()),
    clear: async (_input, { deps }) => ({ deleted: await clearMail(deps.db) }),
  };
}

/** The handlers of the inbox of test keys. */
export function testInboxHandlers(arrivals: Arrivals): Handlers<typeof contract.testInbox, InboxDeps> {
  return {
    list: ({ text, ...input }, { read, deps, workspaceId }) => {
      const own = { ...input, workspaceId, test: true as const };
      return text === undefined ? listMail(read, own) : searchMail(read, deps, { ...own, text });
    },
    wait: async (input, ctx) =>
      parseMail(ctx.deps, await waitForMail({ ...input, workspaceId: ctx.workspaceId, test: true }, arrivals, ctx)),
    get: async ({ id }, { read, deps, workspaceId }) => parseMail(deps, await getMail(read, id, workspaceId)),
    raw: async ({ id }, { read, workspaceId }) => toSource(await getMail(read, id, workspaceId)),
    delete: ({ id }, { tx, workspaceId }) => deleteMail(tx, id, workspaceId),
    release: {
      prepare: async ({ id, to }, { read, deps, workspaceId }) =>
        deps.releaser.release((await getMail(read, id, workspaceId)).raw, [to].flat()),
      run: async (_input, _context, answer: Awaited<ReturnType<MailReleaser["release"]>>) => answer,
    },
    clear: async (_input, { tx, workspaceId }) => ({ deleted: await clearTestMail(tx, workspaceId) }),
  };
}

/** The raw source, a byte a character. */
function toSource({ raw }: MailRow): string {
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1");
}

async function waitForMail(
  given: WaitedMail & { timeout: number },
  arrivals: Arrivals,
  { deps, signal: signalOf }: PublicContext<InboxDeps>,
): Promise<MailRow> {
  const { real } = deps.clock;
  const match = given.after === "now" ? { ...given, after: await findLastMailId(deps.db.read) } : given;
  const until = real.now() + match.timeout * 1000;
  const wanted = { workspaceId: (match.test && match.workspaceId) ?? null, to: match.to };
  const close = arrivals.open(wanted.workspaceId);
  // Ends the last waiting too, once the mail is there.
  const over = new AbortController();
  const signal = AbortSignal.any([signalOf(), over.signal]);
  try {
    while (!signal.aborted) {
      const left = until - real.now();
      // Listens before it reads, so that no arrival is missed in between.
      const arrival = arrivals.wait(wanted, Math.max(0, left), signal);
      const found = await findFirstMail(deps.db.read, match);
      if (found) return found;
      if (left <= 0) break;
      await arrival;
    }
  } finally {
    over.abort();
    close();
  }
  throw new ApiError("not_found", `No matching mail came within ${match.timeout} ${match.timeout === 1 ? "second" : "seconds"}.`, {
    hint: `See what did come: mailsvc ${match.test ? "test-inbox" : "inbox"} list`,
  });
}
