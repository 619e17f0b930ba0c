import { expect, test } from "vitest";
import { ADA, newest, start, write } from "../../test/receiving.ts";
import { readId, serve, submitTo } from "../../test/submission.ts";

test("an answer to a message that a program submitted belongs to its conversation, and the message itself coming back is a loop", async () => {
  await using s = await start();
  const { sdk, app } = s.world;
  await sdk.inboundDomains.create({ domain: "in.acme.test" });
  const server = await serve(s.world);
  const submitted =
    "From: Acme <hello@in.acme.test>\r\nTo: ada@example.com\r\nSubject: Hi\r\nMessage-ID: <17@django.acme.test>\r\n\r\nHi Ada\r\n";
  const id = readId(await submitTo(server.port, submitted));
  await s.world.settle();
  expect(await s.deliver("hello@in.acme.test", write("Thanks", { "In-Reply-To": "<17@django.acme.test>" }))).toBe(250);
  expect(await newest(s)).toMatchObject({ emailId: id, threadId: id, autoReply: null });
  await s.deliver(
    "hello@in.acme.test",
    write("Thanks", { "Message-ID": "<2@x>", From: "eve@example.com", References: "<17@django.acme.test>" }),
  );
  expect(await newest(s)).toMatchObject({ emailId: null, threadId: id });
  await s.deliver("hello@in.acme.test", Buffer.from(submitted));
  expect(await newest(s)).toMatchObject({ autoReply: "loop" });
  const labels = () => app.deps.db.read.$count(app.deps.db.read.t.emailLabels);
  expect(await labels()).toBe(1);
  await sdk.people.erase(ADA);
  expect(await labels()).toBe(0);
});

test("an answer to a message that a program submitted once for each recipient belongs to the mail of its sender", async () => {
  await using s = await start();
  await s.world.sdk.inboundDomains.create({ domain: "in.acme.test" });
  const server = await serve(s.world);
  const submitted =
    "From: Acme <hello@in.acme.test>\r\nTo: ada@example.com, grace@example.com\r\nSubject: Hi\r\nMessage-ID: <18@django.acme.test>\r\n\r\nHi\r\n";
  const id = readId(await submitTo(server.port, submitted));
  await submitTo(server.port, submitted, { to: ["grace@example.com"] });
  await s.world.settle();
  await s.deliver("hello@in.acme.test", write("Thanks", { "In-Reply-To": "<18@django.acme.test>" }));
  expect(await newest(s)).toMatchObject({ emailId: id, threadId: id });
});
