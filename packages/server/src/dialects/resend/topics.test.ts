import { afterAll, beforeAll, expect, test } from "vitest";
import { call, type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;
beforeAll(async () => {
  server = await startResend();
});
afterAll(() => server.close());

const hello = { from: "Acme <hello@acme.com>", subject: "Hello", text: "It works." };

/** The data of an answer of the package. */
function dataOf<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error("An answer without an error has data.");
  return data;
}

const createTopic = async (name: string, defaultSubscription: "opt_in" | "opt_out") =>
  dataOf(await server.resend.topics.create({ name, defaultSubscription })).id;

/** Creates a contact, and stores its choice of a topic. */
async function choose(email: string, topic: string, subscription: "opt_in" | "opt_out", segments: string[] = []): Promise<string> {
  const { id } = dataOf(await server.resend.contacts.create({ email, segments: segments.map((segment) => ({ id: segment })) }));
  dataOf(await server.resend.contacts.topics.update({ id, topics: [{ id: topic, subscription }] }));
  return id;
}

/** The last event of each mail to these addresses, sent with a topic. */
async function sendEach(topicId: string, ...addresses: string[]): Promise<Record<string, string>> {
  const states: Record<string, string> = {};
  for (const to of addresses) {
    const { id } = dataOf(await server.resend.emails.send({ ...hello, to, topicId }));
    await server.settle();
    states[to] = dataOf(await server.resend.emails.get(id)).last_event;
  }
  return states;
}

test("mail of a topic that everybody has before choosing goes to all but those who opted out", async () => {
  const topic = await createTopic("Product news", "opt_in");
  expect(dataOf(await server.resend.topics.get(topic))).toMatchObject({ id: topic, name: "Product news", default_subscription: "opt_in" });
  const out = await choose("out@example.com", topic, "opt_out");
  await choose("in@example.com", topic, "opt_in");
  expect(await sendEach(topic, "out@example.com", "in@example.com", "stranger@example.com")).toEqual({
    "out@example.com": "suppressed",
    "in@example.com": "delivered",
    "stranger@example.com": "delivered",
  });
  const chosen = dataOf(await server.resend.contacts.topics.list({ id: out })).data;
  expect(chosen).toContainEqual(expect.objectContaining({ id: topic, subscription: "opt_out" }));
  dataOf(await server.resend.contacts.topics.update({ id: out, topics: [{ id: topic, subscription: "opt_in" }] }));
  expect(await sendEach(topic, "out@example.com")).toEqual({ "out@example.com": "delivered" });
});

test("mail of a topic that people opt in to goes to those alone", async () => {
  const topic = await createTopic("Offers", "opt_out");
  await choose("buyer@example.com", topic, "opt_in");
  await server.resend.contacts.create({ email: "quiet@example.com" });
  expect(await sendEach(topic, "buyer@example.com", "quiet@example.com", "nobody@example.com")).toEqual({
    "buyer@example.com": "delivered",
    "quiet@example.com": "suppressed",
    "nobody@example.com": "suppressed",
  });
});

test("of a mail to several, those who opted out get nothing, and an explanation says why", async () => {
  const topic = await createTopic("Digest", "opt_in");
  await choose("left@example.com", topic, "opt_out");
  const to = ["left@example.com", "stays@example.com"];
  const batch = dataOf(
    await server.resend.batch.send([
      { ...hello, to, topicId: topic },
      { ...hello, to },
    ]),
  );
  await server.settle();
  const why = async (id: string | undefined): Promise<string> => {
    const answer = await fetch(`${server.url}/api/v1/explain/${id}?recipient=left@example.com`, {
      headers: { authorization: `Bearer ${server.apiKey}` },
    });
    return JSON.stringify(await answer.json());
  };
  const [first, second] = batch.data;
  expect(await why(first?.id)).toContain("left@example.com opted out of its topic");
  expect(await why(second?.id)).toContain("It was delivered");
});

test("a key that may only send sends mail of a topic", async () => {
  const topic = await createTopic("Receipts", "opt_in");
  await choose("never@example.com", topic, "opt_out");
  const { token } = dataOf(await server.resend.apiKeys.create({ name: "sends", permission: "sending_access" }));
  const mail = { ...hello, to: "never@example.com", topic_id: topic };
  const sent = await call(server, "POST", "/emails", mail, { authorization: `Bearer ${token}` });
  expect(sent.status).toBe(200);
  await server.settle();
  expect(dataOf(await server.resend.emails.get((sent.body as { id: string }).id)).last_event).toBe("suppressed");
});

test("a broadcast goes to those of its segment who get its topic", async () => {
  const { broadcasts, segments } = server.resend;
  const { id: segmentId } = dataOf(await segments.create({ name: "Customers" }));
  for (const kind of ["opt_in", "opt_out"] as const) {
    const topicId = await createTopic(`Broadcasts ${kind}`, kind);
    await choose(`yes-${kind}@example.com`, topicId, "opt_in", [segmentId]);
    await choose(`no-${kind}@example.com`, topicId, "opt_out", [segmentId]);
    await choose(`elsewhere-${kind}@example.com`, topicId, "opt_in");
    const made = dataOf(await broadcasts.create({ ...hello, segmentId, topicId, name: kind }));
    expect(dataOf(await broadcasts.get(made.id))).toMatchObject({ segment_id: segmentId, topic_id: topicId });
    dataOf(await broadcasts.send(made.id));
    await server.settle();
    const got = dataOf(await broadcasts.recipients(made.id, { type: "delivered" })).data.map(({ email }) => email);
    expect(got.filter((email) => email.includes(kind)).toSorted()).toEqual([`yes-${kind}@example.com`]);
    const { id: alone } = dataOf(await broadcasts.create({ ...hello, segmentId, topicId }));
    dataOf(await broadcasts.update(alone, { topicId: null }));
    expect(dataOf(await broadcasts.get(alone))).toMatchObject({ segment_id: segmentId, topic_id: null });
  }
});

test("topics are renamed and deleted, with the choices of contacts", async () => {
  for (const kind of ["opt_in", "opt_out"] as const) {
    const id = await createTopic(`Old ${kind}`, kind);
    const contact = await choose(`chooser-${kind}@example.com`, id, "opt_out");
    dataOf(await server.resend.topics.update({ id, name: `New ${kind}`, description: "Monthly" }));
    expect(dataOf(await server.resend.topics.get(id))).toMatchObject({ name: `New ${kind}`, description: "Monthly" });
    const chosen = async () => dataOf(await server.resend.contacts.topics.list({ id: contact })).data.find((topic) => topic.id === id);
    expect(await chosen()).toMatchObject({ subscription: "opt_out" });
    dataOf(await server.resend.topics.remove(id));
    expect(await chosen()).toBeUndefined();
    expect((await server.resend.topics.get(id)).error).toMatchObject({ statusCode: 404 });
  }
});
