import { addressKey, MEMBER_LIMITS, parseMailbox, SIGN_IN_LIMITS } from "@mailsvc/sdk/contract";
import { and, eq, isNull } from "drizzle-orm";
import type { Reader, Tx } from "../db/db.ts";
import { findRows } from "../db/find.ts";
import { renderMail } from "../html/mail.ts";
import { chooseTexts } from "../html/texts.ts";
import { ApiError } from "../lib/api-error.ts";
import { HOUR } from "../lib/units.ts";
import { hidePlacesOf } from "../mail/hide-places.ts";
import { type Mailer, type OutgoingMail, recordDeliveries } from "../mail/mailer.ts";
import { ATTEMPTS_OF_OWN_MAIL, type JobHandler, type NewJob, type Queue } from "../queue/queue.ts";
import type { MailCapture } from "../relays/deps.ts";
import { getWorkspace } from "../workspaces/workspaces.ts";
import type { SessionDeps } from "./deps.ts";
import { createMailedLink, LINK_MS } from "./links.ts";
import { type OidcConfig, usesProvider } from "./oidc-config.ts";
import type { MemberRow } from "./sessions.ts";

/** The job that mails a link to a member. */
export const MEMBER_MAIL_JOB = "members.mail";
/** The job that finds the members of an address that asked for a link. It is the same work for an address that nobody has invited. */
export const LINK_REQUEST_JOB = "members.request";

export interface MemberMailDeps extends SessionDeps, MailCapture {
  readonly mailer: Mailer;
  readonly queue: Pick<Queue, "enqueue">;
  readonly config: { readonly dev: boolean; readonly mailFrom: string; readonly oidc: OidcConfig | null };
}

interface MemberMail {
  readonly memberId: string;
  readonly invitation: boolean;
  /** Instant from which nobody waits for it any more, ms. */
  readonly until?: number;
}

const toJob = (mail: MemberMail): NewJob => ({ kind: MEMBER_MAIL_JOB, payload: { ...mail }, maxAttempts: ATTEMPTS_OF_OWN_MAIL });

/**
 * True if the service's own mail reaches people. Captured mail is read by every viewer of the workspace, and a link of an owner is not for
 * them; in dev mode everybody is the owner.
 */
export async function reachesPeople(read: Reader, { config, relays }: Pick<MemberMailDeps, "config" | "relays">): Promise<boolean> {
  return config.dev || !(await relays.capturesMail(read));
}

/** Plans an invitation. Throws ApiError limit_reached for the sixth mail within an hour. */
export async function enqueueInvitation(tx: Tx, { queue, clock }: MemberMailDeps, row: MemberRow): Promise<void> {
  if (isOverLimit(row, clock.now()))
    throw new ApiError("limit_reached", `${row.email} got ${MEMBER_LIMITS.mailsPerHour} mails within an hour.`, {
      hint: "Wait for an hour.",
    });
  await queue.enqueue(tx, toJob({ memberId: row.id, invitation: true }));
}

/** Plans the mails to an address that asked for a link: one for each workspace of which it is a member. */
export function requestLink({ db, queue }: Pick<MemberMailDeps, "db" | "queue">, email: string): Promise<void> {
  const address = addressKey(email);
  return db.tx(async (tx) =>
    queue.enqueue(tx, { kind: LINK_REQUEST_JOB, payload: { address }, dedupeKey: `${LINK_REQUEST_JOB} ${address}` }),
  );
}

/** Finds the members of an address, and plans a mail to each. */
export function findRequested(deps: MemberMailDeps): JobHandler {
  return async ({ payload }) => {
    const { members: t } = deps.db.read.t;
    const rows = await deps.db.read
      .select()
      .from(t)
      .where(and(eq(t.emailKey, String(payload.address)), isNull(t.removedAt)));
    const now = deps.clock.now();
    const mails = rows
      .filter((row) => !isOverLimit(row, now))
      .map(({ id }): MemberMail => ({ memberId: id, invitation: false, until: now + LINK_MS }));
    return {
      commit: async (tx) => {
        for (const mail of mails) await deps.queue.enqueue(tx, toJob(mail));
      },
    };
  };
}

/** Sends the mail with a link to a member. An invitation is tried for about a day, another link for as long as somebody waits for it. */
export function mailMember(deps: MemberMailDeps): JobHandler {
  return async ({ id, payload, attempt }) => {
    if (typeof payload.until === "number" && deps.clock.now() >= payload.until) return {};
    const [row] = await findRows(deps.db.read, deps.db.read.t.members, { id: String(payload.memberId) });
    if (!row || row.removedAt !== null || !(await reachesPeople(deps.db.read, deps))) return {};
    const isInvitation = payload.invitation === true;
    const { oidc } = deps.config;
    const url = await deps.db.tx(async (tx) => {
      // A member who is removed meanwhile gets no link: removal deletes those that are there.
      if (!(await countMail(tx, deps.clock.now(), row, attempt === 1 ? 1 : 0))) return null;
      // Who has an account at the provider signs in there, where the rules of their company hold.
      return usesProvider(oidc, row.email) ? `${deps.baseUrl()}/dashboard` : createMailedLink(tx, deps, row, isInvitation);
    });
    if (url === null) return {};
    const { name: workspace } = await getWorkspace(deps.db.read, row.workspaceId);
    const receipt = hidePlacesOf(await deps.mailer.send(buildMail(deps, { row, url, workspace, isInvitation, job: id }, attempt)));
    if (receipt.outcome === "sent" || receipt.outcome === "bounced") return {};
    if (receipt.outcome === "delivered") {
      const { record } = receipt;
      return record ? { commit: (tx) => recordDeliveries(tx, [record]) } : {};
    }
    throw new Error(`The mail with a link to sign in was not delivered: ${receipt.error.message}`);
  };
}

function isOverLimit({ mails, mailsSince }: MemberRow, now: number): boolean {
  return mails >= MEMBER_LIMITS.mailsPerHour && now - mailsSince < HOUR;
}

/** Counts mails to a member, and holds the member's row. False if they were removed. */
async function countMail(tx: Tx, now: number, { id, mails, mailsSince }: MemberRow, more: number): Promise<boolean> {
  const { members: t } = tx.t;
  const isOver = now - mailsSince >= HOUR;
  const updated = await tx
    .update(t)
    .set(isOver ? { mails: more, mailsSince: now } : { mails: mails + more })
    .where(and(eq(t.id, id), isNull(t.removedAt)))
    .returning({ id: t.id });
  return updated.length > 0;
}

interface MailParts {
  readonly row: MemberRow;
  readonly url: string;
  readonly workspace: string;
  readonly isInvitation: boolean;
  readonly job: string;
}

function buildMail(deps: MemberMailDeps, { row, url, workspace, isInvitation, job }: MailParts, attempt: number): OutgoingMail {
  const { mailFrom, oidc } = deps.config;
  const from = parseMailbox(mailFrom);
  const host = new URL(deps.baseUrl()).host;
  const atProvider = usesProvider(oidc, row.email);
  const life = isInvitation ? `${MEMBER_LIMITS.invitationHours} hours` : `${SIGN_IN_LIMITS.linkMinutes} minutes`;
  const texts = chooseTexts({}, ["en"]);
  const { html, text } = renderMail({
    brand: null,
    texts,
    baseUrl: deps.baseUrl(),
    title: isInvitation ? `${row.invitedBy} invites you to ${workspace}` : `Sign in to ${workspace}`,
    text: isInvitation
      ? `You can open the dashboard of ${host} as ${row.role}, with this address:`
      : `Sign in at ${host} with this address:`,
    name: row.email,
    button: { label: isInvitation ? "Accept the invitation" : "Sign in", url },
    notes: atProvider
      ? [`Sign in with ${new URL(oidc?.issuer ?? url).host}.`]
      : [
          `The link works once, within ${life}.${isInvitation ? ` Afterwards, enter your address at ${deps.baseUrl()}/dashboard to get another one.` : ""}`,
          isInvitation
            ? "If you do not expect this, ignore it."
            : "If you did not ask for it, ignore it: nobody can sign in without this mail.",
        ],
  });
  return {
    envelopeFrom: from.address,
    envelopeTo: row.email,
    messageId: `<${row.id}.${job}.${attempt}@${from.domain}>`,
    from: mailFrom,
    to: [{ name: "", address: row.email }],
    cc: [],
    replyTo: null,
    subject: isInvitation ? `Invitation to ${workspace}` : `Your link to sign in to ${workspace}`,
    text,
    html,
    headers: { "Auto-Submitted": "auto-generated" },
    attachments: [],
    date: deps.clock.now(),
    attempt,
    origin: { workspaceId: row.workspaceId, emailId: null },
  };
}
