import { known, type Noun } from "../noun.ts";
import type { HookMode } from "../receivers.ts";

function webhook(mode: HookMode): Noun {
  return {
    make: async ({ universe, tenant, label, pick }) => {
      const url = universe.hooks.urlOf(label, mode);
      const events = pick.of<string[]>(["*"], ["email.*"], ["contact.*", "list.*"], ["campaign.*", "automation.*"]);
      const made = await universe.value(() => universe.sdk(tenant).webhooks.create({ url, events }));
      if (made) universe.ledger.secretOf(label, made.secret, 0);
      return known(made, { name: label });
    },
    verbs: {
      pause: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.pause(id)),
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.resume(id)),
      edit: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.update(id, { description: "Another" })),
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
