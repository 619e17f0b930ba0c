import { LIST_LIMITS } from "@mailsvc/sdk/contract";
import { find, known, type Making, type Noun } from "../noun.ts";
import { addressOf, MARKS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";
import { draft } from "./campaigns.ts";
import { holdDomain, releaseDomain } from "./operator.ts";
import { type FoundLink, findLink, OWN, READING_MS, react, visit, visitPage } from "./reading.ts";

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

/** A list to leave: one of the world, or one that nobody has to confirm. */
async function chooseList(making: Making): Promise<string | null> {
  const { universe, tenant, pick } = making;
  const existing = pick.oneIn(3) ? find(making, "list") : null;
  if (existing) return existing.id;
  const { lists } = universe.sdk(tenant);
  const made = await universe.value(() => lists.create({ name: `Left ${MARKS[tenant]}`, public: true }));
  if (made) await universe.call(() => lists.add(made.id, { contacts: [0, 3, 6, 9, 12].map(addressOf) }));
  return made?.id ?? null;
}

/** Leaves a list on the page of preferences, while a campaign to it is on its way: some of it, or all, because the operator holds it back. */
async function leaveList(making: Making, { to, link }: Pick<FoundLink, "to" | "link">): Promise<boolean> {
  const { universe: u, tenant, pick } = making;
  const { lists, campaigns } = u.sdk(tenant);
  const list = await chooseList(making);
  if (list === null) return false;
  const isMember = async (): Promise<boolean> => {
    const all = await u.value(() => lists.contacts(list, { limit: 100 }).toArray());
    return all?.some(({ contact, status }) => contact.email === to.toLowerCase() && status === "MEMBER") ?? false;
  };
  await u.call(() => lists.add(list, { contacts: [to] }));
  const isHeld = !pick.oneIn(3) && (await holdDomain(u));
  const fields = { ...draft(making), recipientType: "list" as const, listId: list, ...(!isHeld && { throttle: { perSecond: 0.05 } }) };
  const made = await u.value(() => campaigns.create(fields));
  if (made) await u.call(() => campaigns.send(made.id));
  await u.pass(pick.of(1000, 20_000, 60_000));
  const hasLeft = (await isMember()) && (await visit(u, tenant, link, { action: "save", shown: list })) === 200;
  if (hasLeft && (await isMember())) u.ledger.note("follows", `${to} has left the list ${list} and is a member of it.`);
  else if (hasLeft) u.ledger.leave({ tenant, list, address: to });
  if (isHeld) await releaseDomain(u);
  return hasLeft;
}

/** A link to confirm a list. */
const CONFIRMING = new RegExp(`${OWN}/lists/confirm/[\\w.-]+`);

/** Actions of people on their mail. */
export const RECIPIENT_NOUNS = {
  opening: follow(new RegExp(`${OWN}/t/o/[\\w-]+`), (making, found) => react(making, found, "email.opened")),
  clicking: follow(new RegExp(`${OWN}/t/c/[\\w-]+`), (making, found) => react(making, found, "email.clicked")),
  // Some leave everything, some only a list.
  leaving: follow(new RegExp(`${OWN}/unsubscribe/[\\w.-]+`), async (making, { to, link }) => {
    const { universe, tenant } = making;
    if (making.pick.oneIn(2)) return leaveList(making, { to, link });
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
      const status = await visitPage(universe, tenant, shown, { form: { email, consent: "yes" } });
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
