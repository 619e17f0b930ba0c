import { parseMailbox } from "@mailsvc/sdk/contract";
import { explainNoMail } from "../../contacts/contacts.ts";
import { sendRendered } from "../../emails/emails.ts";
import { isVerified } from "../../senders/senders.ts";
import { findSuppressed } from "../../suppressions/suppressions.ts";
import { type PreparedMail, prepareMail, renderMail } from "../mail.ts";
import { type EntryAt, inGroups, type StepContext, type StepKind, type StepOf, type StepResult } from "./step.ts";

/** Queues marketing mail: only to subscribed contacts that no suppression names. */
export const sendEmail: StepKind<"send_email"> = {
  perform: async (context, entries) => {
    const mails = new Map<EntryAt, PreparedMail>();
    for (const at of entries) mails.set(at, await prepare(context, at));
    return inGroups(
      entries,
      (at) => {
        const mail = mails.get(at) as PreparedMail;
        return "skip" in mail ? "" : JSON.stringify([mail.from, mail.replyTo, mail.name]);
      },
      (group) => send(context, group, mails),
    );
  },
  foresee: async ({ read, deps, automation: { workspaceId }, templates }, { contact, event }, step) => {
    const barred = explainNoMail(contact);
    if (barred !== null) return { skip: barred };
    const mail = await prepareMail(read, deps.compiledTemplates, contact, step, templates, event);
    if ("skip" in mail) return mail;
    const email = { from: mail.from, subject: mail.content.subject };
    if (!(await isVerified(read, deps, workspaceId, parseMailbox(mail.from)))) return { skip: "sender_not_verified", email };
    const suppressed = await findSuppressed(read, workspaceId, [contact.emailKey]);
    return suppressed.size > 0 ? { skip: "recipient_suppressed", email } : { email };
  },
};

async function prepare({ tx }: StepContext, { entry, contact, step, templates }: EntryAt<StepOf<"send_email">>): Promise<PreparedMail> {
  const barred = explainNoMail(contact);
  if (barred !== null) return { skip: barred };
  return renderMail(tx, templates.get(step.templateId) ?? { skip: "template_not_found" }, step, contact, entry.event);
}

/** Sends mails with the same sender and template. */
async function send(
  { tx, deps, automation }: StepContext,
  group: readonly EntryAt[],
  mails: ReadonlyMap<EntryAt, PreparedMail>,
): Promise<StepResult[]> {
  const skipped = group.map((at): StepResult | null => {
    const mail = mails.get(at) as PreparedMail;
    return "skip" in mail ? { outcome: "skipped", reason: mail.skip } : null;
  });
  const ready = group.flatMap((at) => {
    const mail = mails.get(at) as PreparedMail;
    return "skip" in mail ? [] : [{ contact: at.contact, ...mail }];
  });
  const [first] = ready;
  if (!first) return skipped as StepResult[];
  const ids = await sendRendered(tx, deps, automation.workspaceId, { ...first, template: first.name, automationId: automation.id }, ready);
  return ids.map((emailId) => (emailId === null ? { outcome: "skipped", reason: "recipient_suppressed" } : { outcome: "done", emailId }));
}
