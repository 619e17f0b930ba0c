import {
  CreateEmailTemplateCommand,
  DeleteEmailTemplateCommand,
  DeleteSuppressedDestinationCommand,
  GetAccountCommand,
  GetEmailTemplateCommand,
  GetSuppressedDestinationCommand,
  ListEmailTemplatesCommand,
  ListSuppressedDestinationsCommand,
  PutSuppressedDestinationCommand,
  SESv2Client,
  SendBulkEmailCommand,
  SendEmailCommand,
  TestRenderEmailTemplateCommand,
  UpdateEmailTemplateCommand,
} from "@aws-sdk/client-sesv2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ResendServer, startResend } from "../../../test/resend-server.ts";

let server: ResendServer;
let ses: SESv2Client;

const connect = ({ url }: ResendServer, accessKeyId: string): SESv2Client =>
  new SESv2Client({ endpoint: `${url}/ses`, region: "us-east-1", credentials: { accessKeyId, secretAccessKey: "any" } });

beforeAll(async () => {
  server = await startResend();
  ses = connect(server, "AKIAIOSFODNN7EXAMPLE");
});
afterAll(async () => {
  ses.destroy();
  await server.close();
});

const show = async (id: string | undefined): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${server.url}/api/v1/emails/${id}`, { headers: { authorization: `Bearer ${server.apiKey}` } });
  return (await answer.json()) as Record<string, unknown>;
};
const text = (Data: string) => ({ Data });
const simple = { Simple: { Subject: text("Hello"), Body: { Text: text("It works."), Html: text("<p>It works.</p>") } } };
const send = (to: string) =>
  ses.send(new SendEmailCommand({ FromEmailAddress: "hello@acme.example", Destination: { ToAddresses: [to] }, Content: simple }));
const refusal = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => expect.fail("The call worked."),
    (error: Error) => error,
  );

test("a simple mail goes to all its recipients, with headers, tags and files", async () => {
  const { MessageId } = await ses.send(
    new SendEmailCommand({
      FromEmailAddress: "Acme <hello@acme.example>",
      Destination: { ToAddresses: ["ada@example.com"], CcAddresses: ["grace@example.com"] },
      ReplyToAddresses: ["desk@acme.example"],
      Content: {
        Simple: {
          ...simple.Simple,
          Headers: [{ Name: "X-Order", Value: "7" }],
          Attachments: [{ FileName: "a.txt", RawContent: Buffer.from("Hello"), ContentType: "text/plain" }],
        },
      },
      EmailTags: [{ Name: "kind", Value: "welcome" }],
      ConfigurationSetName: "main",
    }),
  );
  expect(await show(MessageId)).toMatchObject({
    ...{ from: "Acme <hello@acme.example>", subject: "Hello", text: "It works.", html: "<p>It works.</p>", replyTo: "desk@acme.example" },
    recipients: [
      { email: "ada@example.com", kind: "to" },
      { email: "grace@example.com", kind: "cc" },
    ],
    tags: { kind: "welcome", "configuration-set": "main" },
    attachments: [{ filename: "a.txt", size: 5 }],
  });
});

test("a raw mail goes out as it is, to those whom it names or to the destination", async () => {
  const message = "From: hello@acme.example\r\nTo: ada@example.com\r\nBcc: kay@example.com\r\nSubject: Raw\r\n\r\nAs it is.\r\n";
  const Content = { Raw: { Data: Buffer.from(message) } };
  const named = await ses.send(new SendEmailCommand({ Content, EmailTags: [{ Name: "kind", Value: "raw" }] }));
  expect(await show(named.MessageId)).toMatchObject({ subject: "Raw", tags: { kind: "raw" } });
  const shown = JSON.stringify(await show(named.MessageId));
  expect(shown).toContain("ada@example.com");
  expect(shown).toContain("kay@example.com");
  const other = await ses.send(new SendEmailCommand({ Content, Destination: { ToAddresses: ["grace@example.com"] } }));
  expect(JSON.stringify(await show(other.MessageId))).not.toContain("kay@example.com");
});

test("templates are created, listed, shown, rendered, sent, changed and deleted by their names", async () => {
  const TemplateName = "OrderShipped_2";
  const content = { Subject: "Order {{order}}", Html: "<p>Hi {{name}}</p>", Text: "Hi {{name}}" };
  await ses.send(new CreateEmailTemplateCommand({ TemplateName, TemplateContent: content }));
  expect(await refusal(ses.send(new CreateEmailTemplateCommand({ TemplateName, TemplateContent: content })))).toMatchObject({
    name: "AlreadyExistsException",
  });
  const { TemplatesMetadata } = await ses.send(new ListEmailTemplatesCommand({ PageSize: 5 }));
  expect(TemplatesMetadata).toEqual([{ TemplateName, CreatedTimestamp: expect.any(Date) }]);
  expect(await ses.send(new GetEmailTemplateCommand({ TemplateName }))).toMatchObject({ TemplateName, TemplateContent: content });
  const TemplateData = '{"order":"17","name":"Ada"}';
  const { RenderedTemplate } = await ses.send(new TestRenderEmailTemplateCommand({ TemplateName, TemplateData }));
  expect(RenderedTemplate).toContain("Subject: Order 17\r\n");
  expect(RenderedTemplate).toContain("<p>Hi Ada</p>");
  expect(await refusal(ses.send(new TestRenderEmailTemplateCommand({ TemplateName, TemplateData: "{}" })))).toMatchObject({
    name: "BadRequestException",
    message: expect.stringContaining("is not present in the rendering data"),
  });
  const from = { FromEmailAddress: "hello@acme.example" };
  const { MessageId } = await ses.send(
    new SendEmailCommand({
      ...from,
      Destination: { ToAddresses: ["ada@example.com"] },
      Content: { Template: { TemplateName, TemplateData } },
    }),
  );
  expect(await show(MessageId)).toMatchObject({ subject: "Order 17", text: "Hi Ada" });
  await ses.send(new UpdateEmailTemplateCommand({ TemplateName, TemplateContent: { Subject: "Sent: {{order}}", Text: "Hi {{name}}" } }));
  const { BulkEmailEntryResults } = await ses.send(
    new SendBulkEmailCommand({
      ...from,
      DefaultContent: { Template: { TemplateName, TemplateData: '{"order":"18","name":"you"}' } },
      BulkEmailEntries: [
        {
          Destination: { ToAddresses: ["grace@example.com"] },
          ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: '{"name":"Grace"}' } },
        },
        { Destination: { ToAddresses: ["no address"] } },
        { Destination: { BccAddresses: ["ada@example.com"] } },
        {
          Destination: { ToAddresses: ["ada@example.com"] },
          ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: "{" } },
        },
        { Destination: { ToAddresses: ["linus@example.com"] } },
      ],
    }),
  );
  expect(BulkEmailEntryResults).toMatchObject([
    { Status: "SUCCESS", MessageId: expect.any(String) },
    { Status: "INVALID_PARAMETER", Error: expect.stringMatching(/\w/) },
    { Status: "INVALID_PARAMETER", Error: expect.stringContaining("a mail has somebody in To") },
    { Status: "INVALID_PARAMETER", Error: expect.stringContaining("BulkEmailEntries[3]") },
    { Status: "SUCCESS", MessageId: expect.any(String) },
  ]);
  expect(await show(BulkEmailEntryResults?.[0]?.MessageId)).toMatchObject({ subject: "Sent: 18", text: "Hi Grace" });
  expect(await show(BulkEmailEntryResults?.[4]?.MessageId)).toMatchObject({ subject: "Sent: 18", text: "Hi you" });
  const unsent = { Destination: { BccAddresses: ["ada@example.com"] } };
  const none = await ses.send(
    new SendBulkEmailCommand({ ...from, DefaultContent: { Template: { TemplateName } }, BulkEmailEntries: [unsent] }),
  );
  expect(none.BulkEmailEntryResults).toMatchObject([{ Status: "INVALID_PARAMETER" }]);
  await ses.send(new DeleteEmailTemplateCommand({ TemplateName }));
  expect(await refusal(ses.send(new GetEmailTemplateCommand({ TemplateName })))).toMatchObject({ name: "NotFoundException" });
});

test("the suppression list is written, read and emptied", async () => {
  const EmailAddress = "gone@example.com";
  await ses.send(new PutSuppressedDestinationCommand({ EmailAddress, Reason: "BOUNCE" }));
  const { SuppressedDestination } = await ses.send(new GetSuppressedDestinationCommand({ EmailAddress }));
  expect(SuppressedDestination).toMatchObject({ EmailAddress, Reason: "BOUNCE", LastUpdateTime: expect.any(Date) });
  for (const Reasons of [["BOUNCE" as const], ["COMPLAINT" as const, "BOUNCE" as const]]) {
    const listed = await ses.send(new ListSuppressedDestinationsCommand({ Reasons, PageSize: 10 }));
    expect(listed.SuppressedDestinationSummaries?.map((one) => one.EmailAddress)).toEqual([EmailAddress]);
  }
  const others = await ses.send(new ListSuppressedDestinationsCommand({ Reasons: ["COMPLAINT"] }));
  expect(others.SuppressedDestinationSummaries).toEqual([]);
  await ses.send(new DeleteSuppressedDestinationCommand({ EmailAddress }));
  expect(await refusal(ses.send(new GetSuppressedDestinationCommand({ EmailAddress })))).toMatchObject({ name: "NotFoundException" });
});

test("the account shows its rate and how much it has sent", async () => {
  await send("ada@example.com");
  await server.settle();
  const { SendQuota, ProductionAccessEnabled } = await ses.send(new GetAccountCommand({}));
  expect(ProductionAccessEnabled).toBe(false);
  expect(SendQuota?.MaxSendRate).toBeGreaterThan(0);
  expect(SendQuota?.SentLast24Hours).toBeGreaterThan(0);
});

test("the addresses of AWS's simulator answer as there, again and again", async () => {
  for (const [name, status] of [
    ["success", "delivered"],
    ["bounce", "bounced"],
    ["suppressionlist", "bounced"],
    ["bounce", "bounced"],
  ] as const) {
    const { MessageId } = await send(`${name}@simulator.amazonses.com`);
    await server.settle();
    expect(await show(MessageId), name).toMatchObject({ status });
  }
});

test("errors have AWS's names, and say what to do", async () => {
  expect(await refusal(ses.send(new SendEmailCommand({ Destination: {}, Content: simple })))).toMatchObject({
    name: "BadRequestException",
    message: expect.stringContaining("FromEmailAddress"),
  });
  const twice = { Destination: { ToAddresses: ["ada@example.com"] }, Content: { ...simple, Raw: { Data: Buffer.from("x") } } };
  expect(await refusal(ses.send(new SendEmailCommand({ FromEmailAddress: "hello@acme.example", ...twice })))).toMatchObject({
    name: "BadRequestException",
    message: "Content takes one of Simple, Raw and Template.",
  });
  const raw = await fetch(`${server.url}/ses/v2/email/outbound-emails`, { method: "POST", body: "{}" });
  expect([raw.status, raw.headers.get("x-amzn-errortype")]).toEqual([403, "MissingAuthenticationTokenException"]);
  expect(await raw.json()).toMatchObject({ __type: "MissingAuthenticationTokenException", message: expect.any(String) });
  const absent = await fetch(`${server.url}/ses/v2/email/identities`, { method: "GET" });
  expect(absent.headers.get("x-amzn-errortype")).toBe("UnknownOperationException");
  expect(await absent.json()).toMatchObject({ message: expect.stringContaining("mailsvc senders create") });
  const unknown = await fetch(`${server.url}/ses/v2/email/nothing`, { headers: { accept: "application/json" } });
  expect([unknown.status, unknown.headers.get("x-amzn-errortype")]).toEqual([404, "NotFoundException"]);
});

test("outside of dev mode the key id is the key, and a key in the address of a request does not count", async () => {
  await using stack = new AsyncDisposableStack();
  const live = await startResend({ dev: false });
  stack.defer(() => live.close());
  const [known, unknown] = [connect(live, live.apiKey), connect(live, "AKIAIOSFODNN7EXAMPLE")];
  stack.defer(() => known.destroy());
  stack.defer(() => unknown.destroy());
  expect(await known.send(new GetAccountCommand({}))).toMatchObject({ ProductionAccessEnabled: true });
  expect(await refusal(unknown.send(new GetAccountCommand({})))).toMatchObject({ name: "UnrecognizedClientException" });
  const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${live.apiKey}/20300131/us-east-1/ses/aws4_request`;
  expect((await fetch(`${live.url}/ses/v2/email/account?${query}`)).status).toBe(403);
});
