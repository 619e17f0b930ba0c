import { known, type Noun } from "../noun.ts";
import type { HookMode } from "../receivers.ts";
import type { Pick } from "../script.ts";

/** Types of events to subscribe to. */
const choose = (pick: Pick): string[] => pick.of(["*"], ["email.*"], ["contact.*", "list.*"], ["campaign.*", "automation.*"]);

function webhook(mode: HookMode): Noun {
  return {
    make: async ({ universe, tenant, label, pick }) => {
      const url = universe.hooks.urlOf(label, mode);
      const events = choose(pick);
      const made = await universe.value(() => universe.sdk(tenant).webhooks.create({ url, events }));
      if (made) universe.ledger.secretOf(label, made.secret, 0);
      if (made) universe.ledger.subscriptions.set(label, [{ before: 0, after: 0, events }]);
      return known(made, { name: label });
    },
    verbs: {
      pause: async (u, { tenant, id, label }) => {
        const paused = await u.value(() => u.sdk(tenant).webhooks.pause(id));
        if (paused) u.ledger.stop(label);
        return paused !== null;
      },
      resume: (u, { tenant, id, label }) => {
        u.ledger.go(label);
        return u.call(() => u.sdk(tenant).webhooks.resume(id));
      },
      edit: async (u, { tenant, id, label }, pick) => {
        const events = pick.oneIn(2) ? choose(pick) : undefined;
        const readAll = async (): Promise<number> => {
          await u.settle();
          await u.poll();
          return u.pollers[tenant].last;
        };
        const before = await readAll();
        const outcome = await u.call(() => u.sdk(tenant).webhooks.update(id, { description: "Another", ...(events && { events }) }));
        const known = u.ledger.subscriptions.get(label);
        // A call that was lost, or refused afterwards, may have been carried out.
        const isKnown = known && "value" in outcome;
        if (events) u.ledger.subscriptions.set(label, isKnown ? [...known, { before, after: await readAll(), events }] : null);
        return outcome;
      },
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.delete(id)),
      rotate: async (u, { tenant, id, label }, pick) => {
        const overlapHours = pick.of(0, 1, 24);
        const outcome = await u.call(() => u.sdk(tenant).webhooks.rotateSecret(id, { overlapHours }));
        if ("value" in outcome) u.ledger.secretOf(label, outcome.value.secret, overlapHours * 3_600_000);
        else if ("lost" in outcome) u.ledger.secrets.set(label, null);
        return outcome;
      },
    },
  };
}

/** Webhooks of developers. */
export const WEBHOOK_NOUNS = {
  webhook: webhook("works"),
  failingWebhook: webhook("fails"),
  hangingWebhook: webhook("hangs"),
} satisfies Record<string, Noun>;
