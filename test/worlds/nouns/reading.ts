import type { ArrivedMail } from "../mail-peer.ts";
import type { Acted, Making } from "../noun.ts";
import { MARKS, type Pick, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";

/** Beginning of the links of the service, in a pattern. */
export const OWN = "http://mailsvc\\.test";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

// Nobody reads a mail in the second in which it arrives, and what a program does at once is no sign of a person.
export const READING_MS = 10_000;

/** Asks for a page of the service, as a browser or a mail program does. Null if it was lost with a server. */
export async function visit(u: Universe, tenant: Tenant, link: string, form?: Form): Promise<number | null> {
  return (await request(u, tenant, link, form))?.status ?? null;
}

/** The fields of a form, as they are filled in. */
type Form = Readonly<Record<string, string>>;

/** Looks at a page, or fills in its form, as one of several visitors; the numbers of the page are to say so. */
export async function visitPage(
  u: Universe,
  tenant: Tenant,
  { id, url }: { readonly id: string; readonly url: string },
  { form, visitor = 0 }: { readonly form?: Form; readonly visitor?: number } = {},
): Promise<number | null> {
  const browser = BROWSER.replace("140", String(140 + visitor));
  const visits = u.ledger.visitsOf(tenant, id);
  const status = (await request(u, tenant, url, form, browser))?.status ?? null;
  if (u.mayFail || status === null || status >= 500) visits.unsure += 1;
  else if (form && status === 303) visits.signUps += 1;
  else if (!form && status === 200) {
    visits.views += 1;
    visits.browsers.add(browser);
  }
  return status;
}

function request(u: Universe, tenant: Tenant, link: string, form?: Form, browser = BROWSER): Promise<Response | null> {
  const { pathname, search } = new URL(link);
  const body = form && { method: "POST", body: new URLSearchParams(form) };
  const init: RequestInit = { ...body, headers: { "user-agent": browser }, redirect: "manual" };
  return u.value(() => u.fetchAs(tenant)(u.world.url + pathname + search, init));
}

/** Takes a page off the web, and says whether it is shown all the same. */
export async function takeDown<T extends { readonly id: string; readonly url: string }>(
  u: Universe,
  tenant: Tenant,
  take: () => Promise<T>,
): Promise<Acted> {
  const taken = await u.call(take);
  if (!("value" in taken)) return taken;
  const status = await visitPage(u, tenant, taken.value);
  if (status === 200) u.ledger.note("follows", `The page ${taken.value.url} is shown after it was taken off the web.`);
  return taken;
}

export interface FoundLink {
  readonly to: string;
  readonly link: string;
  readonly emailId: string | null;
}

/** A mail of a workspace that has arrived, with a word of it and the wanted link; null where none has them. */
export async function findLink(u: Universe, tenant: Tenant, pick: Pick, wanted: RegExp, word = MARKS[tenant]): Promise<FoundLink | null> {
  await u.settle();
  const found = u.peer
    ? linksOf(u.peer.arrived.filter(({ workspaceId }) => workspaceId === u.workspaces[tenant]))
    : await linksInInbox(u, tenant);
  const fitting = found.flatMap(({ to, emailId, source }) => {
    const link = wanted.exec(source)?.[0];
    return link === undefined || !source.includes(word) ? [] : { to, emailId, link };
  });
  return fitting.length === 0 ? null : pick.of(...fitting);
}

interface Sources {
  readonly to: string;
  readonly emailId: string | null;
  /** Everything of it that may have links. */
  readonly source: string;
}

const linksOf = (mails: readonly ArrivedMail[]): readonly Sources[] =>
  mails.map(({ to, emailId, html, text, headers }) => ({ to, emailId, source: `${JSON.stringify(headers)} ${html} ${text}` }));

async function linksInInbox(u: Universe, tenant: Tenant): Promise<readonly Sources[]> {
  const { inbox } = u.sdk(tenant);
  // It shows the mail of all workspaces, and of some not whose it is.
  const all = await u.value(async () => (await inbox.list({ limit: 40 })).data);
  const mails = all?.filter(({ workspaceId }) => workspaceId === null || workspaceId === u.workspaces[tenant]).slice(0, 12);
  const found: Sources[] = [];
  for (const { id, to, emailId } of mails ?? []) {
    const mail = await u.value(() => inbox.get(id));
    if (mail) found.push({ to, emailId, source: JSON.stringify([mail.headers, mail.links, mail.html, mail.subject]) });
  }
  return found;
}

/** All that the last mail to an address has; empty if there is none. */
export async function findLastMail(u: Universe, tenant: Tenant, to: string): Promise<string> {
  await u.settle();
  if (u.peer) return linksOf(u.peer.arrived.filter((mail) => mail.to === to)).at(-1)?.source ?? "";
  const { inbox } = u.sdk(tenant);
  const [last] = (await u.value(async () => (await inbox.list({ to, limit: 1 })).data)) ?? [];
  const mail = last && (await u.value(() => inbox.get(last.id)));
  return mail ? JSON.stringify([mail.html, mail.text]) : "";
}

/** A person opens a mail or follows a link in it, which is then known. */
export async function react({ universe, tenant }: Making, { link, emailId }: FoundLink, type: string): Promise<boolean> {
  const answer = await request(universe, tenant, link);
  const target = answer?.headers.get("location") ?? null;
  // All that is written in a world leads to one place.
  if (target !== null && !target.startsWith("https://acme.test/"))
    universe.ledger.note("content", `The link ${link} leads to ${target}, which is not what its author wrote.`);
  if (type === "email.clicked" && answer !== null && target === null && (await isThere(universe, emailId)))
    universe.ledger.note("content", `The link ${link} is answered with ${answer.status}, and leads nowhere.`);
  const isAnswered = answer?.status === 200 || answer?.status === 302;
  if (isAnswered && emailId !== null) universe.ledger.reactions.push({ tenant, emailId, type, at: universe.now() });
  return isAnswered;
}

/** True if a mail was neither deleted, nor erased with its person, nor sent after the instant to which data was set back. */
async function isThere({ world }: Universe, emailId: string | null): Promise<boolean> {
  const { read } = world.app.deps.db;
  return (await read.select({ id: read.t.emails.id }).from(read.t.emails)).some(({ id }) => id === emailId);
}

/** Some reader of a mail of a workspace opens it or follows its link. */
export async function readOne(making: Making): Promise<void> {
  const { universe, tenant, pick } = making;
  const [path, type] = pick.of(["o", "email.opened"], ["c", "email.clicked"]);
  const found = await findLink(universe, tenant, pick, new RegExp(`${OWN}/t/${path}/[\\w-]+`));
  if (!found) return;
  await universe.pass(READING_MS);
  await react(making, found, type as string);
  await universe.pass(READING_MS);
}
