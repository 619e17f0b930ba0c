import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger } from "../ledger.ts";
import { type Acted, find, known, type Noun } from "../noun.ts";
import { addressOf, LATER, MARKS, type Tenant } from "../script.ts";
import type { Universe } from "../universe.ts";

const FROM = "Acme <hello@acme.test>";
const HOUR = 3_600_000;
/** First word of the subject of drafts. */
export const DRAFT = "Unready";
// Ten times the second in which all servers know that a key was revoked.
const LEARNING_MS = 10_000;

const mail = (tenant: Tenant) => ({
  from: FROM,
  subject: `Hello ${MARKS[tenant]}`,
  html: `<p>Dear reader of ${MARKS[tenant]}, <a href="https://acme.test/x">look</a>.</p>`,
});

const later = (universe: Universe, hours: number): string => new Date(universe.now() + hours * HOUR).toISOString();

const scheduledVerbs: Noun["verbs"] = {
  cancel: async (u, { tenant, id }) => {
    const cancelled = await u.value(() => u.sdk(tenant).emails.cancel(id));
    if (cancelled) u.ledger.stop(id);
    return cancelled !== null;
  },
  edit: (u, { tenant, id }, pick) => u.call(() => u.sdk(tenant).emails.reschedule(id, { scheduledAt: later(u, pick.int(1, 100)) })),
  // Only what is to be tried again is queued again: else a mail to somebody who takes it at the third attempt.
  resume: async (u, { tenant, id }) => {
    u.ledger.go(id);
    const outcome = await u.call(() => u.sdk(tenant).emails.requeue(id));
    if (!("refused" in outcome) || u.peer === null) return outcome;
    const later = await u.value(() => u.sdk(tenant).emails.send({ ...mail(tenant), to: LATER }));
    if (!later) return false;
    await u.settle();
    return u.call(() => u.sdk(tenant).emails.requeue(later.id));
  },
};

// Mail without a time cannot get another one.
const { edit: _, ...mailVerbs } = scheduledVerbs;

const editDraft = (u: Universe, tenant: Tenant, id: string) =>
  u.call(() => u.sdk(tenant).templates.update(id, { subject: `${DRAFT} ${MARKS[tenant]}` }));

/** Mail that programs send. */
export const SENDING_NOUNS = {
  mail: {
    make: async ({ universe, tenant, pick }) => {
      const email = addressOf(pick.int(0, 23));
      return known(await universe.value(() => universe.sdk(tenant).emails.send({ ...mail(tenant), to: email })), { email });
    },
    verbs: mailVerbs,
  },
  scheduled: {
    make: async ({ universe, tenant, pick }) => {
      const scheduledAt = later(universe, pick.int(1, 200));
      const email = addressOf(pick.int(0, 23));
      return known(await universe.value(() => universe.sdk(tenant).emails.send({ ...mail(tenant), to: email, scheduledAt })), { email });
    },
    verbs: scheduledVerbs,
  },
  together: {
    make: async ({ universe, tenant, pick }) => {
      const to = Array.from({ length: pick.int(2, 5) }, (_, i) => addressOf(i * 3 + pick.int(0, 2)));
      const cc = [addressOf(20)];
      return known(await universe.value(() => universe.sdk(tenant).emails.send({ ...mail(tenant), to, cc, bcc: [addressOf(21)] })));
    },
    verbs: mailVerbs,
  },
  batch: {
    make: async ({ universe, tenant, pick }) => {
      const emails = Array.from({ length: pick.int(2, 8) }, () => ({ ...mail(tenant), to: addressOf(pick.int(0, 23)) }));
      const sent = await universe.value(() => universe.sdk(tenant).emails.sendBatch({ emails, mode: "permissive" }));
      return sent && { id: "batch", also: {} };
    },
    verbs: {},
  },
  template: {
    make: async ({ universe, tenant, label }) => {
      const content = { name: label, from: FROM, subject: `Hi {{name}} ${MARKS[tenant]}`, html: `<p>Hi {{name}} of ${MARKS[tenant]}</p>` };
      return known(await universe.value(() => universe.sdk(tenant).templates.create({ ...content, slug: label, publish: true })), {
        slug: label,
      });
    },
    verbs: {
      // Drafts are sent to nobody.
      edit: (u, { tenant, id }, pick) =>
        pick.oneIn(2)
          ? u.call(() => u.sdk(tenant).templates.update(id, { subject: `Hey ${MARKS[tenant]}`, publish: true }))
          : editDraft(u, tenant, id),
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).templates.delete(id)),
      pause: (u, { tenant, id }) => u.call(() => u.sdk(tenant).templates.archive(id)),
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).templates.unarchive(id)),
    },
  },
  templated: {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const template = find(making, "template");
      if (!template) return null;
      if (pick.oneIn(3)) await editDraft(universe, tenant, template.id);
      const to: string = addressOf(pick.int(0, 23));
      const send = () => universe.sdk(tenant).templates.send(template.also["slug"] ?? "", { to, variables: { name: "Ann" } });
      return known(await universe.value(send), { email: to });
    },
    verbs: mailVerbs,
  },
  // A mail that reaches people who want no marketing, and nobody else who wants none.
  receipt: {
    make: async ({ universe: u, tenant, label, pick }) => {
      const email = `fine-${label}@people.test`;
      const { suppressions, emails } = u.sdk(tenant);
      const scope = pick.of("marketing" as const, "marketing" as const, "all" as const);
      if (!(await u.value(() => suppressions.create({ email, scope, reason: "manual" })))) return null;
      u.ledger.refuse({ tenant, address: email, scope });
      const receipt = { ...mail(tenant), to: email, bypassUnsubscribe: true };
      const sent = await u.call(() => emails.send(receipt));
      const isSent = "value" in sent;
      if (!("lost" in sent) && isSent !== (scope === "marketing"))
        u.ledger.note("refusals", `A receipt for ${email}, who has said no to ${scope}, is ${isSent ? "sent" : sent.refused}.`);
      if ("value" in (await u.call(() => emails.send({ ...mail(tenant), to: email }))))
        u.ledger.note("refusals", `A mail that is no receipt is accepted for ${email}, who has said no.`);
      return { id: isSent ? sent.value.id : label, also: { email } };
    },
    verbs: mailVerbs,
  },
  testMail: {
    make: async ({ universe, tenant, pick }) => {
      const key = await universe.value(() =>
        universe.sdk(tenant).keys.create({ name: "staging", permissions: ["transactional:send", "transactional:read"], test: true }),
      );
      if (!key) return null;
      await keepKey(universe, { tenant, key: key.key, path: "/api/v1/emails", forbidden: "/api/v1/contacts" });
      await universe.call(() => universe.sdk(tenant, key.key).emails.send({ ...mail(tenant), to: addressOf(pick.int(0, 23)) }));
      return { id: key.id, also: { key: key.key } };
    },
    verbs: { delete: revoke },
  },
  reply: {
    make: async ({ universe, tenant, pick }) => {
      const to = `fine-${pick.int(0, 9) * 3}@people.test`;
      const sent = await universe.value(() => universe.sdk(tenant).emails.send({ ...mail(tenant), to, replyTo: "auto" }));
      // Only where mail is captured is somebody there who can answer.
      if (!sent || universe.peer) return null;
      await universe.settle();
      const answered = await universe.value(async () => {
        const { inbox } = universe.sdk(tenant);
        const [last] = (await inbox.list({ to, limit: 1 })).data;
        return last && inbox.reply(last.id, { text: `Thank you, ${MARKS[tenant]}.` });
      });
      if (answered) universe.ledger.answers.push({ emailId: sent.id, isAutomatic: false, at: universe.now() });
      return answered ? known(sent) : null;
    },
    verbs: {},
  },
  key: {
    make: async ({ universe, tenant }) => {
      const key = await universe.value(() => universe.sdk(tenant).keys.create({ name: "shop", permissions: ["contacts:read"] }));
      if (key) await keepKey(universe, { tenant, key: key.key, path: "/api/v1/contacts", forbidden: "/api/v1/emails" });
      return known(key, key ? { key: key.key } : {});
    },
    verbs: { delete: revoke },
  },
  limitedKey: {
    make: async ({ universe, tenant, pick }) => {
      const expiresAt = later(universe, pick.int(1, 200));
      const permissions = ["transactional:read" as const, "transactional:send" as const];
      const wanted = { name: "till", permissions, senders: ["hello@acme.test"], expiresAt };
      const key = await universe.value(() => universe.sdk(tenant).keys.create(wanted));
      if (!key) return null;
      const until = Date.parse(expiresAt);
      await keepKey(universe, { tenant, key: key.key, path: "/api/v1/emails", forbidden: "/api/v1/contacts", until });
      const { emails } = universe.sdk(tenant, key.key);
      const to = addressOf(pick.int(0, 23));
      await universe.call(() => emails.send({ ...mail(tenant), to }));
      if ("value" in (await universe.call(() => emails.send({ ...mail(tenant), from: "boss@acme.test", to }))))
        universe.ledger.note("keys", "A key that may send as hello@acme.test has sent as boss@acme.test.");
      return { id: key.id, also: { key: key.key } };
    },
    verbs: { delete: revoke },
  },
  invitation: {
    make: async ({ universe, tenant, pick, label }) => {
      const email = addressOf(pick.int(0, 23));
      const content = [
        ...["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Acme//Acme//EN", "METHOD:REQUEST", "BEGIN:VEVENT", `UID:${label}@acme.test`],
        ...["DTSTAMP:20260301T090000Z", "DTSTART:20260401T090000Z", "DTEND:20260401T100000Z", `SUMMARY:Visit of ${MARKS[tenant]}`],
        ...["ORGANIZER:mailto:hello@acme.test", `ATTENDEE:mailto:${email}`, "END:VEVENT", "END:VCALENDAR", ""],
      ].join("\r\n");
      const invitation = { ...mail(tenant), to: email, icalEvent: { method: "REQUEST" as const, content } };
      return known(await universe.value(() => universe.sdk(tenant).emails.send(invitation)), { email });
    },
    verbs: mailVerbs,
  },
  session: {
    make: async ({ universe, tenant }) => {
      const link = await universe.value(() => universe.sdk(tenant).dashboard.link({}));
      return link && { id: "session", also: {} };
    },
    verbs: { delete: (u, { tenant }) => u.call(() => u.sdk(tenant).dashboard.signOutAll()) },
  },
} satisfies Record<string, Noun>;

async function revoke(
  u: Universe,
  { tenant, id, also }: { tenant: Tenant; id: string; also: Readonly<Record<string, string>> },
): Promise<Acted> {
  const outcome = await u.call(() => u.sdk(tenant).keys.revoke(id));
  const record = u.ledger.keys.find(({ key }) => key === also["key"]);
  // After a call that was lost nobody knows; the key is not looked at any more.
  if (record && "lost" in outcome) u.ledger.keys.splice(u.ledger.keys.indexOf(record), 1);
  else if (record) {
    record.works = false;
    if (await goesOnToWork(u, record)) u.ledger.note("keys", `A key for ${record.path} works after it was revoked.`);
  }
  return outcome;
}

type TriedKey = Pick<Ledger["keys"][number], "tenant" | "key" | "path">;

/** Keeps a new key, and uses it. */
async function keepKey(u: Universe, key: TriedKey & { readonly forbidden: string; readonly until?: number }): Promise<void> {
  u.ledger.keys.push({ ...key, works: true });
  const status = await tryKey(u, key);
  if (status !== 200 && status !== null) u.ledger.note("keys", `A new key for ${key.path} does not work.`);
}

/** True for a key that works although it was revoked: at once, and beside another server after the second that this one may take to learn of it. */
async function goesOnToWork(u: Universe, key: TriedKey): Promise<boolean> {
  const end = performance.now() + (u.servers.length === 1 ? 0 : LEARNING_MS);
  while ((await tryKey(u, key)) === 200) {
    if (performance.now() > end) return true;
    await sleep(50);
  }
  return false;
}

/** The status of the answer to a call with a key; null if the call was lost. */
async function tryKey(u: Universe, { tenant, key, path }: TriedKey): Promise<number | null> {
  const ask = () => u.fetchAs(tenant)(u.world.url + path, { headers: { authorization: `Bearer ${key}` } });
  return (await u.value(ask))?.status ?? null;
}
