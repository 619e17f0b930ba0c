import type { Mailsvc } from "@mailsvc/sdk";
import { find, known, type Noun } from "../noun.ts";
import { addressOf, MARKS } from "../script.ts";
import { findLink, OWN, takeDown, visit, visitPage } from "./reading.ts";

/** True for a person who is a member of a list, and not only asked to be. */
async function hasJoined(sdk: Mailsvc, list: string, email: string): Promise<boolean> {
  const all = await sdk.lists.contacts(list, { limit: 100 }).toArray();
  return all.some(({ contact, status }) => contact.email === email && status === "MEMBER");
}

/** Sign-up forms of brands, and people who fill them in. */
export const FORM_NOUNS = {
  form: {
    make: async (making) => {
      const { universe, tenant, pick, label } = making;
      const { lists, forms } = universe.sdk(tenant);
      const from = "Acme <hello@acme.test>";
      const list = find(making, "list") ?? (await universe.value(() => lists.create({ name: `Joined ${label} ${MARKS[tenant]}` })));
      if (!list) return null;
      await universe.call(() => lists.update(list.id, { confirmationFrom: from }));
      const form = { name: `Join ${label} ${MARKS[tenant]}`, listId: list.id, doubleOptIn: pick.oneIn(2), fields: ["firstName" as const] };
      return known(await universe.value(() => forms.create(form)), { list: list.id });
    },
    verbs: {
      pause: (u, { tenant, id }) => takeDown(u, tenant, () => u.sdk(tenant).forms.update(id, { status: "DRAFT" })),
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).forms.update(id, { status: "PUBLISHED" })),
      edit: (u, { tenant, id }, pick) =>
        u.call(() => u.sdk(tenant).forms.update(id, { doubleOptIn: pick.oneIn(2), consentText: `Mail of ${MARKS[tenant]}, please.` })),
      delete: (u, { tenant, id }) => takeDown(u, tenant, () => u.sdk(tenant).forms.delete(id)),
    },
  },
  signUp: {
    make: async (making) => {
      const { universe, tenant, pick, label } = making;
      const form = find(making, "form");
      const shown = form && (await universe.value(() => universe.sdk(tenant).forms.get(form.id)));
      if (!shown) return null;
      const email = addressOf(pick.int(0, 30));
      if (!shown.doubleOptIn) universe.ledger.allow(tenant, email);
      const isMember = () => universe.value(() => hasJoined(universe.sdk(tenant), shown.listId ?? "", email));
      const before = await isMember();
      const filledIn = { email, firstName: `Sue ${MARKS[tenant]}`, consent: "yes" };
      const status = await visitPage(universe, tenant, shown, { form: filledIn });
      if (status !== 303) return null;
      await universe.settle();
      if (shown.doubleOptIn && before === false && (await isMember()))
        universe.ledger.note("follows", `${email} has joined by the form ${shown.id}, which is to ask first, without confirming.`);
      // Some confirm at once, some in the course of time by another noun, some never.
      const asked = pick.oneIn(2) ? await findLink(universe, tenant, pick, new RegExp(`${OWN}/lists/confirm/[\\w.-]+`)) : null;
      if (asked) universe.ledger.allow(tenant, asked.to);
      if (asked) await visit(universe, tenant, asked.link, {});
      return { id: label, also: { email } };
    },
    verbs: {},
  },
  // Several visitors of a page, some of whom come again, also on another day, and some of whom fill in its form.
  visitors: {
    make: async (making) => {
      const { universe: u, tenant, pick, label } = making;
      const page = find(making, "form", "landingPage");
      if (!page) return null;
      const { forms, landingPages } = u.sdk(tenant);
      const shown = page.noun === "form" ? await u.value(() => forms.get(page.id)) : await u.value(() => landingPages.get(page.id));
      if (!shown) return null;
      // Whoever has written it looks at it first.
      if ("previewUrl" in shown && pick.oneIn(2)) await visit(u, tenant, shown.previewUrl);
      let seen = 0;
      for (let i = pick.int(3, 6); i > 0; i -= 1) {
        const visitor = pick.int(0, 3);
        if ((await visitPage(u, tenant, shown, { visitor })) === 200) seen += 1;
        const email = `fine-${label}.${visitor}@people.test`;
        if (pick.oneIn(2)) {
          u.ledger.allow(tenant, email);
          await visitPage(u, tenant, shown, { visitor, form: { email, consent: "yes" } });
        }
        await u.pass(pick.of(0, 1000, 20 * 3_600_000));
      }
      return seen === 0 ? null : { id: label, also: {} };
    },
    verbs: {},
  },
} satisfies Record<string, Noun>;
