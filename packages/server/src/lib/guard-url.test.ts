import { describe, expect, test } from "vitest";
import { AllowedHosts } from "./allowed-hosts.ts";
import { checkWebhookUrl, isForbiddenAddress } from "./guard-url.ts";
import { seededRandom } from "./random.ts";

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
  // Numbers in other bases, shortened, in other scripts, as escapes.
  "https://0300.0250.1.1/",
  "https://0x.0x.0/",
  "https://3232235777/",
  "https://4294967295/",
  "https://%31%32%37.0.0.1/",
  "https://127。0。0。1/",
  "https://１２７.0.0.1/",
  "https://127.0.0.1\\@agent.example.com/",
  "https://agent.example.com:443@127.0.0.1/",
  "https://agent.example.com%2f@127.0.0.1/",
  // Old and special networks, and IPv4 within IPv6 in further ways.
  "https://192.88.99.1/",
  "https://192.31.196.1/",
  "https://192.52.193.1/",
  "https://192.175.48.1/",
  "https://[::ffff:0:127.0.0.1]/",
  "https://[::ffff:a9fe:a9fe]/",
  "https://[::a9fe:a9fe]/",
  "https://[64:ff9b::169.254.169.254]/",
  "https://[64:ff9b::a9fe:a9fe]/",
  "https://[2002:a9fe:a9fe::]/",
  "https://[2002:c0a8:101::1]/",
  "https://[2001:0:a9fe:a9fe::]/",
  "https://[100::1]/",
  "https://[2001:2::1]/",
  "https://[2001:10::1]/",
  "https://[2001:20::1]/",
  "https://[5f00::1]/",
  "https://[4000::1]/",
  "https://[fe80::1%25eth0]/",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://ⓛocalhost/",
  "https://loc%61lhost/",
  "https://locaLhost。/",
  "https://localhost./",
  "https://a.localhost/",
  "https://printer.local/",
  "https://vault.internal/",
  "https://router.lan/",
  "https://intranet/",
  "https://kubernetes.default.svc/",
  "https://metadata.google.internal/",
  "https://host.docker.internal/",
  "https://a.localdomain/",
  // Names that are none.
  "https://127.0.0.1../",
  "https://localhost../",
  "https://a..example.com/",
  "https://.example.com/",
  `https://${"a".repeat(64)}.com/`,
  `https://${"a.".repeat(130)}com/`,
  "https://agent.example.com%00.evil.com/",
  "https://agent.example.com:0/",
  "https://agent.example.com:65536/",
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
  // The text after a backslash is path, as in every browser: the host is the name before it.
  "https://agent.example.com\\@127.0.0.1/",
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

/** An IPv4 address in a notation of each kind. */
const notations = (a: number, b: number, c: number, d: number): string[] => {
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const [high, low] = [(whole >>> 16).toString(16), (whole & 0xffff).toString(16)];
  const hex = (n: number): string => `0x${n.toString(16)}`;
  const octal = (n: number): string => `0${n.toString(8)}`;
  return [
    `${a}.${b}.${c}.${d}`,
    String(whole),
    hex(whole),
    hex(whole).toUpperCase().replace("0X", "0x"),
    octal(whole),
    [a, b, c, d].map(hex).join("."),
    [a, b, c, d].map(octal).join("."),
    `${hex(a)}.${octal(b)}.${(c << 8) | d}`,
    `${a}.${(b << 16) | (c << 8) | d}`,
    `${a}.${b}.${c}.${d}.`,
    `${a}。${b}．${c}｡${d}`,
    [...`${a}.${b}.${c}.${d}`].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(""),
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::FFFF:${high}:${low}]`,
    `[0:0:0:0:0:ffff:${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::]`,
  ];
};

test("whatever is not for the world is refused in all notations there are, and in none of them let through by a lookup", () => {
  const random = seededRandom(11);
  const byte = (): number => Math.floor(random.fraction() * 256);
  for (let round = 0; round < 200; round += 1) {
    const quads: [number, number, number, number][] = [
      [10, byte(), byte(), byte()],
      [127, byte(), byte(), byte()],
      [169, 254, byte(), byte()],
      [172, 16 + (byte() % 16), byte(), byte()],
      [192, 168, byte(), byte()],
      [100, 64 + (byte() % 64), byte(), byte()],
    ];
    for (const quad of quads)
      for (const host of notations(...quad)) {
        const url = `https://${host}/`;
        expect([url, checkWebhookUrl(url, production)]).toEqual([url, expect.stringMatching(/\.$/)]);
        // A resolver of the operating system may read the address differently.
        const { hostname } = new URL(url);
        expect([url, isForbiddenAddress(hostname.replace(/^\[|\]$/g, ""), production)]).toEqual([url, true]);
      }
  }
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

test("in dev mode every port of this machine may be called but the server's own", () => {
  const guard = { dev: true, ownPort: 3000 };
  for (const host of ["127.0.0.1", "localhost", "[::1]", "x.localhost", "2130706433", "127.1"]) {
    expect(checkWebhookUrl(`http://${host}:3000/__dev/reset`, guard)).toBe("Port 3000 of this machine is this server itself.");
    expect(checkWebhookUrl(`http://${host}:3001/`, guard)).toBeNull();
  }
  expect(checkWebhookUrl("http://localhost/", { dev: true, ownPort: 80 })).toContain("Port 80");
  expect(checkWebhookUrl("http://localhost/", { dev: true, ownPort: null })).toBeNull();
});

test("hosts that the operator has named may be called, also over plain HTTP and on any port, and no others", () => {
  const allowed = new AllowedHosts("hooks.internal,localhost,127.0.0.1,10.0.0.0/8", (part) => {
    throw new Error(part);
  });
  const guard = { dev: false, ownPort: 3000, allowed };
  for (const url of [
    "http://hooks.internal/",
    "https://hooks.internal:9200/",
    "http://10.1.2.3:80/",
    "https://10.1.2.3/",
    "http://localhost:8080/",
  ])
    expect([url, checkWebhookUrl(url, guard), checkWebhookUrl(url, production)]).toEqual([url, null, expect.any(String)]);
  for (const url of [
    "http://agent.example.com/",
    "http://11.0.0.1/",
    "https://192.168.0.1/",
    "https://other.internal/",
    "https://x:y@10.0.0.1/",
  ])
    expect([url, checkWebhookUrl(url, guard)]).toEqual([url, expect.any(String)]);
  expect(checkWebhookUrl("ftp://hooks.internal/", guard)).toBe("A webhook URL must begin with https://.");
  expect(checkWebhookUrl("http://localhost:3000/", guard)).toBe("Port 3000 of this machine is this server itself.");
  expect([isForbiddenAddress("10.0.0.1", guard), isForbiddenAddress("192.168.0.1", guard)]).toEqual([false, true]);
});
