import { describe, expect, test } from "vitest";
import { cleanMail } from "./collect.ts";
import { SecretFilter } from "./secrets.ts";

const KEY = "ms_dev_0123456789abcdefghij";
const TOKEN = "AbCdEfGhIjKlMnOp_-1234";
const filter = new SecretFilter();
filter.addPages([
  { path: "/unsubscribe/:token" },
  { path: "/t/c/:token" },
  { path: "/dashboard#:token" },
  { path: "/p/:ref", secretQuery: ["preview"] },
]);

describe("a filter of secrets", () => {
  test.each([
    ["a key", `Bearer ${KEY}`, "Bearer ms_dev_[removed]"],
    ["a webhook secret", "whsec_tWPqdZRDVti+77qaGTSyfZcV/pdj4qe76YAp/v3nzr0=", "whsec_[removed]"],
    ["the token of a link", `http://127.0.0.1:1/unsubscribe/${TOKEN}?x=1`, "http://127.0.0.1:1/unsubscribe/[removed]?x=1"],
    [
      "the signature of an address",
      `reply+01jc3v2m9k8q4w6x0y5z7a1b2c-${"0a".repeat(10)}@reply.test`,
      "reply+01jc3v2m9k8q4w6x0y5z7a1b2c-[removed]@reply.test",
    ],
    ["the token behind a #", `http://127.0.0.1:1/dashboard#${TOKEN}`, "http://127.0.0.1:1/dashboard#[removed]"],
    ["a parameter that opens a page", "/p/spring-1?x=1&preview=abc&y=2", "/p/spring-1?x=1&preview=[removed]&y=2"],
    [
      "a link of such a page to itself",
      '<a href="?preview&#x3D;abc&amp;lang&#x3D;de">Deutsch</a>',
      '<a href="?preview&#x3D;[removed]&amp;lang&#x3D;de">Deutsch</a>',
    ],
    ["the password of an address", "smtps://user:pass%20word@mail.example", "smtps://user:[removed]@mail.example"],
  ])("removes %s from a text", (_what, text, cleaned) => {
    expect(filter.clean(text)).toBe(cleaned);
  });

  test.each(["secret", "key", "token", "sig", "signature", "password", "auth", "api_key", "apikey", "access-token"])(
    "removes a parameter called %s from the address of a webhook, however short it is",
    (name) => {
      const learning = new SecretFilter();
      const url = `http://127.0.0.1:9/hook?${name}=a1&x=plain`;
      learning.learnRequest({ url }, true);
      const shown = `http://127.0.0.1:9/hook?${name}=[removed]&x=plain`;
      expect(learning.clean(`Webhook ${url} refused the connection`)).toBe(`Webhook ${shown} refused the connection`);
      expect(learning.cleanUrl(url)).toBe(shown);
      expect(JSON.stringify(learning.cleanValue({ problems: [{ title: url }] }))).toContain(shown);
      expect(learning.clean(`POST /hook?${name}=a1&x=plain`)).toBe(`POST /hook?${name}=[removed]&x=plain`);
      expect(learning.clean("a1")).toBe("a1");
    },
  );

  test("takes time in proportion to the length of a text without spaces", () => {
    const long = "x".repeat(1_000_000);
    expect(filter.clean(`${long} ftp://ada:secret@a.example`)).toBe(`${long} ftp://ada:[removed]@a.example`);
  });

  test("removes what only its field betrays, and afterwards the same value everywhere", () => {
    const learning = new SecretFilter();
    learning.learn({ data: [{ apiKey: "plain-looking-value" }, { key: "company_name" }] });
    // The name of a property is no secret.
    expect(learning.clean("the company_name")).toBe("the company_name");
    expect(learning.cleanBody('{"password":"x","note":"plain-looking-value"}')).toBe('{"password":"[removed]","note":"[removed]"}');
  });

  test("removes secrets in the query of an address that a program names, and then everywhere", () => {
    const learning = new SecretFilter();
    const url = "https://shop.example/hook?shop=7&api_token=0123456789";
    learning.learnRequest({ url });
    expect(learning.cleanUrl(url)).toBe("https://shop.example/hook?shop=7&api_token=[removed]");
    expect(learning.clean(`POST ${url}`)).toBe("POST https://shop.example/hook?shop=7&api_token=[removed]");
  });

  test("removes secrets in the path of a webhook's address, and a token before its host, everywhere", () => {
    const learning = new SecretFilter();
    const slack = "https://hooks.slack.com/services/T00000000/B00000000/aBcDeFgHiJkLmNoPqRsTuVwX";
    const id = "act_01jc3v2m9k8q4w6x0y5z7a1b2c";
    learning.learnRequest({ url: slack }, true);
    learning.learnRequest({ steps: [{ kind: "webhook", url: "https://sk0123456789@api.example/incoming-web-hooks/0123456789abcdef" }] });
    learning.learnRequest({ webhookUrl: `https://app.example/hooks/${id}` });
    learning.learnRequest({ url: "https://webhooks:secret-of-it@hooks.example/in" }, true);
    expect(learning.clean("/api/v1/webhooks")).toBe("/api/v1/webhooks");
    learning.learnRequest({ variables: { url: "https://acme.example/reset/abcdefgh12345678" } });
    expect(learning.clean(`POST ${slack}`)).toBe("POST https://hooks.slack.com/services/T00000000/B00000000/[removed]");
    expect(learning.clean("https://sk0123456789@api.example/incoming-web-hooks/0123456789abcdef")).toBe(
      "https://[removed]@api.example/incoming-web-hooks/[removed]",
    );
    for (const kept of [id, "https://acme.example/reset/abcdefgh12345678"]) expect(learning.clean(kept)).toBe(kept);
  });

  test("removes fields of bodies that are cut off, and of forms", () => {
    expect(filter.cleanBody('{"name":"a","password":"hunter2","note":"cu')).toBe('{"name":"a","password":"[removed]","note":"cu');
    expect(filter.cleanBody("user=ada&password=hunter2&x=1")).toBe("user=ada&password=[removed]&x=1");
  });

  test("removes secrets among the arguments of a command", () => {
    const command = ["env", "API_TOKEN=abc", "test", "--password", "hunter2", "--key=abc", `Bearer ${KEY}`, "--grep", "token"];
    expect(filter.cleanCommand(command)).toEqual([
      ...["env", "API_TOKEN=[removed]", "test", "--password", "[removed]", "--key=[removed]", "Bearer ms_dev_[removed]", "--grep", "token"],
    ]);
  });

  test("keeps what a program writes into its own mail", () => {
    const text = "https://acme.example/reset?token=abcdefgh12345678 and https://acme.example/u/1";
    expect(filter.clean(text)).toBe(text);
  });

  test("leaves the content of files out of bodies", () => {
    expect(filter.cleanBody(JSON.stringify({ attachments: [{ content: "A".repeat(5000) }] }))).toBe(
      '{"attachments":[{"content":"[5000 characters]"}]}',
    );
  });
});

describe("the bytes of a mail", () => {
  const quoted = (text: string): string => text.replaceAll("=", "=3D").replace(/.{60}/g, "$&=\r\n");
  const base64 = (text: string): string => Buffer.from(text).toString("base64").replace(/.{76}/g, "$&\r\n");
  const link = `<a href="http://127.0.0.1:1/unsubscribe/${TOKEN}">out</a> ${"lorem ".repeat(20)} ${KEY}`;

  test.each([
    ["as they are", "7bit", (text: string) => text],
    ["quoted-printable", "quoted-printable", quoted],
    ["base64", "base64", base64],
  ])("are cleaned if they are encoded %s", (_name, encoding, encode) => {
    const raw = `From: a@x.example\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encode(link)}\r\n`;
    const cleaned = cleanMail(raw, filter);
    const [head = "", body = ""] = cleaned.split("\r\n\r\n");
    const read = /base64/.test(head) ? Buffer.from(body, "base64").toString() : body;
    expect(read).toContain("unsubscribe/[removed]");
    expect(read).toContain("ms_dev_[removed]");
    for (const secret of [TOKEN, KEY]) expect(read).not.toContain(secret);
  });

  test("are cleaned in their headers, also where those are folded or encoded", () => {
    const raw = `List-Unsubscribe: <http://127.0.0.1:1/unsubscribe/${TOKEN}>\r\nSubject: =?utf-8?B?${Buffer.from(`Key ${KEY}`).toString("base64")}?=\r\nX-Note: a\r\n b ${KEY}\r\n\r\nHi\r\n`;
    const cleaned = cleanMail(raw, filter);
    expect(cleaned).toContain("<http://127.0.0.1:1/unsubscribe/[removed]>");
    expect(cleaned).toContain("Subject: Key ms_dev_[removed]");
    expect(cleaned).toContain("X-Note: a b ms_dev_[removed]");
  });

  test("keep every part without a secret as it was, in mails within mails too", () => {
    const plain = `Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64("Grüße")}\r\n`;
    const secret = `Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(KEY)}\r\n`;
    const inner = `Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n${plain}--b\r\n${secret}--b--\r\n`;
    const raw = `Content-Type: multipart/mixed; boundary=a\r\n\r\nintro\r\n--a\r\n${inner}\r\n--a\r\nContent-Type: image/png\r\n\r\nPNG\r\n--a--\r\n`;
    const cleaned = cleanMail(raw, filter);
    expect(cleaned).toContain(plain);
    expect(cleaned).toContain("PNG");
    expect(cleaned).not.toContain(base64(KEY));
    expect(cleaned).toContain(Buffer.from("ms_dev_[removed]").toString("base64"));
    expect(cleanMail(inner.replace(secret, plain), filter)).toBe(inner.replace(secret, plain));
  });
});
