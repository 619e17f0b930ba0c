import { find, known, type Making, type Noun } from "../noun.ts";
import { addressOf, MARKS, type Pick, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";

/** Asks for a page of the service, as a browser or a mail program does. Null if it was lost with a server. */
function visit(u: Universe, tenant: Tenant, link: string, form?: Readonly<Record<string, string>>): Promise<number | null> {
  const { pathname, search } = new URL(link);
  const body = form && { method: "POST", body: new URLSearchParams(form) };
  return u.value(async () => (await u.fetchAs(tenant)(u.world.url + pathname + search, { ...body, redirect: "manual" })).status);
}

/** A captured mail of a workspace that has the wanted link; null where mail is not captured or none has it. */
async function findLink(u: Universe, tenant: Tenant, pick: Pick, wanted: RegExp): Promise<{ to: string; link: string } | null> {
  if (u.peer) return null;
  await u.settle();
  const { inbox } = u.sdk(tenant);
  const mails = await u.value(async () => (await inbox.list({ limit: 30 })).data);
  for (let i = 0; mails && mails.length > 0 && i < 3; i += 1) {
    const { id, to } = pick.of(...mails);
    const mail = await u.value(() => inbox.get(id));
    const sources = [...(mail?.links ?? []), ...(mail?.headers ?? []).map(({ value }) => value), mail?.html ?? ""];
    const link = sources.map((source) => wanted.exec(source)?.[0]).find((found) => found !== undefined);
    if (link !== undefined) return { to, link };
  }
  return null;
}

/** People who do something with a link in their mail. */
function follow(wanted: RegExp, deed: (making: Making, found: { to: string; link: string }) => Promise<unknown>): Noun {
  return {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const found = await findLink(universe, tenant, pick, wanted);
      if (!found) return null;
      await deed(making, found);
      return { id: making.label, also: { email: found.to.toLowerCase() } };
    },
    verbs: {},
  };
}

const OWN = "http://mailsvc\\.test";

/** What people do with their mail. */
export const RECIPIENT_NOUNS = {
  opening: follow(new RegExp(`${OWN}/t/o[^"\\s>]*`), ({ universe, tenant }, { link }) => visit(universe, tenant, link)),
  clicking: follow(new RegExp(`${OWN}/(?:t/c|c)[^"\\s>]*`), ({ universe, tenant }, { link }) => visit(universe, tenant, link)),
  leaving: follow(new RegExp(`${OWN}/(?:u|unsubscribe)/[^"\\s>]*`), async ({ universe, tenant }, { to, link }) => {
    const status = await visit(universe, tenant, link, { "List-Unsubscribe": "One-Click" });
    if (status !== 200) return;
    // From a list a person may leave that list alone.
    const contact = await universe.value(async () => (await universe.sdk(tenant).contacts.list({ search: to, limit: 1 })).data[0]);
    if (contact?.status === "UNSUBSCRIBED") universe.ledger.refuse({ tenant, address: to, scope: "marketing" });
  }),
  confirming: {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const { lists } = universe.sdk(tenant);
      const asking = { name: `Asked ${MARKS[tenant]}`, doubleOptIn: true, confirmationFrom: "hello@acme.test" };
      const list = await universe.value(() => lists.create(asking));
      if (!list) return null;
      await universe.call(() => lists.add(list.id, { contacts: [addressOf(pick.int(0, 11)), addressOf(pick.int(12, 23))] }));
      const found = await findLink(universe, tenant, pick, new RegExp(`${OWN}/lists/confirm/[^"\\s>]*`));
      if (found) await visit(universe, tenant, found.link, {});
      return known(list);
    },
    verbs: {
      edit: (u, { tenant, id }) => u.call(() => u.sdk(tenant).lists.update(id, { doubleOptIn: false })),
      resume: (u, { tenant, id }, pick) => u.call(() => u.sdk(tenant).lists.resend(id, addressOf(pick.int(0, 23)))),
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
      await visit(universe, tenant, shown.url, { email, consent: "on" });
      return { id: making.label, also: { email } };
    },
    verbs: {},
  },
} satisfies Record<string, Noun>;
