import { afterAll, expect, test } from "vitest";
import { createDatabase, dropDatabases } from "../../test/postgres.ts";
import { continueSending } from "../campaigns/sending.ts";
import { PERSON_DATA } from "../person-data.ts";
import { createWorld } from "../testing.ts";
import { eraseDataSubject, findAnswers } from "./data-subjects.ts";

afterAll(dropDatabases);

const ADA = "ada@example.com";

test("a person who becomes the recipient of a campaign while they are erased is erased as one, too", async () => {
  const database = await createDatabase();
  try {
    await using world = await createWorld({ databaseUrl: database.url });
    const { sdk, workspaceId } = world;
    const { deps } = world.app;
    await sdk.contacts.create({ email: ADA });
    const fields = { name: "Launch", subjectLine: "Hello", fromEmail: "news@acme.example", text: "Hello" };
    const { id: campaignId } = await sdk.campaigns.create(fields);
    await deps.queue.stop();
    await sdk.campaigns.send(campaignId);
    const begun = Promise.withResolvers<void>();
    const step = async (): Promise<void> => {
      await begun.promise;
      const { commit } = await continueSending(deps)({ payload: { workspaceId, campaignId, run: 1 } } as never);
      await deps.db.tx(async (tx) => void (await commit?.(tx)));
    };
    const stepped = step();
    const answers = await findAnswers(deps.db.read, deps, workspaceId, ADA);
    let tries = 0;
    await deps.db.tx(async (tx) => {
      tries += 1;
      // From here on it sees what is stored now.
      await tx.select().from(tx.t.emails);
      begun.resolve();
      await stepped;
      await eraseDataSubject(tx, deps, PERSON_DATA, workspaceId, ADA, answers);
    });
    expect(tries).toBe(2);
    expect(await deps.db.read.select().from(deps.db.read.t.emails)).toEqual([]);
  } finally {
    await database.drop();
  }
});
