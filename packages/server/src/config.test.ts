import { expect, test } from "vitest";
import { ConfigError, describeIgnoredVariables, readConfig } from "./config.ts";

const config = (flags: Record<string, string>, env: Record<string, string> = {}) => readConfig({ flags, env, dev: false });

test("Stripe is set up by its key and its webhook's secret, and not by one of them", () => {
  expect(config({}).stripe).toBeNull();
  expect(config({ "stripe-key": "sk_1", "stripe-webhook-secret": "whsec_1" }).stripe).toEqual({
    key: "sk_1",
    webhookSecret: "whsec_1",
    url: null,
  });
  const env = { MAILSVC_STRIPE_KEY: "sk_1", MAILSVC_STRIPE_WEBHOOK_SECRET: "whsec_1", MAILSVC_STRIPE_URL: "http://127.0.0.1:9" };
  expect(config({}, env).stripe).toEqual({ key: "sk_1", webhookSecret: "whsec_1", url: "http://127.0.0.1:9" });
  for (const half of ["stripe-key", "stripe-webhook-secret"]) expect(() => config({ [half]: "x" })).toThrow(ConfigError);
  expect(() => config({ "stripe-key": "sk_1", "stripe-webhook-secret": "whsec_1", "stripe-url": "ftp://x" })).toThrow("--stripe-url");
});

test.each([" ", "hunter2\n", "hunter 2"])(
  "a key or secret of Stripe that is %j is refused at the start, without being repeated",
  (text) => {
    for (const [key, secret, flag] of [
      [text, "whsec_1", "--stripe-key"],
      ["sk_1", text, "--stripe-webhook-secret"],
    ] as const) {
      const read = () => config({ "stripe-key": key, "stripe-webhook-secret": secret });
      expect(read).toThrow(`${flag} is empty, or holds a space or a line break.`);
      expect(read).not.toThrow("hunter");
    }
  },
);

test("dev mode uses the database and the relay that a flag names, and none of the environment", () => {
  const env = {
    MAILSVC_DATABASE_URL: "postgres://production.example/mailsvc",
    MAILSVC_SMTP_URL: "smtp://production.example",
    MAILSVC_RELAYS: "/etc/relays.json",
  };
  const inDev = (flags: Record<string, string>) => readConfig({ flags, env, dev: true });
  const nothing = { databaseUrl: null, smtpUrl: null, relays: null };
  expect(inDev({})).toMatchObject({ ...nothing, ignoredVariables: Object.keys(env) });
  expect(inDev({ data: "here" })).toMatchObject({ ...nothing, data: "here" });
  expect(inDev({ "smtp-url": "smtp://127.0.0.1:1", "database-url": "postgres://127.0.0.1/dev" })).toMatchObject({
    databaseUrl: "postgres://127.0.0.1/dev",
    smtpUrl: "smtp://127.0.0.1:1",
    relays: null,
    ignoredVariables: ["MAILSVC_RELAYS"],
  });
  expect(describeIgnoredVariables({ ignoredVariables: ["MAILSVC_DATABASE_URL", "MAILSVC_RELAYS"] })).toBe(
    "Dev mode ignores MAILSVC_DATABASE_URL and MAILSVC_RELAYS, because the environment often names production. To use them, pass --database-url and --relays.",
  );
  const inProduction = { databaseUrl: env.MAILSVC_DATABASE_URL, smtpUrl: env.MAILSVC_SMTP_URL, relays: env.MAILSVC_RELAYS };
  expect(config({ data: "for-first-keys" }, env)).toMatchObject({ ...inProduction, ignoredVariables: [] });
});

test("a secret key is 32 bytes, or it is refused without being repeated", () => {
  expect(config({}).secretKeys).toBeNull();
  expect(config({ "secret-key": `${"00".repeat(32)},${"11".repeat(32)}` }).secretKeys).toMatchObject({ old: [{ since: 0 }] });
  expect(() => config({ "secret-key": "hunter2" })).toThrow(/^--secret-key takes 32 bytes/);
  expect(() => config({ "secret-key": "hunter2" })).not.toThrow("hunter2");
});

test("how long records are kept is said by kind, and logs go no later than their runs", () => {
  const kept = (keep?: string) => readConfig({ flags: keep === undefined ? {} : { keep }, env: {}, dev: false }).keepDays;
  expect(kept()).toEqual({
    logs: 30,
    runs: 365,
    deliveries: 90,
    stats: 730,
    events: null,
    received: null,
    emails: null,
    audit: 365,
    requests: 0,
  });
  expect(kept("logs=7, deliveries=forever")).toEqual({
    logs: 7,
    runs: 365,
    deliveries: null,
    stats: 730,
    events: null,
    received: null,
    emails: null,
    audit: 365,
    requests: 0,
  });
  expect(kept("audit=forever,requests=30")).toMatchObject({ audit: null, requests: 30 });
  expect(kept("runs=10d")).toMatchObject({ logs: 10, runs: 10 });
  expect(kept("runs=forever,logs=forever")).toMatchObject({ logs: null, runs: null });
  expect(kept("logs=forever")).toMatchObject({ logs: 365 });
  for (const wrong of ["", "mails=3", "logs=", "logs=-1", "logs=x", "logs=0", "logs=40000"]) expect(() => kept(wrong)).toThrow(/^--keep /);
});

test.each(["data", "host", "port", "database-url"] as const)("an empty --%s is refused", (name) => {
  expect(() => readConfig({ flags: { [name]: "" }, env: {}, dev: false })).toThrow(`--${name} needs a value, but the one given is empty.`);
});

test.each(["https://acme.example/mail", "https://acme.example/?a=1", "https://acme.example/#x", "https://ada:secret@acme.example"])(
  "the public address %s is refused, because pages name paths at the root of their host",
  (text) => {
    for (const flag of ["public-url", "tracking-url"])
      expect(() => config({ [flag]: text })).toThrow(
        `--${flag} names a host that is this server's alone, without a path: https://acme.example`,
      );
  },
);

test("addresses are taken with a trailing slash, and IPv6 addresses in brackets", () => {
  expect(config({ "public-url": "https://acme.example/" }).publicUrl).toBe("https://acme.example");
  expect(config({ "public-url": "http://[::1]:2526" }).publicUrl).toBe("http://[::1]:2526");
  for (const host of ["::1", "[::1]"]) expect(config({ host }).host).toBe("::1");
});

test("an address that is no URL is told from one of another protocol", () => {
  expect(() => config({ "smtp-url": "http://127.0.0.1:25" })).toThrow("--smtp-url must begin with smtp:// or smtps://.");
  for (const [flag, text] of [
    ["smtp-url", "smtp://::1:25"],
    ["database-url", "postgres://mail:p#ss@127.0.0.1/mail"],
  ] as const) {
    expect(() => config({ [flag]: text })).toThrow(`--${flag} is not a valid URL. Put IPv6 addresses in brackets, as in [::1]`);
    expect(() => config({ [flag]: text })).not.toThrow(text);
  }
});
