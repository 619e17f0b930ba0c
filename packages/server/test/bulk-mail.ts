import { scheduleEmails } from "../src/emails/schedule.ts";
import { insertContents, insertEmails } from "../src/emails/store.ts";
import type { TestWorld } from "../src/testing.ts";

/** Stores emails and schedules them as bulk mail, as a campaign does. */
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
    }));
    await insertEmails(tx, rows);
    const emailIds = rows.map(({ id }) => id);
    await scheduleEmails(tx, deps, { workspaceId, emailIds, bytes: 0 });
    return emailIds;
  });
}
