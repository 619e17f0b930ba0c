import type { Noun } from "../noun.ts";
import { addressOf, MARKS } from "../script.ts";
import type { Thing, Universe } from "../universe.ts";

type Asked = Pick<Thing, "tenant" | "label" | "also">;

/** Sends a mail under the key of a thing; the same one each time. Returns its id, null if the call was refused or lost. */
async function sendAs(u: Universe, { tenant, label, also }: Asked, what = "Order"): Promise<string | null> {
  const mail = {
    from: "Acme <hello@acme.test>",
    to: also["email"] ?? "",
    subject: `${what} ${MARKS[tenant]}`,
    text: `Thank you, ${MARKS[tenant]}.`,
  };
  const sent = await u.value(() => u.sdk(tenant).emails.send(mail, { idempotencyKey: `${tenant}-${label}` }));
  return sent?.id ?? null;
}

/** Makes a list under the key of a thing; the same one each time. Returns its id, null if the call was refused or lost. */
async function listAs(u: Universe, { tenant, label }: Asked, what = "Repeated"): Promise<string | null> {
  const made = await u.value(() =>
    u.sdk(tenant).lists.create({ name: `${what} ${label} ${MARKS[tenant]}` }, { idempotencyKey: `${tenant}-${label}` }),
  );
  return made?.id ?? null;
}

type Ask = (u: Universe, thing: Asked, what?: string) => Promise<string | null>;

/** A request that is repeated within the day for which its answer is kept: it has the same answer, whatever happened meanwhile. */
function repeated(ask: Ask): Noun {
  const repeat = async (u: Universe, thing: Thing): Promise<boolean> => {
    if (u.rewound || u.now() - Number(thing.also["at"]) > 80_000_000) return false;
    const id = await ask(u, thing);
    // Another request under the same key is none that was made.
    if (id !== null && (await ask(u, thing, "Another")) !== null)
      u.ledger.note("once", `Another request under the key of ${thing.label} was answered as if it were the first.`);
    if (id !== null && id !== thing.id) u.ledger.note("once", `The repeated request of ${thing.label} made ${id} besides ${thing.id}.`);
    return id !== null;
  };
  return {
    make: async ({ universe, tenant, label, pick }) => {
      const also = { email: addressOf(pick.int(0, 23)), at: String(universe.now()) };
      const id = await ask(universe, { tenant, label, also });
      if (id !== null) await repeat(universe, { label, noun: "repeated", tenant, id, also });
      return id === null ? null : { id, also };
    },
    verbs: { edit: repeat, resume: repeat, duplicate: repeat },
  };
}

/**
 * Requests that a program repeats with their Idempotency-Key, because it did not see the answer: of those that the service carries out
 * together with others, and of those that it carries out alone.
 */
export const REPEATED_NOUNS = {
  repeated: repeated(sendAs),
  repeatedList: repeated(listAs),
} satisfies Record<string, Noun>;
