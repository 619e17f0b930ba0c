import { known, type Noun } from "../noun.ts";
import type { HookMode } from "../receivers.ts";

function webhook(mode: HookMode): Noun {
  return {
    make: async ({ universe, tenant, label, pick }) => {
      const url = universe.hooks.urlOf(label, mode);
      const events = pick.of<string[]>(["*"], ["email.*"], ["contact.*", "list.*"], ["campaign.*", "automation.*"]);
      const made = await universe.value(() => universe.sdk(tenant).webhooks.create({ url, events }));
      return known(made, { name: label });
    },
    verbs: {
      pause: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.pause(id)),
      resume: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.resume(id)),
      edit: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.update(id, { description: "Another" })),
      delete: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.delete(id)),
      rotate: (u, { tenant, id }) => u.call(() => u.sdk(tenant).webhooks.rotateSecret(id, { overlapHours: 1 })),
    },
  };
}

/** Webhooks of developers. */
export const WEBHOOK_NOUNS = {
  webhook: webhook("works"),
  failingWebhook: webhook("fails"),
  hangingWebhook: webhook("hangs"),
} satisfies Record<string, Noun>;
