import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;
beforeAll(async () => {
  server = await startResend();
});
afterAll(() => server.close());

test("recipients of a broadcast are listed by what happened to them", async () => {
  const { broadcasts, contacts, emails, segments } = server.resend;
  const segment = (await segments.create({ name: "Readers" })).data?.id ?? "";
  for (const email of ["ada@example.com", "bounced@resend.dev", "bounced+1@resend.dev"])
    expect((await contacts.create({ email, segments: [{ id: segment }] })).error).toBeNull();
  expect((await emails.send({ from: "hello@acme.com", to: "bounced+1@resend.dev", subject: "Hi", text: "Hi" })).error).toBeNull();
  await server.settle();
  const news = { from: "hello@acme.com", subject: "News", text: "News", segmentId: segment };
  const id = (await broadcasts.create(news)).data?.id ?? "";
  expect((await broadcasts.send(id)).error).toBeNull();
  await server.settle();
  const list = async (options: Parameters<typeof broadcasts.recipients>[1]) => (await broadcasts.recipients(id, options)).data?.data;
  expect(await list({ type: "delivered" })).toMatchObject([
    { email: "ada@example.com", contact_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  ]);
  expect(await list({ type: "bounced" })).toMatchObject([{ email: "bounced@resend.dev", bounce_type: "permanent" }]);
  expect(await list({ type: "bounced", bounceType: "transient" })).toEqual([]);
  expect(await list({ type: "suppressed" })).toMatchObject([{ email: "bounced+1@resend.dev" }]);
  expect(await list({ type: "sent", email: "ADA@example.com" })).toMatchObject([{ email: "ada@example.com" }]);
  for (const type of ["opened", "clicked", "complained", "unsubscribed"] as const) expect([type, await list({ type })]).toEqual([type, []]);
  const wrong = await broadcasts.recipients(id, { type: "sent", bounceType: "permanent" as never });
  expect(wrong.error).toMatchObject({ statusCode: 422, message: "bounce_type goes with type=bounced." });
});
