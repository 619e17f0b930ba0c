import {
  addressKey,
  type ContactStatus,
  type Email,
  EventData,
  type EventType,
  type Explanation,
  MailboxText,
  parseMailbox,
} from "@mailsvc/sdk/contract";
import { type ContactRow, findContactByEmail, getContactRow } from "../contacts/contacts.ts";
import type { Reader } from "../db/db.ts";
import { listEmails } from "../emails/emails.ts";
import { type EventRow, listContactEvents } from "../events/events.ts";
import { ApiError, invalid } from "../lib/api-error.ts";
import { type Action, buildExplanation, joinSentences, type Moment, quote, toCall } from "../lib/explanation.ts";
import { findSuppressions, type SuppressionRow } from "../suppressions/suppressions.ts";
import type { ExplainDeps } from "./explain.ts";
import { describeSuppression } from "./suppression.ts";

// The latest of each that the timeline shows.
const EVENTS = 50;
const EMAILS = 10;

/** Explains a contact: what mail it gets, and since when and why. Throws ApiError not_found. */
export async function explainContact(read: Reader, deps: ExplainDeps, workspaceId: string, id: string): Promise<Explanation> {
  const contact = await getContactRow(read, workspaceId, id);
  return explainPerson(read, deps, workspaceId, { contact, address: contact.email });
}

/**
 * Explains an address, perhaps in a mailbox with a name: also one that is not a contact but had mail or is suppressed. Throws ApiError
 * not_found or validation_error.
 */
export async function explainAddress(read: Reader, deps: ExplainDeps, workspaceId: string, mailbox: string): Promise<Explanation> {
  const { error } = MailboxText.safeParse(mailbox);
  if (error) throw invalid("id", "invalid_address", error.issues[0]?.message ?? "This is not an address.");
  const { address } = parseMailbox(mailbox);
  const contact = await findContactByEmail(read, workspaceId, address);
  return explainPerson(read, deps, workspaceId, { contact, address: contact?.email ?? address });
}

interface Person {
  readonly contact: ContactRow | null;
  readonly address: string;
}

async function explainPerson(read: Reader, deps: ExplainDeps, workspaceId: string, { contact, address }: Person): Promise<Explanation> {
  const key = addressKey(address);
  const suppression = (await findSuppressions(read, workspaceId, [key])).get(key) ?? null;
  const emails = (await listEmails(read, deps, workspaceId, { test: false, to: address, page: 1, limit: EMAILS })).data;
  if (contact === null && suppression === null && emails.length === 0)
    throw new ApiError("not_found", `Nothing is known of ${address}: it is not a contact, got no mail and is not suppressed.`, {
      hint: "Look for a part of it, in case it is mistyped: mailsvc contacts list --search TEXT. Or add it: mailsvc contacts create --email ADDRESS.",
    });
  const events = contact === null ? [] : (await listContactEvents(read, contact.id)).slice(-EVENTS);
  return buildExplanation(
    {
      id: contact?.id ?? address,
      kind: "contact",
      title: contact === null ? `${address}, not a contact` : `Contact ${address}`,
      status: contact?.status ?? (suppression === null ? "unknown" : "suppressed"),
      summary: summarize(contact, suppression),
      moments: [
        ...events.map(describeContactEvent),
        ...emails.map(describeEmail),
        ...(suppression ? [{ at: suppression.updatedAt, what: "The address was suppressed", why: describeSuppression(suppression) }] : []),
      ],
      actions: listActions(contact, suppression, address),
      related: [suppression?.emailId, ...emails.map(({ id }) => id)],
    },
    { now: deps.clock.now(), dev: deps.config.dev },
  );
}

const BY_STATUS: Readonly<Record<ContactStatus, string>> = {
  SUBSCRIBED: "It is subscribed.",
  UNSUBSCRIBED: "It has unsubscribed: campaigns and automations skip it.",
  BOUNCED: "Mail to it bounced: campaigns and automations skip it.",
  COMPLAINED: "It reported mail as spam: campaigns and automations skip it.",
};

function summarize(contact: ContactRow | null, suppression: SuppressionRow | null): string {
  if (contact === null)
    return joinSentences(
      "It is not a contact of this workspace.",
      suppression ? describeSuppression(suppression) : "Mail can be sent to it.",
    );
  if (suppression === null)
    return contact.status === "SUBSCRIBED"
      ? "Subscribed: gets every kind of mail."
      : joinSentences(BY_STATUS[contact.status], "The address is not suppressed, so single emails reach it.");
  return joinSentences(BY_STATUS[contact.status], describeSuppression(suppression));
}

function listActions(contact: ContactRow | null, suppression: SuppressionRow | null, address: string): Action[] {
  return [
    ...(suppression
      ? [
          {
            what: "Let the address get mail again, if you know that it works and wants it",
            command: `mailsvc suppressions remove ${address}`,
            call: toCall("Allow mail again", "suppressions.delete", [suppression.id]),
          },
        ]
      : []),
    ...(contact !== null && contact.status !== "SUBSCRIBED"
      ? [
          {
            what: "Subscribe the contact again, if it asked for it",
            command: `mailsvc contacts update ${contact.id} --status SUBSCRIBED`,
            call: toCall("Subscribe again", "contacts.update", [contact.id], { status: "SUBSCRIBED" }),
          },
        ]
      : []),
  ];
}

const STATUS_WORDS: Readonly<Record<string, string>> = {
  "contact.subscribed": "Subscribed",
  "contact.unsubscribed": "Unsubscribed",
  "contact.bounced": "Marked as bounced",
  "contact.complained": "Marked as having complained",
};

const SOURCES: Readonly<Record<string, string>> = {
  api: "Through the API or the dashboard.",
  import: "By an import.",
  form: "By the form of a landing page.",
  automation: "By a step of an automation.",
  delivery: "Because of how an email was delivered.",
  unsubscribe: "By the unsubscribe link of an email.",
  preferences: "On the page of preferences.",
  bounce: "Because an email bounced.",
  complaint: "Because of a report of spam.",
};

function describeContactEvent({ type, at, data, emailId, automationId }: EventRow): Moment {
  const known = data ?? {};
  const cause = joinSentences(
    SOURCES[String(known["source"] ?? "")],
    emailId === null ? null : `Email: ${emailId}.`,
    automationId === null ? null : `Automation: ${automationId}.`,
  );
  return { at, what: describeChange(type, known), why: cause === "" ? null : cause };
}

function describeChange(type: string, data: Readonly<Record<string, unknown>>): string {
  const word = STATUS_WORDS[type];
  if (word !== undefined) return `${word}, was ${String(data["before"])}`;
  switch (type) {
    case "contact.created":
      return "Created";
    case "contact.updated":
      return `Changed: ${(data as EventData["contact.updated"]).changed.join(", ")}`;
    case "contact.tracked":
      return `Event ${quote((data as EventData["contact.tracked"]).name)}`;
    case "list.joined":
    case "list.left":
      return `${type === "list.joined" ? "Joined" : "Left"} the list ${String(data["listId"])}`;
    case "segment.entered":
    case "segment.left":
      return `${type === "segment.entered" ? "Entered" : "Left"} the segment ${String(data["segmentId"])}`;
    case "email.received":
      return "Answered an email";
    default:
      if (type.startsWith("automation.")) return `Automation: ${type.slice("automation.".length)}, entry ${String(data["entryId"])}`;
      return tellOccasion(type);
  }
}

/** The occasion of an event, as a line of a timeline; of one that this version does not know, its type. */
function tellOccasion(type: string): string {
  const occasion = EventData.shape[type as EventType]?.description;
  return occasion === undefined ? type : occasion.replace(/\.$/, "");
}

function describeEmail({ id, createdAt, subject, status }: Email): Moment {
  return { at: Date.parse(createdAt), what: `Email ${quote(subject)}: ${status}`, why: `Its story: mailsvc why ${id}` };
}
