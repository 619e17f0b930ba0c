import { expect, test } from "vitest";
import { createWorld } from "../../testing.ts";

const SIGNED = "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20300131/us-east-1/ses/aws4_request, SignedHeaders=host, Signature=0";

test("mail, templates, suppressions and the account work on each database", async () => {
  await using world = await createWorld();
  const call = async (method: string, path: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> => {
    const headers = { authorization: SIGNED, "content-type": "application/json" };
    const answer = await world.fetch(`${world.url}/ses/v2/email${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const from = { FromEmailAddress: "hello@acme.example" };
  await call("POST", "/templates", { TemplateName: "Welcome", TemplateContent: { Subject: "Hi {{name}}", Text: "Hi {{name}}" } });
  expect(await call("GET", "/templates")).toMatchObject({ body: { TemplatesMetadata: [{ TemplateName: "Welcome" }] } });
  const bulk = await call("POST", "/outbound-bulk-emails", {
    ...from,
    DefaultContent: { Template: { TemplateName: "Welcome", TemplateData: '{"name":"you"}' } },
    BulkEmailEntries: [
      { Destination: { ToAddresses: ["ada@example.com"] } },
      { Destination: { ToAddresses: ["bounce@simulator.amazonses.com"] } },
    ],
  });
  expect(bulk.body).toMatchObject({ BulkEmailEntryResults: [{ Status: "SUCCESS" }, { Status: "SUCCESS" }] });
  const raw = Buffer.from("From: hello@acme.example\r\nTo: grace@example.com\r\nSubject: Raw\r\n\r\nAs it is.\r\n").toString("base64");
  expect(await call("POST", "/outbound-emails", { Content: { Raw: { Data: raw } } })).toMatchObject({ status: 200 });
  await world.settle();
  const { data } = await world.sdk.emails.list({ limit: 10 });
  expect(data.map(({ subject, status }) => [subject, status]).toSorted()).toEqual([
    ["Hi you", "bounced"],
    ["Hi you", "delivered"],
    ["Raw", "delivered"],
  ]);
  await call("PUT", "/suppression/addresses", { EmailAddress: "gone@example.com", Reason: "COMPLAINT" });
  expect(await call("GET", "/suppression/addresses?Reason=COMPLAINT")).toMatchObject({
    body: { SuppressedDestinationSummaries: [{ EmailAddress: "gone@example.com", Reason: "COMPLAINT" }] },
  });
  expect(await call("DELETE", "/suppression/addresses/gone%40example.com")).toMatchObject({ status: 200, body: {} });
  expect(await call("GET", "/account")).toMatchObject({ body: { SendQuota: { SentLast24Hours: 2 } } });
});
