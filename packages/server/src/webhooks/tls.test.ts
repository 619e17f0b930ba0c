import tls, { type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Authority, makeAuthority, selfSigned } from "../../test/certificates.ts";
import { hook, type Script } from "../../test/hook.ts";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const HOST = "agent.example.com";

let authority: Authority;
let strange: Authority;
const trusted = tls.getCACertificates("default");

beforeAll(() => {
  authority = makeAuthority();
  strange = makeAuthority();
  // NODE_EXTRA_CA_CERTS does the same for a process that starts with it.
  tls.setDefaultCACertificates([...trusted, authority.cert]);
});
afterAll(() => {
  tls.setDefaultCACertificates(trusted);
  for (const one of [authority, strange]) one.dispose();
});

/** A world in which every name resolves to these addresses: the n-th time to the n-th, and then to the last. */
const worldOf = async (...answers: string[][]): Promise<{ world: TestWorld; asked: string[] }> => {
  const asked: string[] = [];
  const world = await createWorld({
    lookup: async (host) => {
      asked.push(host);
      const found = answers[Math.min(asked.length, answers.length) - 1] ?? [];
      return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  });
  return { world, asked };
};

/** Records the names of each request: of the handshake, and in the Host header. */
const named = (): { script: Script; names: [sni: string | false | null, host: string | undefined][] } => {
  const names: [sni: string | false | null, host: string | undefined][] = [];
  const script: Script = () => (response, request) => {
    names.push([(request.socket as TLSSocket).servername, request.headers.host]);
    response.end();
  };
  return { script, names };
};

const urlOf = (port: number, host = HOST): string => `https://${host}:${port}/webhook`;

const ping = async ({ sdk }: TestWorld, webhookUrl: string, slug = "pinged") => {
  await sdk.listings.create({ slug, name: "Agent", webhookUrl, permissions: [] }).catch(() => sdk.listings.update(slug, { webhookUrl }));
  return sdk.deliveries.test(slug);
};

test("events are sent over verified TLS, to the checked address, by the name of the URL", async () => {
  const { script, names } = named();
  await using hooks = await hook(script, authority.issue([HOST]));
  const { world, asked } = await worldOf(["127.0.0.1"]);
  await using _ = world;
  await listAgent(world.sdk, urlOf(hooks.port));
  const { id } = await activateAgent(world.sdk);
  await world.sdk.activations.pause(id);
  await world.settle();
  expect(hooks.types()).toEqual(["agent.activated", "agent.paused"]);
  expect(names).toEqual([
    [HOST, `${HOST}:${hooks.port}`],
    [HOST, `${HOST}:${hooks.port}`],
  ]);
  // Both on one connection, with one query.
  expect([asked, hooks.calls.map(({ onConnection }) => onConnection)]).toEqual([[HOST], [1, 2]]);
  expect((await world.sdk.deliveries.list("writer")).data).toMatchObject([{ state: "delivered" }, { state: "delivered" }]);
});

test("a name that is rebound is not called there: each connection goes to the address that was checked for it", async () => {
  await using hooks = await hook(() => 200, authority.issue([HOST]));
  const { world, asked } = await worldOf(["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "10.0.0.1"], ["127.0.0.1"]);
  await using _ = world;
  const classes: string[] = [];
  for (let n = 0; n < 4; n += 1) classes.push((await ping(world, urlOf(hooks.port))).class);
  expect(classes).toEqual(["ok", "blocked_address", "blocked_address", "ok"]);
  // One query for each connection: no second answer could differ.
  expect(asked).toHaveLength(4);
  expect(hooks.calls).toHaveLength(2);
});

test.each([
  ["TLS 1.2", { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" }],
  ["TLS 1.3", { minVersion: "TLSv1.3", maxVersion: "TLSv1.3" }],
] as const)("%s works, and a certificate for another name is refused each time", async (_name, versions) => {
  await using good = await hook(() => 200, { ...authority.issue(["*.example.com"]), ...versions });
  await using other = await hook(() => 200, { ...authority.issue(["other.example.com"]), ...versions });
  const { world } = await worldOf(["127.0.0.1"]);
  await using _ = world;
  expect(await ping(world, urlOf(good.port))).toMatchObject({ ok: true, class: "ok" });
  // Three times: a session must not be resumed without checking the name.
  for (let n = 0; n < 3; n += 1)
    expect(await ping(world, urlOf(other.port))).toMatchObject({
      ok: false,
      class: "tls",
      message: "The certificate of the webhook is for another name than the URL's (ERR_TLS_CERT_ALTNAME_INVALID).",
      hint: expect.stringContaining("for this name"),
    });
  expect(other.calls).toEqual([]);
});

const old = (): tls.SecureContextOptions => ({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" });

test.each([
  ["has expired", () => authority.issue([HOST], "20200101000000Z", "20200102000000Z"), "has expired (CERT_HAS_EXPIRED)"],
  ["is not valid yet", () => authority.issue([HOST], "20480101000000Z", "20490102000000Z"), "is not valid yet (CERT_NOT_YET_VALID)"],
  ["is self-signed", () => selfSigned([HOST]), "is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)"],
  ["is from an unknown authority", () => strange.issue([HOST]), "is from no authority that is trusted here"],
  ["is shown by TLS before 1.2", () => ({ ...authority.issue([HOST]), ...old() }), "does not speak TLS 1.2 or later"],
] as const)("a certificate that %s is refused before anything is sent, with a message", async (_name, options, says) => {
  await using hooks = await hook(() => 200, options());
  const { world } = await worldOf(["127.0.0.1"]);
  await using _ = world;
  const told = await ping(world, urlOf(hooks.port));
  expect(told).toMatchObject({ ok: false, class: "tls", httpStatus: null, answer: null });
  expect(told.message).toContain(says);
  expect(hooks.calls).toEqual([]);
});

test("webhookLastError shows what is wrong with the certificate; once it is fixed, the key arrives", async () => {
  await using expired = await hook(() => 200, authority.issue([HOST], "20200101000000Z", "20200102000000Z"));
  await using mended = await hook(() => 200, authority.issue([HOST]));
  const { world } = await worldOf(["127.0.0.1"]);
  await using _ = world;
  await listAgent(world.sdk, urlOf(expired.port));
  const { id } = await activateAgent(world.sdk);
  await world.clock.advance("3d");
  expect(await world.sdk.activations.get(id)).toMatchObject({
    status: "paused",
    pauseReasons: ["webhook_failure"],
    webhookLastError: {
      class: "tls",
      httpStatus: null,
      attempts: 9,
      message: "The certificate of the webhook has expired (CERT_HAS_EXPIRED).",
    },
  });
  await world.sdk.listings.update("writer", { webhookUrl: urlOf(mended.port) });
  await world.sdk.activations.resume(id);
  await world.settle();
  expect([expired.types(), mended.types()]).toEqual([[], ["agent.activated", "agent.resumed"]]);
});

test("an IP address is called without SNI, and its certificate must contain it", async () => {
  const { script, names } = named();
  await using hooks = await hook(script, authority.issue(["127.0.0.1"]));
  await using other = await hook(() => 200, authority.issue([HOST]));
  const { world, asked } = await worldOf(["10.0.0.1"]);
  await using _ = world;
  expect(await ping(world, urlOf(hooks.port, "127.0.0.1"))).toMatchObject({ ok: true });
  expect(names).toEqual([[false, `127.0.0.1:${hooks.port}`]]);
  expect(await ping(world, urlOf(other.port, "127.0.0.1"))).toMatchObject({ ok: false, class: "tls" });
  expect(asked).toEqual([]);
});
