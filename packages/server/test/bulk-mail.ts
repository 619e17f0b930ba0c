import { announceEmails } from "../src/emails/schedule.ts";
import { insertContents, insertEmails } from "../src/emails/store.ts";
import { BULK } from "../src/emails/tables.ts";
import type { TestWorld } from "../src/testing.ts";

/** Stores emails that are to go as bulk mail, as those of a campaign do. */
export function sendAsBulk(w: TestWorld, to: string[]): Promise<string[]> {
  return w.app.deps.db.tx(async (tx) => {
    const { deps } = w.app;
    const { workspaceId } = w;
    const createdAt = deps.clock.now();
    const content = { workspaceId, from: "Acme <hello@acme.test>", subject: "Hello", text: "It works." };
    const [contentsId = 0] = await insertContents(tx, [content]);
    const rows = to.map((address) => ({
      workspaceId,
      id: deps.ids("em"),
      contentsId,
      to: address,
      toKey: address,
      createdAt,
      nextAttemptAt: createdAt,
      lane: BULK,
    }));
    await announceEmails(tx, deps, await insertEmails(tx, rows));
    return rows.map(({ id }) => id);
  });
}
