import { describe, expect, test } from "vitest";
import { checkWebhookUrl, isForbiddenAddress } from "./guard-url.ts";

const production = { dev: false };
const dev = { dev: true };

// Every way to write this machine, this network, or what stands for them inside IPv6.
const FORBIDDEN = [
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0177.0.0.1/",
  "https://0x7f.1/",
  "https://0x7f000001/",
  "https://017700000001/",
  "https://127.0.0.1./",
  "https://①②⑦.0.0.1/",
  "https://0/",
  "https://0.0.0.0/",
  "https://0.1.2.3/",
  "https://10.0.0.1/",
  "https://172.16.0.1/",
  "https://172.31.255.255/",
  "https://192.168.1.1/",
  "https://169.254.169.254/latest/meta-data/",
  "https://100.64.0.1/",
  "https://192.0.0.1/",
  "https://192.0.2.1/",
  "https://198.18.0.1/",
  "https://198.51.100.7/",
  "https://203.0.113.9/",
  "https://224.0.0.1/",
  "https://240.0.0.1/",
  "https://255.255.255.255/",
  "https://[::1]/",
  "https://[::]/",
  "https://[0:0:0:0:0:0:0:1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::ffff:10.0.0.1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[64:ff9b:1::a00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[2001:0:7f00:1::]/",
  "https://[fc00::1]/",
  "https://[fd12:3456::1]/",
  "https://[fe80::1]/",
  "https://[fec0::1]/",
  "https://[ff02::1]/",
  "https://[2001:db8::1]/",
  "https://[3fff::1]/",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://localhost./",
  "https://a.localhost/",
  "https://printer.local/",
  "https://vault.internal/",
  "https://router.lan/",
  "https://intranet/",
  "https://agent.example.com:22/",
  "https://agent.example.com:25/",
  "https://agent.example.com:80/",
  "https://agent.example.com:6379/",
  "https://agent.example.com:5432/",
  "http://agent.example.com/",
  "ftp://agent.example.com/",
  "file:///etc/passwd",
  "https://user:pw@agent.example.com/",
  "https://user@agent.example.com/",
  "not a url",
  "",
];

const ALLOWED = [
  "https://agent.example.com/webhook",
  "https://agent.example.com:8443/webhook?x=1",
  "https://agent.example.com./webhook",
  "https://93.184.216.34/",
  "https://[2606:2800:220:1:248:1893:25c8:1946]/",
  "https://bücher.example/",
  "https://localhost.example.com/",
];

describe("in production", () => {
  test.each(FORBIDDEN)("%s is refused, with a reason", (url) => {
    expect(checkWebhookUrl(url, production)).toMatch(/\.$/);
  });
  test.each(ALLOWED)("%s is fine", (url) => {
    expect(checkWebhookUrl(url, production)).toBeNull();
  });
});

describe("in dev mode", () => {
  test.each(["http://127.0.0.1:4000/hook", "http://localhost:80/", "http://[::1]:9200/", "http://2130706433/", "https://localhost/"])(
    "%s is fine: it is this machine",
    (url) => expect(checkWebhookUrl(url, dev)).toBeNull(),
  );
  test.each([
    "http://10.0.0.1/",
    "https://169.254.169.254/",
    "http://agent.example.com/",
    "https://0.0.0.0/",
    "ftp://127.0.0.1/",
    "http://user@127.0.0.1/",
  ])("%s is refused all the same", (url) => expect(checkWebhookUrl(url, dev)).not.toBeNull());
});

test.each([
  ["93.184.216.34", false],
  ["2606:4700::1111", false],
  ["::ffff:93.184.216.34", false],
  ["127.0.0.1", true],
  ["::ffff:127.0.0.1", true],
  ["fe80::1%eth0", true],
  ["169.254.169.254", true],
  ["", true],
  ["nonsense", true],
])("an answer of the name system or a peer, %s, is forbidden: %s", (ip, forbidden) => {
  expect(isForbiddenAddress(ip, production)).toBe(forbidden);
});

test("this machine is a peer that dev mode allows, and no other", () => {
  expect(["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "0.0.0.0"].map((ip) => isForbiddenAddress(ip, dev))).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
});
