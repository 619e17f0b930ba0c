import { LIST_LIMITS } from "@mailsvc/sdk/contract";
import type { ArrivedMail } from "../mail-peer.ts";
import { type Acted, find, known, type Making, type Noun } from "../noun.ts";
import { addressOf, MARKS, type Pick, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import { draft } from "./campaigns.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

// Nobody reads a mail in the second in which it arrives, and what a program does at once is no sign of a person.
const READING_MS = 10_000;

/** Asks for a page of the service, as a browser or a mail program does. Null if it was lost with a server. */
export async function visit(u: Universe, tenant: Tenant, link: string, form?: Readonly<Record<string, string>>): Promise<number | null> {
  return (await request(u, tenant, link, form))?.status ?? null;
}

function request(u: Universe, tenant: Tenant, link: string, form?: Readonly<Record<string, string>>): Promise<Response | null> {
  const { pathname, search } = new URL(link);
  const body = form && { method: "POST", body: new URLSearchParams(form) };
  const init: RequestInit = { ...body, headers: { "user-agent": BROWSER }, redirect: "manual" };
  return u.value(() => u.fetchAs(tenant)(u.world.url + pathname + search, init));
}

/** Takes a page off the web, and says whether it is shown all the same. */
export async function takeDown<T extends { readonly url: string }>(u: Universe, tenant: Tenant, take: () => Promise<T>): Promise<Acted> {
  const taken = await u.call(take);
  if (!("value" in taken)) return taken;
  const status = await visit(u, tenant, taken.value.url);
  if (status === 200) u.ledger.note("follows", `The page ${taken.value.url} is shown after it was taken off the web.`);
  return taken;
}

interface FoundLink {
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

/** Sends something that has links of all kinds to all contacts. */
async function sendLinks(making: Making): Promise<void> {
  const { campaigns } = making.universe.sdk(making.tenant);
  const made = await making.universe.value(() => campaigns.create(draft(making)));
  if (made) await making.universe.call(() => campaigns.send(made.id));
  await making.universe.settle();
}

/** People who do something with a link in their mail, some seconds after they got it. */
function follow(wanted: RegExp, deed: (making: Making, found: FoundLink) => Promise<boolean>): Noun {
  return {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      let found = await findLink(universe, tenant, pick, wanted);
      if (!found) await sendLinks(making);
      found ??= await findLink(universe, tenant, pick, wanted);
      if (!found) return null;
      await universe.pass(READING_MS);
      const hasActed = await deed(making, found);
      await universe.pass(READING_MS);
      return hasActed ? { id: making.label, also: { email: found.to.toLowerCase() } } : null;
    },
    verbs: {},
  };
}

/** A person opens a mail or follows a link in it, which is then known. */
async function react({ universe, tenant }: Making, { link, emailId }: FoundLink, type: string): Promise<boolean> {
  const answer = await request(universe, tenant, link);
  const target = answer?.headers.get("location") ?? null;
  // All that is written in a world leads to one place.
  if (target !== null && !target.startsWith("https://acme.test/"))
    universe.ledger.note("content", `The link ${link} leads to ${target}, which is not what its author wrote.`);
  const isAnswered = answer?.status === 200 || answer?.status === 302;
  if (isAnswered && emailId !== null) universe.ledger.reactions.push({ tenant, emailId, type, at: universe.now() });
  return isAnswered;
}

/** Opens the page to unsubscribe, as programs that look into mail do: that is no answer. */
async function lookAtPage(u: Universe, tenant: Tenant, to: string, link: string): Promise<void> {
  const find = () => u.value(async () => (await u.sdk(tenant).suppressions.list({ search: to, limit: 1 })).data.length);
  const before = await find();
  await visit(u, tenant, link);
  if (before === 0 && (await find()) === 1) u.ledger.note("follows", `${to} was unsubscribed by a page that was only opened.`);
}

/** Follows a link to confirm a list when its time is over. */
async function confirmLate(making: Making, asked: readonly string[]): Promise<void> {
  const { universe: u, tenant, label } = making;
  const name = `Late ${label} ${MARKS[tenant]}`;
  const list = await u.value(() => u.sdk(tenant).lists.create({ name, doubleOptIn: true, confirmationFrom: "hello@acme.test" }));
  if (!list) return;
  await u.call(() => u.sdk(tenant).lists.add(list.id, { contacts: [...asked] }));
  const found = await findLink(u, tenant, making.pick, CONFIRMING, name);
  await u.pass((LIST_LIMITS.confirmDays + 1) * 86_400_000);
  if (found && (await visit(u, tenant, found.link, {})) === 200)
    u.ledger.note("follows", `${found.to} has confirmed the list ${list.id} by a link whose time was over.`);
}

/** Beginning of the links of the service, in a pattern. */
export const OWN = "http://mailsvc\\.test";

/** A link to confirm a list. */
const CONFIRMING = new RegExp(`${OWN}/lists/confirm/[\\w.-]+`);

/** Actions of people on their mail. */
export const RECIPIENT_NOUNS = {
  opening: follow(new RegExp(`${OWN}/t/o/[\\w-]+`), (making, found) => react(making, found, "email.opened")),
  clicking: follow(new RegExp(`${OWN}/t/c/[\\w-]+`), (making, found) => react(making, found, "email.clicked")),
  leaving: follow(new RegExp(`${OWN}/unsubscribe/[\\w.-]+`), async ({ universe, tenant }, { to, link }) => {
    await lookAtPage(universe, tenant, to, link);
    const status = await visit(universe, tenant, link, { "List-Unsubscribe": "One-Click" });
    if (status === 200) universe.ledger.refuse({ tenant, address: to, scope: "marketing" });
    return status === 200;
  }),
  confirming: {
    make: async (making) => {
      const { universe, tenant, pick, label } = making;
      const { lists } = universe.sdk(tenant);
      const asking = { name: `Asked ${label} ${MARKS[tenant]}`, doubleOptIn: true, confirmationFrom: "hello@acme.test" };
      const list = await universe.value(() => lists.create(asking));
      if (!list) return null;
      const asked = [addressOf(pick.int(0, 3) * 3), addressOf(pick.int(4, 7) * 3)];
      await universe.call(() => lists.add(list.id, { contacts: asked }));
      const found = await findLink(universe, tenant, pick, CONFIRMING, asking.name);
      if (found) universe.ledger.allow(tenant, found.to);
      const status = found && (await visit(universe, tenant, found.link, {}));
      const members = await universe.value(() => lists.contacts(list.id, { limit: 100 }).toArray());
      if (status === 200 && members?.some(({ contact, status: is }) => contact.email === found?.to && is !== "MEMBER"))
        universe.ledger.note("follows", `${found?.to} has confirmed the list ${list.id} and is no member of it.`);
      if (pick.oneIn(4)) await confirmLate(making, asked);
      const unsure = asked.find((email) => email !== found?.to) ?? "";
      return status === 200 ? known(list, { email: found?.to ?? "", unsure }) : null;
    },
    verbs: {
      edit: (u, { tenant, id }) => u.call(() => u.sdk(tenant).lists.update(id, { doubleOptIn: false })),
      resume: (u, { tenant, id, also }) => u.call(() => u.sdk(tenant).lists.resend(id, also["unsure"] ?? "")),
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).lists.delete(id)),
    },
  },
  submission: {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const page = find(making, "landingPage");
      const shown = page && (await universe.value(() => universe.sdk(tenant).landingPages.get(page.id)));
      if (!shown) return null;
      const email = addressOf(pick.int(0, 30));
      universe.ledger.allow(tenant, email);
      const status = await visit(universe, tenant, shown.url, { email, consent: "yes" });
      await universe.settle();
      const known =
        status === 303 ? await universe.value(async () => (await universe.sdk(tenant).contacts.list({ search: email })).data) : null;
      if (known && !known.some((one) => one.email === email))
        universe.ledger.note("follows", `${email} has signed up on the page ${page.id} and is no contact.`);
      return status === 303 ? { id: making.label, also: { email } } : null;
    },
    verbs: {},
  },
} satisfies Record<string, Noun>;
