import { generateKeyPairSync } from "node:crypto";
import { Mailsvc } from "@mailsvc/sdk";
import { expect, test } from "vitest";
import { toPublicKey } from "../../mail/dkim.ts";
import { createWorld } from "../../testing.ts";

const { privateKey } = generateKeyPairSync("ed25519", {
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const DKIM = { type: "TXT", name: "mail._domainkey.acme.com", value: `v=DKIM1; k=ed25519; p=${toPublicKey({ privateKey }).key}` };

interface Domain {
  readonly id: string;
  readonly status: string;
  readonly records: readonly { readonly record: string; readonly name: string; readonly value: string; readonly status: string }[];
}

test("a domain shows the record that proves it and the keys that sign its mail, with what is known of them", async () => {
  const published = new Map<string, string>();
  let isDown = false;
  const txt = async (name: string): Promise<string[]> => {
    if (isDown) throw new Error("no answer");
    return [published.get(name) ?? []].flat();
  };
  await using world = await createWorld({ dev: false, dns: { txt } });
  const operator = new Mailsvc({ apiKey: world.operatorKey, baseUrl: world.url, fetch: world.fetch });
  await operator.relays.add({ name: "default", host: "mail.acme.com", dkim: [{ domain: "acme.com", selector: "mail", privateKey }] });
  const ask = async (method: string, path: string, body?: object): Promise<Domain> => {
    const headers = { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" };
    const answer = await world.fetch(`${world.url}/resend${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const shown: unknown = await answer.json();
    expect([answer.status, shown]).toEqual([expect.toSatisfy((n: number) => n < 300), expect.anything()]);
    return shown as Domain;
  };
  const statuses = ({ status, records }: Domain): string[] => [status, ...records.map((one) => `${one.record} ${one.status}`)];

  const made = await ask("POST", "/domains", { name: "acme.com" });
  expect(made.records).toMatchObject([
    { record: "SPF", name: "_mailsvc.acme.com" },
    { record: "DKIM", ...DKIM },
  ]);
  expect(statuses(made)).toEqual(["pending", "SPF pending", "DKIM not_started"]);
  const show = (): Promise<Domain> => ask("GET", `/domains/${made.id}`);
  expect(statuses(await show())).toEqual(["pending", "SPF pending", "DKIM pending"]);

  for (const { name, value } of made.records) published.set(name, value);
  await ask("POST", `/domains/${made.id}/verify`);
  expect(statuses(await show())).toEqual(["verified", "SPF verified", "DKIM verified"]);

  isDown = true;
  expect(statuses(await show())).toEqual(["verified", "SPF verified", "DKIM temporary_failure"]);
  isDown = false;
  published.clear();
  await ask("POST", `/domains/${made.id}/verify`);
  expect(statuses(await show())).toEqual(["verified", "SPF temporary_failure", "DKIM failed"]);
});
