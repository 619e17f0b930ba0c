import { isUtf8 } from "node:buffer";
import {
  FORM_FIELDS,
  type FormField,
  type LandingPageSubmission,
  NewContact,
  type Page,
  type PersonSignUp,
  parseAddress,
} from "@mailsvc/sdk/contract";
import { desc, eq, sql } from "drizzle-orm";
import { findContactByEmail, holdContacts, isReachableDomain, upsertContact } from "../../contacts/contacts.ts";
import type { Reader, Tx } from "../../db/db.ts";
import { UniqueViolation } from "../../db/errors.ts";
import { listPage, type PageInput } from "../../db/pagination.ts";
import type { PageBrand } from "../../html/page.ts";
import type { Texts } from "../../html/texts.ts";
import { ApiError } from "../../lib/api-error.ts";
import { iso } from "../../lib/clock.ts";
import { addMembers } from "../../lists/lists.ts";
import { unsubscribe } from "../../unsubscribe/unsubscribe.ts";
import { getPageRow, type PageDeps, type PageRow } from "./pages.ts";
import { type FormErrors, getConsentText, HONEYPOT } from "./render.ts";
import { toDate } from "./stats.ts";

const FIELDS = ["email", ...FORM_FIELDS] as const;

/** The fields of a valid form. */
type Signup = Pick<NewContact, "email" | FormField>;

/** A page as its visitor read it. */
interface ReadPage {
  readonly brand: PageBrand;
  readonly texts: Texts;
}

/** A form: valid, refused, or filled by a bot. */
type FormReading = { readonly signup: Signup } | { readonly errors: FormErrors } | { readonly bot: true };

/** Reads a form as browsers send it. Only the fields the page asks for are read. Throws ApiError validation_error. */
export function readForm(page: PageRow, texts: Texts, bytes: Uint8Array, config: PageDeps["config"]): FormReading {
  const sent = new URLSearchParams(Buffer.from(bytes).toString());
  // URLSearchParams writes this character in place of invalid UTF-8.
  if (!isUtf8(bytes) || [...sent.values()].some((value) => value.includes("\ufffd")))
    throw new ApiError("validation_error", "The form is not valid UTF-8.");
  if ((sent.get(HONEYPOT) ?? "") !== "") return { bot: true };
  const asked: readonly string[] = ["email", ...(page.form?.fields ?? [])];
  const values: Record<string, string> = {};
  for (const name of FIELDS) if (asked.includes(name)) values[name] = (sent.get(name) ?? "").slice(0, 1000);
  const wrong: Record<string, string> = {};
  // Two values for one field are refused: the one that was meant is unknown.
  for (const name of Object.keys(values)) if (sent.getAll(name).length > 1) wrong[name] = texts.say("wrongTwice");
  const checked = NewContact.safeParse(values);
  for (const issue of checked.error?.issues ?? []) {
    const name = FIELDS.find((one) => one === issue.path[0]) ?? "email";
    wrong[name] ??= texts.say(name === "email" ? "wrongEmail" : issue.code === "too_big" ? "wrongTooLong" : "wrongLine");
  }
  if (checked.success && !isReachableDomain(config, parseAddress(checked.data.email).domain)) wrong.email ??= texts.say("wrongEmail");
  if (page.form?.consentCheckbox && sent.get("consent") !== "yes") wrong.consent = texts.say("wrongConsent");
  return checked.success && Object.keys(wrong).length === 0
    ? { signup: checked.data }
    : { errors: { values: removeControls(values), wrong } };
}

/** A sign-up that waits to be recorded. */
interface WaitingSignUp {
  readonly page: PageRow;
  readonly read: ReadPage;
  readonly signup: Signup;
  done(): void;
  failed(error: unknown): void;
}

// Sign-ups in one transaction; others wait for it.
const TOGETHER = 20;

/**
 * Records sign-ups: creates or completes the contact and adds it to the page's list. Each is counted whether or not the address was known,
 * so that no number reveals it. Those of a page that arrive during a transaction are recorded together in the next one: they write the same
 * rows, and would make each other fail on Postgres.
 */
export class SignUps {
  readonly #deps: PageDeps;
  readonly #lines = new Map<string, WaitingSignUp[]>();

  constructor(deps: PageDeps) {
    this.#deps = deps;
  }

  /** Resolves once the sign-up is stored. */
  add(page: PageRow, read: ReadPage, signup: Signup): Promise<void> {
    return new Promise((done, failed) => {
      const one = { page, read, signup, done, failed };
      const line = this.#lines.get(page.id);
      if (line) line.push(one);
      else void this.#record(page.id, [one]);
    });
  }

  async #record(pageId: string, line: WaitingSignUp[]): Promise<void> {
    this.#lines.set(pageId, line);
    while (line.length > 0) {
      const batch = line.splice(0, TOGETHER);
      const stored =
        batch.length > 1 &&
        (await this.#store(batch).then(
          () => true,
          () => false,
        ));
      for (const one of batch) {
        if (stored) one.done();
        // Alone, so that one that fails keeps no other from being stored.
        else await this.#storeAlone(one).then(one.done, one.failed);
      }
    }
    this.#lines.delete(pageId);
  }

  async #storeAlone(one: WaitingSignUp): Promise<void> {
    try {
      await this.#store([one]);
    } catch (error) {
      // Another server created the same contact at the same time.
      if (!(error instanceof UniqueViolation)) throw error;
      await this.#store([one]);
    }
  }

  #store(batch: readonly WaitingSignUp[]): Promise<void> {
    return this.#deps.db.tx(async (tx) => {
      for (const { page, read, signup } of batch) await recordSignup(tx, this.#deps, page, read, signup);
    });
  }
}

/**
 * Unsubscribes an address that a visitor entered, if it is a contact's. As with sign-ups, anyone can enter any address; the
 * brand sees the suppression and can lift it. Returns the address; null when it is none.
 */
export async function unsubscribeByForm(deps: PageDeps, { workspaceId }: PageRow, bytes: Uint8Array): Promise<string | null> {
  const sent = new URLSearchParams(Buffer.from(bytes).toString()).get("email");
  const checked = NewContact.shape.email.safeParse(sent);
  if (!checked.success) return null;
  const email = checked.data;
  await deps.db.tx(async (tx) => {
    if (await findContactByEmail(tx, workspaceId, email)) await unsubscribe(tx, deps, { workspaceId, email }, "page");
  });
  return email;
}

/** The sign-ups of a page, newest first. Throws ApiError not_found. */
export async function listSubmissions(
  read: Reader,
  workspaceId: string,
  id: string,
  input: PageInput,
): Promise<Page<LandingPageSubmission>> {
  const page = await getPageRow(read, { workspaceId, activationId: null }, id);
  const { landingPageSubmissions: t } = read.t;
  const where = eq(t.pageId, page.id);
  return listPage(read, input, {
    table: t,
    where,
    toItem: (row) => ({
      id: row.id,
      contactId: row.contactId,
      consentText: row.consentText,
      listId: row.listId,
      createdAt: iso(row.createdAt),
    }),
  });
}

/** The sign-ups of a contact, newest first. */
export async function listSignUpsOfContact(read: Reader, contactId: string): Promise<PersonSignUp[]> {
  const { landingPageSubmissions: t } = read.t;
  const rows = await read.select().from(t).where(eq(t.contactId, contactId)).orderBy(desc(t.id));
  return rows.map(({ id, pageId, consentText, listId, createdAt }) => ({
    id,
    landingPageId: pageId,
    consentText,
    listId,
    createdAt: iso(createdAt),
  }));
}

/** Leaves the sign-ups of a deleted contact to the numbers of their pages, without the contact. */
export async function forgetSignUps(tx: Tx, { id }: { readonly id: string }): Promise<void> {
  const { landingPageSubmissions: t } = tx.t;
  await tx.update(t).set({ contactId: null }).where(eq(t.contactId, id));
}

/** The fields that the address of a page fills in; null for none. */
export function readPrefill(page: PageRow, query: URLSearchParams): FormErrors | null {
  if (!page.hasForm) return null;
  const asked: readonly string[] = ["email", ...(page.form?.fields ?? [])];
  const given = FIELDS.flatMap((name) => (asked.includes(name) && query.has(name) ? [[name, query.get(name)?.slice(0, 254) ?? ""]] : []));
  return given.length === 0 ? null : { values: removeControls(Object.fromEntries(given)), wrong: {} };
}

/** Values as a page can show them, without control characters. */
function removeControls(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.replace(/\p{Cc}/gu, " ")]));
}

/** Adds a contact to the page's list. A failure is logged for the brand, and does not refuse the visitor. */
async function joinList(
  tx: Tx,
  deps: PageDeps,
  { workspaceId, id, listId, doubleOptIn }: PageRow,
  texts: Texts,
  contactId: string,
): Promise<void> {
  if (listId === null) return;
  try {
    await addMembers(tx, deps, workspaceId, listId, [contactId], { confirms: doubleOptIn, language: texts.language });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.log.warn("a sign-up could not join the list of its page", { pageId: id, listId, code: error.code });
  }
}

async function recordSignup(
  tx: Tx,
  deps: PageDeps,
  page: PageRow,
  { brand, texts }: ReadPage,
  { email, ...fields }: Signup,
): Promise<void> {
  const { workspaceId } = page;
  const before = await findContactByEmail(tx, workspaceId, email);
  // A visitor can enter another person's address: known fields are not overwritten.
  const added: Partial<NewContact> = Object.fromEntries(
    FORM_FIELDS.flatMap((name) => (fields[name] && !before?.[name] ? [[name, fields[name]]] : [])),
  );
  // The language of the brand's settings is no wish of the person.
  if (texts.chooser !== "settings" && !before?.language) added.language = texts.language;
  const { contact } = await upsertContact(tx, deps, workspaceId, { email, ...added }, "form");
  // A form does not resubscribe contacts that unsubscribed, bounced or complained.
  if (contact.status === "SUBSCRIBED") await joinList(tx, deps, page, texts, contact.id);
  const [held] = await holdContacts(tx, workspaceId, [contact]);
  const now = deps.clock.now();
  const { landingPageSubmissions: s, landingPageDays: d } = tx.t;
  await tx.insert(s).values({
    id: deps.ids("sub"),
    workspaceId,
    pageId: page.id,
    contactId: held?.id ?? null,
    consentText: getConsentText(page.form, brand, texts),
    listId: page.listId,
    createdAt: now,
  });
  await tx
    .insert(d)
    .values({ pageId: page.id, date: toDate(now), views: 0, visitors: 0, submissions: 1 })
    .onConflictDoUpdate({ target: [d.pageId, d.date], set: { submissions: sql`${d.submissions} + 1` } });
}
