import { isUtf8 } from "node:buffer";
import { FORM_FIELDS, NewContact } from "@mailsvc/sdk/contract";
import { sql } from "drizzle-orm";
import { findContactByEmail, upsertContact } from "../../contacts/contacts.ts";
import type { Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../lib/api-error.ts";
import { addMembers } from "../../lists/members.ts";
import type { PageRow } from "./address.ts";
import { consentOf, type Faults, TRAP } from "./look/form.ts";
import { dayOf } from "./salt.ts";

const FIELDS = ["email", ...FORM_FIELDS] as const;

/** What a visitor has typed, if it can be used. */
export type Signup = Pick<NewContact, "email" | "firstName" | "lastName" | "phone">;

export type Reading = { readonly signup: Signup } | { readonly faults: Faults } | { readonly trapped: true };

const SENTENCES: Readonly<Record<(typeof FIELDS)[number], string>> = {
  email: "Please type your email address, like ada@example.com.",
  firstName: "Please type a shorter first name, on one line.",
  lastName: "Please type a shorter last name, on one line.",
  phone: "Please type a shorter phone number, on one line.",
};

/** Reads a form as browsers send it. Only the fields the page asks for are read. Throws ApiError validation_error. */
export function readForm(page: PageRow, bytes: Uint8Array): Reading {
  const sent = new URLSearchParams(Buffer.from(bytes).toString());
  // What stands behind a % and is no UTF-8 has become this character by now.
  if (!isUtf8(bytes) || [...sent.values()].some((value) => value.includes("\ufffd")))
    throw new ApiError("validation_error", "The form is not valid UTF-8.");
  if ((sent.get(TRAP) ?? "") !== "") return { trapped: true };
  const asked: readonly string[] = ["email", ...(page.form?.fields ?? [])];
  const values: Record<string, string> = {};
  for (const name of FIELDS) if (asked.includes(name)) values[name] = (sent.get(name) ?? "").slice(0, 1000);
  const wrong: Record<string, string> = {};
  // Of two values nobody can say which one was meant.
  for (const name of Object.keys(values)) if (sent.getAll(name).length > 1) wrong[name] = "This came more than once. Please type it once.";
  const checked = NewContact.safeParse(values);
  for (const issue of checked.error?.issues ?? []) {
    const name = FIELDS.find((one) => one === issue.path[0]) ?? "email";
    wrong[name] ??= SENTENCES[name];
  }
  if (page.form?.consentCheckbox && sent.get("consent") !== "yes") wrong.consent = "Please tick the box to go on.";
  return checked.success && Object.keys(wrong).length === 0 ? { signup: checked.data } : { faults: { values: shown(values), wrong } };
}

/**
 * Takes a sign-up: the contact is created, or completed where it exists, and joins the list of the page. It is counted
 * whether the address was known or not, so that no number tells.
 */
export async function signUp(deps: Deps, page: PageRow, brandName: string, signup: Signup): Promise<void> {
  const attempt = () => deps.db.tx((tx) => write(tx, deps, page, brandName, signup));
  try {
    await attempt();
  } catch (error) {
    // The same address came twice at once, by two servers: the other one's contact is there now.
    if (!(error instanceof UniqueViolation)) throw error;
    await attempt();
  }
}

/** Values as a field can show them: a page holds no control characters. */
function shown(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replace(/\p{Cc}/gu, " ")]));
}

/** Puts a contact on the page's list. What stands in the way of that is the brand's affair, and no reason to refuse a visitor. */
async function join(tx: Tx, deps: Deps, { workspaceId, id, listId }: PageRow, contactId: string): Promise<void> {
  if (listId === null) return;
  try {
    await addMembers(tx, deps, workspaceId, listId, [contactId]);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.log.warn("a sign-up could not join the list of its page", { pageId: id, listId, code: error.code });
  }
}

async function write(tx: Tx, deps: Deps, page: PageRow, brandName: string, { email, ...fields }: Signup): Promise<void> {
  const { workspaceId } = page;
  const before = await findContactByEmail(tx, workspaceId, email);
  // Anybody can type anybody's address: what is known of a contact is not written over.
  const news = Object.fromEntries(FORM_FIELDS.flatMap((name) => (fields[name] && !before?.[name] ? [[name, fields[name]]] : [])));
  const { contact } = await upsertContact(tx, deps, workspaceId, { email, ...news }, "form");
  // Who has left, or may get no mail, is not put on a list by a form either.
  if (contact.status === "SUBSCRIBED") await join(tx, deps, page, contact.id);
  const now = deps.clock.now();
  const { landingPageSubmissions: s, landingPageDays: d } = tx.t;
  await tx.insert(s).values({
    id: deps.ids("sub"),
    workspaceId,
    pageId: page.id,
    contactId: contact.id,
    consentText: consentOf(page.form, brandName),
    listId: page.listId,
    createdAt: now,
  });
  await tx
    .insert(d)
    .values({ pageId: page.id, date: dayOf(now), views: 0, visitors: 0, submissions: 1 })
    .onConflictDoUpdate({ target: [d.pageId, d.date], set: { submissions: sql`${d.submissions} + 1` } });
}
