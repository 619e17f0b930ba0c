import { listAddresses, type MailsTo, parseMailbox, readContactRef } from "@mailsvc/sdk/contract";
import type { Api } from "./api.ts";
import type { McpSettings } from "./config.ts";
import type { Operation } from "./operations.ts";
import { ToolError } from "./tool-error.ts";

/** People whom a write reaches. */
export interface Reach {
  /** Null when it cannot be known before. */
  readonly people: number | null;
  /** True if the state of the server, such as its automations, decides whether any mail is sent. */
  readonly isPossible?: boolean;
  /** Their addresses, if the call names them; null if it does not. */
  readonly addresses: readonly string[] | null;
  /** For the person who is asked: what is sent, and from whom. */
  readonly what: string;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Finds out whom a write reaches; null for nobody. Throws ToolError when that is more than the limits allow. */
export async function assertReach(
  operation: Operation,
  input: Arguments,
  { api, settings }: { api: Api; settings: McpSettings },
): Promise<Reach | null> {
  const { mailsTo = "unknown" } = operation.endpoint;
  if (mailsTo === "nobody") return null;
  const reach = await findReach(mailsTo, api, input);
  assertAllowed(reach, settings);
  return reach;
}

async function findReach(mailsTo: Exclude<MailsTo, "nobody">, api: Api, input: Arguments): Promise<Reach> {
  switch (mailsTo) {
    case "unknown":
      return UNKNOWN;
    case "one":
      return {
        people: 1,
        isPossible: true,
        addresses: readAddresses([input.email ?? input.contact]),
        what: "This may send mail",
      };
    case "contacts":
      return countContacts(input);
    case "audience":
      return countAudience(api, input);
    case "answer":
      return nameAnswered(api, input);
    case "proposal":
      return countProposed(api, input);
    default:
      return nameRecipients(mailsTo, input);
  }
}

/** The contacts that a call names: each may enter automations, or be asked to confirm, and get mail by that. */
function countContacts({ contacts, rows, events }: Arguments): Reach {
  const named = [contacts, rows, events].flatMap((list) => (Array.isArray(list) ? list : [])).map(readContact);
  const known = new Set(named.map((one) => (typeof one === "string" ? toAddress(one) : one)));
  return { people: known.size, isPossible: true, addresses: readAddresses(named), what: "This may send mail" };
}

/** The id or address of a contact, or of a row with one. The API refuses anything else. */
function readContact(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given;
  return "email" in given ? given.email : "contact" in given ? given.contact : given;
}

/** Addresses of contacts; null if one is named otherwise, such as by its id. */
function readAddresses(contacts: readonly unknown[]): readonly string[] | null {
  const texts = contacts.filter((one) => typeof one === "string" && readContactRef(one) === "email");
  return texts.length === contacts.length ? [...new Set(texts.map((one) => toAddress(one as string)))] : null;
}

/** The addresses that a received mail names for answers: its sender has chosen them. */
async function nameAnswered(api: Api, { id, from }: Arguments): Promise<Reach> {
  const mail = await api.get("received", "get", { id });
  const addresses = [...new Set(mail.replyTo.map(toAddress))];
  if (addresses.length === 0) throw new ToolError("This mail has no address that an answer could go to.");
  const sender = typeof from === "string" ? `, from ${toLine(from)}` : "";
  return { people: addresses.length, addresses, what: `an answer to "${toLine(mail.subject)}"${sender}` };
}

const UNKNOWN: Reach = { people: null, addresses: null, what: "This may send mail" };

function nameRecipients(kind: "named" | "batch", input: Arguments): Reach {
  const mails = kind === "batch" ? toMails(input.emails) : [input];
  const texts = mails.flatMap(({ to, cc, bcc }) => [to, cc, bcc].flatMap(toTexts));
  const addresses = [...new Set(texts.map(toAddress))];
  if (addresses.length === 0) throw new ToolError("This call names nobody to send to.");
  const [first] = mails;
  const subject = typeof first?.subject === "string" ? `"${toLine(first.subject)}"` : "a mail";
  const from = typeof first?.from === "string" ? `, from ${toLine(first.from)}` : "";
  return { people: addresses.length, addresses, what: mails.length === 1 ? `${subject}${from}` : `${mails.length} mails` };
}

async function countAudience(api: Api, input: Arguments): Promise<Reach> {
  const [campaign, audience] = await Promise.all([
    api.get("campaigns", "get", { id: input.id }),
    api.get("campaigns", "audience", { id: input.id }),
  ]);
  return {
    people: audience.subscribed,
    addresses: null,
    what: `the campaign "${toLine(campaign.name)}" ("${toLine(campaign.subjectLine)}"), from ${toLine(campaign.fromEmail)}`,
  };
}

/** The people whom a proposal would reach. Another answer than to send it may make an agent do what is not known. */
async function countProposed(api: Api, input: Arguments): Promise<Reach> {
  if (input.create !== "send") return UNKNOWN;
  const { proposal, agentName } = await api.get("approvals", "get", { id: input.id });
  if (proposal === null) return UNKNOWN;
  const chosen = input.lists === undefined ? proposal.reach : null;
  return {
    people: chosen,
    addresses: null,
    what: `the campaign "${toLine(proposal.name)}" ("${toLine(proposal.subject)}") of ${toLine(agentName)}`,
  };
}

function assertAllowed({ people, addresses }: Reach, { maxRecipients, allowTo }: McpSettings): void {
  if (maxRecipients !== null && (people === null || people > maxRecipients))
    throw new ToolError(
      people === null
        ? `How many people this reaches is not known before, and at most ${maxRecipients} are allowed.`
        : `This would reach ${toCount(people)}. At most ${maxRecipients} are allowed.`,
      "The limit was set when this server was started; a person can use the command line instead.",
    );
  if (allowTo.length === 0) return;
  const outside = addresses?.find((address) => !allowTo.some((domain) => address.endsWith(`@${domain}`)));
  if (addresses === null || outside !== undefined)
    throw new ToolError(
      addresses === null ? "Mail to people whom the call does not name is not allowed." : `Mail to ${outside} is not allowed.`,
      `Only these domains are: ${allowTo.join(", ")}.`,
    );
}

/** "1 person", "4,812 people". */
export function toCount(people: number): string {
  return `${people.toLocaleString("en-US")} ${people === 1 ? "person" : "people"}`;
}

/** A text of others on one line, short. */
function toLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length > 100 ? `${line.slice(0, 100)}…` : line;
}

/** The mails of a batch. The API refuses anything else. */
function toMails(emails: unknown): readonly Arguments[] {
  return Array.isArray(emails) ? emails.filter((mail): mail is Arguments => typeof mail === "object" && mail !== null) : [];
}

function toTexts(field: unknown): readonly string[] {
  if (typeof field === "string") return listAddresses(field);
  return Array.isArray(field) ? field.filter((item) => typeof item === "string") : [];
}

/** The address of a mailbox in lower case. The API refuses anything else. */
function toAddress(text: string): string {
  try {
    return parseMailbox(text).key;
  } catch {
    return text.toLowerCase();
  }
}
