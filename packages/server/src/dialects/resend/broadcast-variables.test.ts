import { Mailsvc } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;
let number = 0;
beforeAll(async () => {
  server = await startResend();
});
afterAll(() => server.close());

/** The text that a contact gets of whom nothing is known but the address. */
async function broadcast(text: string): Promise<string> {
  const { segments, contacts, broadcasts } = server.resend;
  const email = `p${++number}@example.com`;
  const segmentId = (await segments.create({ name: email })).data?.id ?? "";
  await contacts.create({ email, segments: [{ id: segmentId }] });
  const { data, error } = await broadcasts.create({ segmentId, from: "news@acme.com", subject: "News", text });
  expect(error).toBeNull();
  await broadcasts.send(data?.id ?? "");
  await server.settle();
  const { inbox } = new Mailsvc({ baseUrl: server.url, apiKey: server.apiKey });
  return (await inbox.get((await inbox.list({ to: email })).data[0]?.id ?? "")).text ?? "";
}

test.each([
  ["plain", "Hi {{{FIRST_NAME|there}}}!", "Hi there!"],
  ["braces that close", "Hi {{{FIRST_NAME|a}}b}c}}}!", "Hi a}}b}c!"],
  ["braces at its end", "Hi {{{FIRST_NAME|{you}}}}!", "Hi {you}!"],
  ["both quotes", `Hi {{{FIRST_NAME|"it's"}}}!`, `Hi "it's"!`],
  ["a backslash at its end", "Hi {{{FIRST_NAME|a\\}}}", "Hi a\\"],
  ["an empty one", "Hi {{{FIRST_NAME|}}}!", "Hi !"],
])("a fallback may contain %s", async (_name, text, expected) => {
  expect(await broadcast(text)).toContain(expected);
});

test("the fallback with which a property was declared may contain anything", async () => {
  const fallbackValue = `a}}b {{#if x}} "it's" {{{EMAIL}}} \\`;
  await server.resend.contactProperties.create({ key: "motto", type: "string", fallbackValue });
  expect(await broadcast("Motto: {{{contact.motto}}}")).toContain(`Motto: ${fallbackValue}`);
});
