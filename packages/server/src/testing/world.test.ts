import { expect, test } from "vitest";
import { createWorld } from "../testing.ts";

test("an email goes from the API to the inbox", async () => {
  await using world = await createWorld();
  const sent = await world.sdk.emails.send({ from: "Acme <hi@acme.test>", to: "ada@example.com", subject: "Hello", text: "It works." });
  expect(sent).toEqual({ id: expect.stringMatching(/^em_/), status: "queued" });
  expect(await world.inbox.all()).toMatchObject([{ to: "ada@example.com", subject: "Hello" }]);
});

test("the same seed gives the same world", async () => {
  const story = async () => {
    await using world = await createWorld({ seed: 42 });
    await world.sdk.emails.send({
      from: "a@acme.test",
      to: ["b@example.com", "softbounced@simulator.mailsvc.test"],
      subject: "x",
      text: "y",
    });
    await world.clock.advance("30d");
    const emails = await world.sdk.emails.list().toArray();
    const told = await Promise.all(emails.map((e) => world.sdk.emails.get(e.id)));
    if (world.app.deps.db.engine === "sqlite") return told;
    // Over several connections, what happens at one instant is noted in no set order: the numbers of events may differ.
    return told.map((email) => ({ ...email, events: email.events.map(({ type, at, data }) => ({ type, at, data })) }));
  };
  const [one, two] = [await story(), await story()];
  expect(one).toHaveLength(2);
  expect(one).toEqual(two);
});
