import { type MailBlocks, type NewCampaign, toLocalTime } from "@mailsvc/sdk/contract";
import { find, known, type Making, type Noun } from "../noun.ts";
import { addressOf, type Pick as Chances, LATER, MARKS, nextChangeOfTime, type Tenant } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";
import { readOne } from "./reading.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The fields of all campaigns; each goes to all contacts. */
export const draft = ({ tenant }: Pick<Making, "tenant">): NewCampaign => ({
  name: `Launch ${MARKS[tenant]}`,
  subjectLine: "Hello {{firstName}}",
  fromEmail: "news@acme.test",
  html: `<p>Dear {{firstName}} of ${MARKS[tenant]}. <a href="https://acme.test/launch">Look</a></p>`,
});

/** A kind of campaign: what it has besides the fields of all. */
function campaign(extra: (making: Making) => Partial<NewCampaign>, starts = true, also: Readonly<Record<string, string>> = {}): Noun {
  return {
    make: async (making) => {
      const { universe, tenant } = making;
      // All that was there before is older than the campaign.
      await universe.pass(1000);
      const few = starts && making.pick.oneIn(4) ? await listFew(making) : null;
      const group = few ?? find(making, "list", "segment", "confirming");
      const to = group && (few || making.pick.oneIn(2)) ? audience(group) : {};
      const own = extra(making);
      const without = making.pick.oneIn(2) ? find(making, "list") : null;
      const fields = { ...draft(making), ...to, ...own, ...(without && without.id !== group?.id && { exclude: [without.id] }) };
      const made = await universe.value(() => universe.sdk(tenant).campaigns.create(fields));
      if (made && making.pick.oneIn(3)) await changeTwice(universe, tenant, made);
      if (made && starts && (few || making.pick.oneIn(3)))
        stopOnItsWay(universe, { tenant, id: made.id }, making.pick, few !== null && universe.peer !== null);
      if (made && starts) await universe.call(() => universe.sdk(tenant).campaigns.send(made.id));
      return known(made, also);
    },
    verbs: {
      pause: async (u, { tenant, id }, pick) => {
        // Now and then some mail has left before, and some is to be tried again.
        await u.pass(pick.of(0, 60_000, 600_000));
        const paused = await u.value(() => u.sdk(tenant).campaigns.pause(id));
        if (paused) u.ledger.stop(id);
        return paused !== null;
      },
      resume: async (u, { tenant, id }) => {
        u.ledger.go(id);
        return u.call(() => u.sdk(tenant).campaigns.resume(id));
      },
      cancel: async (u, { tenant, id }) => {
        const cancelled = await u.value(() => u.sdk(tenant).campaigns.cancel(id));
        if (cancelled) u.ledger.stop(id);
        return cancelled !== null;
      },
      // One that was started stays as it is; then a copy of it is edited and sent, or deleted.
      edit: async (u, { tenant, id }) => {
        const { campaigns } = u.sdk(tenant);
        const fields = { previewText: `Soon ${MARKS[tenant]}` };
        const outcome = await u.call(() => campaigns.update(id, fields));
        if (!("refused" in outcome)) return outcome;
        const copy = await u.value(() => campaigns.duplicate(id, {}));
        if (!copy || !(await changeTwice(u, tenant, copy))) return false;
        return u.call(() => campaigns.send(copy.id));
      },
      delete: async (u, { tenant, id }) => {
        const { campaigns } = u.sdk(tenant);
        const outcome = await u.call(() => campaigns.delete(id));
        if (!("refused" in outcome)) return outcome;
        const copy = await u.value(() => campaigns.duplicate(id, {}));
        return copy !== null && u.call(() => campaigns.delete(copy.id));
      },
      duplicate: async (u, thing) => {
        const copy = await u.value(() => u.sdk(thing.tenant).campaigns.duplicate(thing.id, {}));
        return copy === null ? false : u.call(() => u.sdk(thing.tenant).campaigns.send(copy.id));
      },
    },
  };
}

/** A list of few people, one of whom takes mail at the third attempt. */
async function listFew({ universe, tenant }: Making): Promise<Pick<Thing, "noun" | "id"> | null> {
  const { lists, contacts } = universe.sdk(tenant);
  const list = await universe.value(() => lists.create({ name: `Few ${MARKS[tenant]}` }));
  const few = [addressOf(0), addressOf(3), LATER];
  for (const email of list ? few : []) await universe.call(() => contacts.upsert({ email, firstName: `P ${MARKS[tenant]}` }));
  if (list) await universe.call(() => lists.add(list.id, { contacts: few }));
  return list && { noun: "list", id: list.id };
}

/**
 * Pauses a campaign when its mail is claimed, or rendered, and lets it go on, or ends it, before anything is stored of that mail; or, with
 * `untilRetry`, when mail that was put off is tried again, and everybody else has got theirs.
 */
export function stopOnItsWay(u: Universe, { tenant, id }: Pick<Thing, "tenant" | "id">, pick: Chances, untilRetry = false): void {
  const { campaigns } = u.sdk(tenant);
  // On a busy machine a deed may last longer than the mail waits for it; the next one comes after it, whichever server that is at.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (deed: () => Promise<unknown>) => () => (turn = turn.then(deed));
  const pause = inTurn(async () => (await u.value(() => campaigns.pause(id))) && u.ledger.stop(id, true));
  const cancel = inTurn(async () => (await u.value(() => campaigns.cancel(id))) && u.ledger.stop(id, true));
  const resume = inTurn(() => {
    u.ledger.go(id);
    return u.call(() => campaigns.resume(id));
  });
  const point = untilRetry ? ("rendered" as const) : pick.of("claimed" as const, "claimed" as const, "rendered" as const);
  const first = { point, campaignId: id, isRetry: false, deed: pause };
  const last = { point: "rendered" as const, campaignId: id, isRetry: untilRetry, deed: pick.of(resume, resume, resume, cancel) };
  for (const server of u.servers) server.stopMail(first, last);
}

/** Changes a draft, and again as somebody who has read it before: that is refused. Returns whether the first change was made. */
async function changeTwice(
  u: Universe,
  tenant: Tenant,
  { id, revision }: { readonly id: string; readonly revision: number },
): Promise<boolean> {
  const { campaigns } = u.sdk(tenant);
  if (!(await u.value(() => campaigns.update(id, { previewText: `Soon ${MARKS[tenant]}`, revision })))) return false;
  if ("value" in (await u.call(() => campaigns.update(id, { previewText: "Never", revision }))))
    u.ledger.note("follows", `A change of ${id} was carried out that was based on an older state.`);
  return true;
}

const audience = ({ noun, id }: { readonly noun: string; readonly id: string }): Partial<NewCampaign> =>
  noun !== "segment" ? { recipientType: "list", listId: id } : { recipientType: "segment", segmentId: id };

/** A window of hours that is open, has just closed, or opens later. */
function windowAround({ universe, pick }: Making): { readonly start: string; readonly end: string; readonly timeZone: string } {
  const timeZone = "Europe/Berlin";
  const end = universe.now() + pick.of(-20, -1, 1, 10, 480, 960) * MINUTE;
  const timeAt = (at: number): string => {
    const { minutes } = toLocalTime(at, timeZone);
    return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
  };
  return { start: timeAt(end - pick.of(30, 480) * MINUTE), end: timeAt(end), timeZone };
}

const CAMPAIGN_WITH_CHOICE = campaign(({ tenant }) => ({
  abTest: { variants: [{}, { subjectLine: `Other ${MARKS[tenant]}` }], samplePercent: 50, winner: "manual" },
}));

const SCHEDULED = campaign(
  ({ universe, pick }) => ({
    scheduledAt: new Date(universe.now() + pick.int(1, 300) * HOUR).toISOString(),
    ...(pick.oneIn(2) && { throttle: { perSecond: 0.5 } }),
  }),
  false,
);

/** A mail of blocks that says whose it is, and which of its variants. */
const blocks = ({ label, tenant }: Making, variant: "A" | "B"): MailBlocks => [
  { type: "heading", text: `Says ${label} ${variant}` },
  { type: "text", text: `Dear {{firstName}} of **${MARKS[tenant]}**` },
  {
    type: "columns",
    columns: [
      { blocks: [{ type: "button", label: "Look", href: "https://acme.test/launch" }] },
      { blocks: [{ type: "divider" }, { type: "text", text: `[Read on](https://acme.test/more)`, size: "small" }] },
    ],
  },
];

const OF_BLOCKS = campaign(
  (making) => {
    const { pick } = making;
    const test = { variants: [{}, { blocks: blocks(making, "B") }], samplePercent: pick.of(50, 100), winner: "opens" as const };
    return {
      html: undefined,
      blocks: blocks(making, "A"),
      ...(pick.oneIn(2) && { abTest: { ...test, decideAfterMinutes: pick.of(1, 60) } }),
      ...(pick.oneIn(3) && { throttle: { perSecond: pick.of(0.05, 2) } }),
    };
  },
  true,
  { says: "blocks" },
);

/** Campaigns of variants, of which readers choose one. */
const TESTED = campaign(({ pick, tenant }) => ({
  ...(!pick.oneIn(3) && { throttle: { perSecond: pick.of(0.5, 0.5, 2, 5) } }),
  abTest: {
    variants: Array.from({ length: pick.int(2, 4) }, (_, i) => (i === 0 ? {} : { subjectLine: `Variant ${i} ${MARKS[tenant]}` })),
    samplePercent: pick.of(1, 20, 50, 50, 100),
    winner: pick.of("opens" as const, "clicks" as const),
    decideAfterMinutes: pick.of(1, 60, 1440),
  },
}));

/** Campaigns of all kinds. */
export const CAMPAIGN_NOUNS = {
  campaign: campaign(() => ({})),
  pacedCampaign: campaign(({ pick }) => ({ throttle: { perSecond: pick.of(0.02, 0.05, 0.5, 5) } })),
  windowCampaign: campaign((making) => ({
    throttle: { window: windowAround(making), ...(making.pick.oneIn(2) && { perSecond: making.pick.of(0.01, 0.05) }) },
  })),
  testedCampaign: {
    // Readers of some of its mail decide it.
    make: async (making) => {
      const made = await TESTED.make(making);
      if (made && !making.pick.oneIn(3)) for (let i = making.pick.int(2, 6); i > 0; i -= 1) await readOne(making);
      return made;
    },
    verbs: TESTED.verbs,
  },
  scheduledCampaign: {
    make: SCHEDULED.make,
    verbs: {
      ...SCHEDULED.verbs,
      // A campaign that has not begun cannot pause.
      pause: async (u, thing, pick) => {
        const at = await u.value(async () => (await u.sdk(thing.tenant).campaigns.get(thing.id)).scheduledAt);
        if (at) await u.pass(Math.max(0, Date.parse(at) - u.now()) + pick.int(0, 3000));
        return SCHEDULED.verbs.pause?.(u, thing, pick) ?? false;
      },
    },
  },
  // Somebody is to choose the winner.
  manualCampaign: {
    make: CAMPAIGN_WITH_CHOICE.make,
    verbs: {
      ...CAMPAIGN_WITH_CHOICE.verbs,
      edit: (u, { tenant, id }, pick) => u.call(() => u.sdk(tenant).campaigns.winner(id, { variant: pick.of("A", "B") })),
    },
  },
  // Another try for those whom an earlier one did not reach.
  resentCampaign: {
    make: async (making) => {
      const { universe, tenant, pick } = making;
      const earlier = find(making, "campaign", "pacedCampaign", "testedCampaign", "windowCampaign");
      if (!earlier) return null;
      const again = { to: pick.of("not_opened" as const, "not_clicked" as const, "failed" as const) };
      const made = await universe.value(() => universe.sdk(tenant).campaigns.resend(earlier.id, again));
      const throttle = { perSecond: 0.02 };
      if (made && pick.oneIn(2)) await universe.call(() => universe.sdk(tenant).campaigns.update(made.id, { throttle }));
      if (made) await universe.call(() => universe.sdk(tenant).campaigns.send(made.id));
      return known(made);
    },
    verbs: CAMPAIGN_WITH_CHOICE.verbs,
  },
  blocksCampaign: OF_BLOCKS,
  localCampaign: campaign(({ universe }) => {
    // Some other day if no clock changes before the world is at rest.
    const at = Math.min(nextChangeOfTime(universe.now()), universe.now() + 15 * 24 * HOUR);
    const day = new Date(at).toISOString().slice(0, 10);
    return { localTime: { at: `${day}T02:30`, fallback: "Europe/Berlin" } };
  }),
} satisfies Record<string, Noun>;
