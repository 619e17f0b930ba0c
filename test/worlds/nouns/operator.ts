import { known, type Noun } from "../noun.ts";
import { addressOf, MARKS, type Tenant } from "../script.ts";
import type { Outcome, Universe } from "../universe.ts";

const operator = (u: Universe) => u.sdk("a", u.operatorKey);

/** Says whether mail bounces above a limit and nothing follows from that. */
async function findUnheard(u: Universe, tenant: Tenant): Promise<void> {
  const { metrics, campaigns } = u.sdk(tenant);
  const shown = await u.value(() => metrics.limits());
  const { rate = null, mails = 0, pause = null, state } = shown?.bounce ?? {};
  // Fewer than five bounces say little.
  if (!shown || rate === null || pause === null || mails < shown.leastMails || rate * mails < 5) return;
  if (rate >= pause && state !== "PAUSED") u.ledger.note("follows", `${rate} of the mail of ${tenant} bounces, and its alarm is ${state}.`);
  const sending = state === "PAUSED" ? await u.value(async () => (await campaigns.list({ limit: 100 })).data) : null;
  for (const { id, status } of sending ?? [])
    if (status === "SENDING") u.ledger.note("follows", `The campaign ${id} of ${tenant} is sent while the alarm of bounces is on.`);
}

/** The domain of all people. */
const DOMAIN = "people.test";

/** Lets no mail leave for people. Returns whether that was acknowledged. */
export async function holdDomain(u: Universe): Promise<boolean> {
  const held = await u.value(() => operator(u).queue.hold({ domain: DOMAIN, reason: "blocked" }));
  // Mail that a server has claimed still leaves.
  await u.settle();
  if (held) u.ledger.stop(`@${DOMAIN}`);
  // Mail that leaves in spite of it leaves after it.
  await u.pass(1000);
  return held !== null;
}

/** Lets mail leave for people again. */
export async function releaseDomain(u: Universe): Promise<Outcome<unknown>> {
  await u.pass(1000);
  u.ledger.go(`@${DOMAIN}`);
  return u.call(() => operator(u).queue.release({ domain: DOMAIN }));
}

const hostOf = (relay: string): string => `${relay}.mail.test`;

/** Sends more mails at once than a slow relay takes in a second. */
async function sendMany(u: Universe, tenant: Tenant): Promise<void> {
  const emails = Array.from({ length: 8 }, (_, i) => ({
    ...{ from: "hello@acme.test", to: addressOf(i * 3), subject: `Many ${MARKS[tenant]}`, text: "Hello" },
  }));
  await u.call(() => u.sdk(tenant).emails.sendBatch({ emails, mode: "permissive" }));
}

/** Nouns that operators set up, and means by which a workspace sends and receives. */
export const OPERATOR_NOUNS = {
  relay: {
    make: async ({ universe: u, tenant, label, pick }) => {
      // Captured mail has no way out that could change.
      if (!u.peer) return null;
      const name = label.toLowerCase();
      const login = { user: "mail", password: `first-${pick.int(1000, 9999)}` };
      const [host, ratePerSecond] = [hostOf(name), pick.of(null, 1, 2, 50)];
      const added = await u.value(() => operator(u).relays.add({ name, host, ...login, ratePerSecond }));
      if (!added) return null;
      u.ledger.paces.push({ relay: host, from: u.now(), perSecond: ratePerSecond });
      await u.call(() => operator(u).workspaces.update(u.workspaces[tenant], { relay: name }));
      await sendMany(u, tenant);
      return { id: name, also: {} };
    },
    verbs: {
      edit: async (u, { tenant, id }, pick) => {
        const ratePerSecond = pick.of(null, 1, 2, 5);
        const outcome = await u.call(() => operator(u).relays.update(id, { ratePerSecond }));
        // After a call that was lost nobody knows.
        if (!("refused" in outcome))
          u.ledger.paces.push({ relay: hostOf(id), from: u.now(), perSecond: "value" in outcome ? ratePerSecond : null });
        await sendMany(u, tenant);
        return outcome;
      },
      rotate: (u, { id }, pick) => u.call(() => operator(u).relays.update(id, { password: `next-${pick.int(1000, 9999)}` })),
      cancel: (u, { tenant }) => u.call(() => operator(u).workspaces.update(u.workspaces[tenant], { relay: null })),
      delete: async (u, { tenant, id }) => {
        await u.call(() => operator(u).workspaces.update(u.workspaces[tenant], { relay: null }));
        return u.call(() => operator(u).relays.remove(id));
      },
    },
  },
  sender: {
    make: async ({ universe: u, tenant, label, pick }) => {
      // Two workspaces may not verify the same address.
      const email = `${label.toLowerCase()}@${tenant}.acme.test`;
      const made = await u.value(() => u.sdk(tenant).senders.create({ email }));
      if (!made) return null;
      await u.call(() => u.sdk(tenant).senders.verify(made.id));
      const subject = `From ${MARKS[tenant]}`;
      await u.call(() => u.sdk(tenant).emails.send({ from: email, to: addressOf(pick.int(0, 23)), subject, text: "Hello" }));
      return known(made);
    },
    verbs: {
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).senders.delete(id)),
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).senders.verify(id)),
    },
  },
  limits: {
    make: async ({ universe: u, tenant, pick, label }) => {
      const { metrics } = u.sdk(tenant);
      const set = await u.value(() => metrics.setLimits({ leastMails: pick.of(1, 5, 200), bounceWarn: 0.05, bouncePause: 0.1 }));
      // Bounces of all kinds come of addresses that worlds have; some of them are many of few mails.
      const to = Array.from({ length: 2 }, () => "bounce@simulator.mailsvc.test");
      if (set && pick.oneIn(2))
        for (const email of to)
          await u.call(() => u.sdk(tenant).emails.send({ from: "hello@acme.test", to: email, subject: MARKS[tenant], text: "Hello" }));
      return set && { id: label, also: {} };
    },
    verbs: {
      edit: (u, { tenant }, pick) => u.call(() => u.sdk(tenant).metrics.setLimits({ bouncePause: pick.of(0.02, 0.5) })),
      cancel: (u, { tenant }) =>
        u.call(() => u.sdk(tenant).metrics.setLimits({ bounceWarn: null, bouncePause: null, complaintWarn: null, complaintPause: null })),
    },
  },
  // Many bounces of few mails, so that campaigns pause until somebody resumes one.
  alarm: {
    make: async ({ universe: u, tenant, label }) => {
      const { metrics, emails } = u.sdk(tenant);
      const before = await u.value(() => metrics.setLimits({ leastMails: 1, bounceWarn: 0.01, bouncePause: 0.02 }));
      if (!before) return null;
      const to = (i: number) => (u.peer ? `gone-${label}.${i}@people.test` : `bounced+${label}.${i}@simulator.mailsvc.test`);
      let sent = 0;
      for (let i = 0; i < 12; i += 1) {
        const mail = { from: "hello@acme.test", to: to(i), subject: MARKS[tenant], text: "Hello" };
        if (await u.value(() => emails.send(mail))) sent += 1;
      }
      await u.settle();
      await findUnheard(u, tenant);
      return sent === 0 ? null : { id: label, also: {} };
    },
    verbs: {
      edit: (u, { tenant }) => u.call(() => u.sdk(tenant).metrics.setLimits({ bouncePause: 0.9, bounceWarn: 0.8 })),
      // A person decides to go on.
      resume: async (u, { tenant }) => {
        const { campaigns } = u.sdk(tenant);
        const paused = await u.value(async () => (await campaigns.list({ limit: 100 })).data.find(({ status }) => status === "PAUSED"));
        if (!paused) return false;
        u.ledger.go(paused.id);
        return u.call(() => campaigns.resume(paused.id));
      },
    },
  },
  inboundDomain: {
    make: async ({ universe: u, tenant, label }) =>
      known(await u.value(() => u.sdk(tenant).inboundDomains.create({ domain: `${label.toLowerCase()}.${tenant}.test` }))),
    verbs: {
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).inboundDomains.verify(id)),
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).inboundDomains.delete(id)),
    },
  },
  workspace: {
    make: async ({ universe: u, tenant, pick, label }) => {
      const made = await u.value(() => operator(u).workspaces.create({ name: label }));
      if (!made) return null;
      const mail = { from: "Acme <hello@acme.test>", to: addressOf(pick.int(0, 23)), subject: "Hello", text: "Hello" };
      await u.call(() => u.sdk(tenant, made.apiKey).emails.send(mail));
      u.ledger.keys.push({ tenant, key: made.apiKey, path: "/api/v1/contacts", works: true });
      return { id: made.id, also: { key: made.apiKey } };
    },
    verbs: {
      edit: (u, { id, label }) => u.call(() => operator(u).workspaces.update(id, { name: `${label} again` })),
      delete: async (u, { id, also }) => {
        const outcome = await u.call(() => operator(u).workspaces.delete(id));
        const record = u.ledger.keys.find(({ key }) => key === also["key"]);
        // After a call that was lost nobody knows; the key is not looked at any more.
        if (record && "lost" in outcome) u.ledger.keys.splice(u.ledger.keys.indexOf(record), 1);
        else if (record && "value" in outcome) record.works = false;
        return outcome;
      },
    },
  },
} satisfies Record<string, Noun>;
