import type { ContactStatus, Suppression } from "@mailsvc/sdk/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../test/property-runs.ts";
import { ask } from "../../test/scenario.ts";
import { createWorld, type TestWorld } from "../testing.ts";

/** Expected state of one person. */
interface Model {
  contact: ContactStatus | null;
  suppression: (Pick<Suppression, "scope" | "reason"> & { unsubscribed: boolean }) | null;
}

type Reason = Suppression["reason"];

const STATUS: Readonly<Record<Reason, ContactStatus>> = {
  bounce: "BOUNCED",
  complaint: "COMPLAINED",
  unsubscribe: "UNSUBSCRIBED",
  manual: "UNSUBSCRIBED",
};
const GRAVITY: readonly ContactStatus[] = ["SUBSCRIBED", "UNSUBSCRIBED", "BOUNCED", "COMPLAINED"];

type Operation =
  | { do: "create" | "delete" | "erase" | "remove" | "send" | "bypass" | "subscribe" | "unsubscribe" }
  | { do: "upsert" | "import"; status: "SUBSCRIBED" | "UNSUBSCRIBED" | undefined }
  | { do: "suppress" | "importSuppression"; reason: Reason; scope: Suppression["scope"] | undefined };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ do: fc.constantFrom("create", "delete", "erase", "remove", "send", "bypass", "subscribe", "unsubscribe") }),
  fc.record({ do: fc.constantFrom("upsert", "import"), status: fc.constantFrom("SUBSCRIBED", "UNSUBSCRIBED", undefined) }),
  fc.record({
    do: fc.constantFrom("suppress", "importSuppression"),
    reason: fc.constantFrom("bounce", "complaint", "unsubscribe", "manual"),
    scope: fc.constantFrom("all", "marketing", undefined),
  }),
) as fc.Arbitrary<Operation>;

/** Applies an operation to the model, and returns the error code it must have; null for success. */
function expectOutcome(model: Model, op: Operation): string | null {
  const unsubscribe = (): void => {
    model.suppression ??= { scope: "marketing", reason: "unsubscribe", unsubscribed: true };
    model.suppression.unsubscribed = true;
  };
  switch (op.do) {
    case "create":
      if (model.contact) return "duplicate_contact";
      if (model.suppression) return "email_suppressed";
      model.contact = "SUBSCRIBED";
      return null;
    case "upsert":
    case "import":
      model.contact ??= model.suppression ? STATUS[model.suppression.reason] : "SUBSCRIBED";
      if (op.status === "UNSUBSCRIBED") {
        if (model.contact === "SUBSCRIBED") model.contact = "UNSUBSCRIBED";
        unsubscribe();
      }
      return null;
    case "subscribe":
      if (!model.contact) return "not_found";
      if (model.suppression?.scope === "all")
        return model.contact === "BOUNCED" || model.contact === "COMPLAINED" ? "invalid_state" : "email_suppressed";
      Object.assign(model, { contact: "SUBSCRIBED", suppression: null });
      return null;
    case "unsubscribe":
      if (!model.contact) return "not_found";
      model.contact = "UNSUBSCRIBED";
      unsubscribe();
      return null;
    case "suppress":
    case "importSuppression": {
      const { reason, scope = reason === "unsubscribe" ? "marketing" : "all" } = op;
      const unsubscribed = reason === "unsubscribe" || (model.suppression?.unsubscribed ?? false);
      if (!model.suppression || (model.suppression.scope === "marketing" && scope === "all"))
        model.suppression = { reason, scope, unsubscribed };
      model.suppression.unsubscribed = unsubscribed;
      if (model.contact && GRAVITY.indexOf(STATUS[reason]) > GRAVITY.indexOf(model.contact)) model.contact = STATUS[reason];
      return null;
    }
    case "remove":
      if (!model.suppression) return "not_found";
      model.suppression =
        model.suppression.unsubscribed && model.suppression.reason !== "unsubscribe"
          ? { reason: "unsubscribe", scope: "marketing", unsubscribed: true }
          : null;
      return null;
    case "delete":
      if (!model.contact) return "not_found";
      model.contact = null;
      return null;
    case "erase":
      model.contact = null;
      return null;
    default:
      return model.suppression && (model.suppression.scope === "all" || op.do === "send") ? "recipient_suppressed" : null;
  }
}

async function run({ sdk }: TestWorld, email: string, op: Operation): Promise<unknown> {
  const findId = async (): Promise<string> => (await sdk.contacts.list({ search: email.replaceAll('"', "") })).data[0]?.id ?? "con_none";
  const mail = { from: "a@acme.test", to: email, subject: "x", text: "x" };
  switch (op.do) {
    case "create":
      return sdk.contacts.create({ email });
    case "upsert":
      return sdk.contacts.upsert({ email, ...(op.status && { status: op.status }) });
    case "import":
      return sdk.contacts.import({ rows: [{ email, ...(op.status && { status: op.status }) }] });
    case "subscribe":
      return sdk.contacts.update(await findId(), { status: "SUBSCRIBED" });
    case "unsubscribe":
      return sdk.contacts.update(await findId(), { status: "UNSUBSCRIBED" });
    case "suppress":
      return sdk.suppressions.create({ email, reason: op.reason, ...(op.scope && { scope: op.scope }) });
    case "importSuppression":
      return sdk.suppressions.import({ entries: [{ email, reason: op.reason, ...(op.scope && { scope: op.scope }) }] });
    case "remove":
      return sdk.suppressions.delete(email);
    case "delete":
      return sdk.contacts.delete(await findId());
    case "erase":
      // There may be nothing left to erase, which is not of interest here.
      return sdk.people.erase(email).catch(() => null);
    case "send":
      return sdk.emails.send(mail);
    default:
      return sdk.emails.send({ ...mail, bypassUnsubscribe: true });
  }
}

test("no sequence of operations, in any spelling, resubscribes a person or sends them email unless it says so", {
  timeout: 240_000,
}, async () => {
  await using world = await createWorld();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(operation, fc.nat(2)), { minLength: 5, maxLength: 25 }), async (operations) => {
      runs += 1;
      const name = `r${runs}x`;
      const spellings = [`${name}@example.com`, `"${name}"@example.com`, `${name.toUpperCase()}@EXAMPLE.com`];
      const model: Model = { contact: null, suppression: null };
      for (const [step, [op, spelling]] of operations.entries()) {
        const wanted = expectOutcome(model, op);
        const code = await run(world, spellings[spelling] as string, op).then(
          () => null,
          (error: { code?: string }) => error.code ?? String(error),
        );
        expect([step, op, code]).toEqual([step, op, wanted]);
        const contact = (await world.sdk.contacts.list({ search: `${name}@` })).data[0];
        const found = await ask(world, { method: "GET", path: `/api/v1/suppressions/${spellings[0]}` });
        const suppression = found.status === 404 ? null : ((await found.json()) as Suppression);
        const shown = suppression && {
          scope: suppression.scope,
          reason: suppression.reason,
          unsubscribed: suppression.unsubscribedAt !== null,
        };
        expect([step, op, contact?.status ?? null, shown]).toEqual([step, op, model.contact, model.suppression]);
      }
    }),
    { numRuns: propertyRuns(60), seed: 17 },
  );
});
