import type { Noun } from "../noun.ts";
import { addressOf, MARKS } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";

/** Sends a mail under the key of a thing; the same one each time. Returns its id, null if the call was refused or lost. */
async function sendAs(u: Universe, { tenant, label, also }: Pick<Thing, "tenant" | "label" | "also">): Promise<string | null> {
  const mail = {
    from: "Acme <hello@acme.test>",
    to: also["email"] ?? "",
    subject: `Order ${MARKS[tenant]}`,
    text: `Thank you, ${MARKS[tenant]}.`,
  };
  const sent = await u.value(() => u.sdk(tenant).emails.send(mail, { idempotencyKey: `${tenant}-${label}` }));
  return sent?.id ?? null;
}

/** Repeats the request of a thing within the day for which its answer is kept: it is the same mail, whatever happened meanwhile. */
async function repeat(u: Universe, thing: Thing): Promise<boolean> {
  if (u.rewound || u.now() - Number(thing.also["at"]) > 80_000_000) return false;
  const id = await sendAs(u, thing);
  if (id !== null && id !== thing.id) u.ledger.note("once", `The repeated request of ${thing.label} sent ${id} besides ${thing.id}.`);
  return id !== null;
}

/** Requests that a program repeats with their Idempotency-Key, because it did not see the answer. */
export const REPEATED_NOUNS = {
  repeated: {
    make: async ({ universe, tenant, label, pick }) => {
      const also = { email: addressOf(pick.int(0, 23)), at: String(universe.now()) };
      const id = await sendAs(universe, { tenant, label, also });
      if (id !== null) await repeat(universe, { label, noun: "repeated", tenant, id, also });
      return id === null ? null : { id, also };
    },
    verbs: { edit: repeat, resume: repeat, duplicate: repeat },
  },
} satisfies Record<string, Noun>;
