import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADA, type Setting, start } from "../../test/receiving.ts";

// Mail of other people's programs: messages written by Python's email.message, over the connections of its smtplib.

const DOMAIN = "in.acme.test";

const PRELUDE = `
import base64, json, smtplib, sys
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import make_msgid
args = json.loads(sys.argv[1])
def write(text, **headers):
    mail = EmailMessage()
    mail["From"] = "Ada Lovelace <ada@example.com>"
    mail["To"] = args["to"]
    mail["Message-ID"] = make_msgid(domain="mail.example.com")
    for name, value in headers.items(): mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return mail
smtp = smtplib.SMTP("127.0.0.1", args["port"], timeout=60)
`;

let setting: Setting;
let sdk: Setting["world"]["sdk"];

beforeAll(async () => {
  setting = await start();
  ({ sdk } = setting.world);
  await sdk.inboundDomains.create({ domain: DOMAIN });
});

afterAll(() => setting[Symbol.asyncDispose]());

/** Runs a program in Python, and returns what it prints as JSON. A machine without Python fails the test. */
async function python(program: string, more: Record<string, unknown> = {}): Promise<unknown> {
  const args = JSON.stringify({ port: setting.server.port, to: `hello@${DOMAIN}`, ...more });
  const { stdout } = await promisify(execFile)("python3", ["-c", PRELUDE + program, args], { timeout: 120_000 });
  return JSON.parse(stdout);
}

/** The mail with this subject. */
async function find(subject: string) {
  const all = await sdk.received.list().toArray();
  const found = all.filter((mail) => mail.subject === subject);
  expect(found).toHaveLength(1);
  return sdk.received.get(found[0]?.id ?? "");
}

test("a reply with text, HTML and files comes into the conversation of the email", async () => {
  const { id } = await sdk.emails.send({
    from: "Acme <hello@acme.test>",
    to: ADA,
    subject: "Order",
    text: "Did all arrive?",
    replyTo: "auto",
  });
  const { headers } = await sdk.inbox.get((await sdk.inbox.wait({ to: ADA, subject: "Order" })).id);
  const header = (name: string): string => headers.find((one) => one.name === name)?.value ?? "";
  const size = 300_000;
  const refused = await python(
    `
mail = write("Yes, all of it.\\n\\nOn Thu, 1 Jan 2026 at 01:00, Acme <hello@acme.test> wrote:\\n> Did all arrive?\\n", Subject="Re: Order",
    In_Reply_To=args["messageId"], References=args["messageId"])
mail.add_alternative("<p>Yes, all of it.</p>", subtype="html")
mail.add_attachment(bytes(i * 31 % 256 for i in range(${size})), maintype="application", subtype="pdf", filename="Quittung für Ada.pdf")
mail.add_attachment("a,b\\n1,2\\n", subtype="csv", filename="table.csv")
print(json.dumps(smtp.send_message(mail, to_addrs=[args["to"]])))
smtp.quit()`,
    { to: header("Reply-To"), messageId: header("Message-ID") },
  );
  expect(refused).toEqual({});
  const mail = await find("Re: Order");
  expect(mail).toMatchObject({ emailId: id, threadId: id, from: ADA, fromName: "Ada Lovelace", reply: "Yes, all of it.", autoReply: null });
  expect(mail.html?.trim()).toBe("<p>Yes, all of it.</p>");
  expect(mail.attachments).toMatchObject([
    { number: 1, filename: "Quittung für Ada.pdf", contentType: "application/pdf", size },
    { number: 2, filename: "table.csv", contentType: "text/csv" },
  ]);
  const file = Buffer.from(Array.from({ length: size }, (_, i) => (i * 31) % 256));
  expect(file.equals(await sdk.received.attachment(mail.id, "1"))).toBe(true);
  expect((await sdk.explanations.get(mail.id)).summary).toContain(`It answers ${id}`);
});

test("8-bit texts and headers in UTF-8 are read as they were written", async () => {
  const features = await python(`
smtp.ehlo()
mail = write("Grüße aus Zürich – 日本語 😀\\n", Subject="Grüße 日本語 😀")
mail.policy = SMTPUTF8.clone(cte_type="8bit")
mail.replace_header("Content-Transfer-Encoding", "8bit")
mail.set_payload("Grüße aus Zürich – 日本語 😀\\n", "utf-8")
smtp.send_message(mail, mail_options=["BODY=8BITMIME", "SMTPUTF8"])
print(json.dumps(sorted(smtp.esmtp_features)))
smtp.quit()`);
  expect(features).toEqual(expect.arrayContaining(["8bitmime", "pipelining", "size", "smtputf8"]));
  expect((await find("Grüße 日本語 😀")).text.trim()).toBe("Grüße aus Zürich – 日本語 😀");
});

test("an address in UTF-8 is taken at an inbound domain", async () => {
  await python(
    `
smtp.ehlo()
mail = write("Hello\\n", Subject="To an international address")
smtp.send_message(mail)
smtp.quit()
print("null")`,
    { to: `jörg@${DOMAIN}` },
  );
  expect(await find("To an international address")).toMatchObject({ to: `jörg@${DOMAIN}` });
});

test("several mails go over one connection, and commands that are sent together are answered in order", async () => {
  const replies = await python(`
smtp.ehlo()
for i in range(3): smtp.send_message(write("One of three\\n", Subject=f"Number {i}"))
body = write("Pipelined\\n.\\n..dots\\n", Subject="Pipelined").as_bytes(policy=SMTP)
stuffed = b"".join((b"." + line if line.startswith(b".") else line) for line in body.splitlines(True))
smtp.send(b"MAIL FROM:<ada@example.com>\\r\\nRCPT TO:<nobody@example.net>\\r\\nRCPT TO:<" + args["to"].encode() + b">\\r\\nDATA\\r\\n")
codes = [smtp.getreply()[0] for _ in range(4)]
smtp.send(stuffed + b".\\r\\nNOOP\\r\\nQUIT\\r\\n")
codes += [smtp.getreply()[0] for _ in range(3)]
print(json.dumps(codes))`);
  expect(replies).toEqual([250, 550, 250, 354, 250, 250, 221]);
  for (const i of [0, 1, 2]) expect((await find(`Number ${i}`)).text.trim()).toBe("One of three");
  expect((await find("Pipelined")).text.trim()).toBe("Pipelined\n.\n..dots");
});
