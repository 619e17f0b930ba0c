import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { webhooks } from "@mailsvc/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { smtpPeer } from "../../server/test/smtp-peer.ts";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";
import { createGate } from "./gate.ts";
import { waitUntil } from "./waiting.ts";

// Stories of the person who runs the server for others, without a terminal.

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

interface List<Item> {
  readonly data: readonly Item[];
}

test(
  "an operator adds a relay, reads why it does not answer, mends the port, and mail goes through it",
  async () => {
    const peer = await smtpPeer();
    const { page, faults } = await stage.open("/dashboard/relays");
    await page.getByRole("button", { name: "Add a relay" }).click();
    const adding = page.getByRole("dialog", { name: "Add a relay" });
    await adding.getByLabel("Name").fill("office");
    await adding.getByLabel("Host").fill("127.0.0.1");
    await adding.getByLabel(/^Port/).fill("1");
    await adding.getByLabel("Encryption").selectOption({ label: "Off" });
    await adding.getByRole("button", { name: "Add" }).click();
    await page.getByText("not tried yet").waitFor();
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByRole("heading", { name: "This relay does not work" }).waitFor();
    await page.getByRole("button", { name: "Change" }).click();
    const changing = page.getByRole("dialog", { name: "Change office" });
    await changing.getByLabel(/^Port/).fill(String(peer.port));
    await changing.getByRole("button", { name: "Save" }).click();
    await page.getByText(`127.0.0.1:${peer.port}`).waitFor();
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByRole("heading", { name: "This relay works" }).waitFor();
    await page.getByRole("button", { name: "Send a test mail" }).click();
    const sending = page.getByRole("dialog", { name: "Send a mail through this relay" });
    await sending.getByLabel("To").fill("me@acme.example");
    await sending.getByLabel("From").fill("hello@acme.example");
    await sending.getByRole("button", { name: "Send" }).click();
    await waitUntil(async () => peer.mails.length === 1);
    expect(peer.mails).toMatchObject([{ from: "hello@acme.example", to: "me@acme.example" }]);
    await page.locator("main").getByText("up", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "No relays" }).waitFor();
    const { data } = await stage.call<List<unknown>>("GET", "/api/v1/relays", undefined, stage.server.operatorKey);
    expect(data).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
    await peer.close();
  },
  PATIENCE_MS * 3,
);

test(
  "the DNS records of a new sender are copied at once, as a zone file with each of them",
  async () => {
    const { page, faults } = await stage.open("/dashboard/senders", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "Add a sender" }).click();
    await page.getByLabel("Domain or address").fill("shop.acme.example");
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
    await page.getByRole("heading", { level: 1, name: "shop.acme.example" }).waitFor();
    await page.getByText("All of these records as a zone file").click();
    await page.getByRole("region", { name: "The records as a zone file" }).locator("..").getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const { findings } = await stage.call<{ findings: readonly { record: { type: string; name: string } | null }[] }>(
      "GET",
      "/api/v1/domain-check?domain=shop.acme.example",
    );
    const records = findings.flatMap(({ record }) => record ?? []);
    expect(records.length).toBeGreaterThan(0);
    for (const { type, name } of records) expect(copied).toContain(`${name}. 3600 IN ${type}`);
    await page.getByRole("link", { name: "Senders" }).first().click();
    await page.getByRole("link", { name: "shop.acme.example" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a webhook that fails is found on the overview, its answer is read, its address mended, and what was missed is sent again",
  async () => {
    let up = false;
    const got: string[] = [];
    const receiver = createServer((request, response) => {
      request.resume();
      if (up) got.push(String(request.headers["webhook-id"] ?? request.url));
      response.writeHead(up ? 204 : 503, { "content-type": "text/plain" }).end(up ? "" : "The warehouse is closed.");
    });
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/stock`;
    const { id } = await stage.call<{ id: string }>("POST", "/api/v1/webhooks", {
      url,
      description: "Warehouse",
      events: ["email.delivered"],
    });
    await stage.call("POST", "/api/v1/send", { from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi" });
    await waitUntil(async () => {
      await stage.call("POST", "/__dev/clock/advance", { by: "1m" });
      return (await stage.call<{ failingSince: string | null }>("GET", `/api/v1/webhooks/${id}`)).failingSince !== null;
    });
    const { page, faults } = await stage.open("/dashboard/overview");
    await page.getByRole("region", { name: "Needs you" }).getByRole("link", { name: "Warehouse" }).click();
    await page.getByRole("heading", { level: 1, name: "Warehouse" }).waitFor();
    await page.getByText("failing", { exact: true }).waitFor();
    await page.getByRole("link", { name: "email.delivered" }).click();
    await page.getByText("The warehouse is closed.").first().waitFor();
    up = true;
    await page.getByRole("button", { name: "Send it again" }).click();
    await page.getByText("It answered 204").waitFor();
    expect(got).toHaveLength(1);
    await page.goto("/dashboard/overview");
    await page.getByRole("region", { name: "By receiving domain", exact: true }).waitFor();
    expect(await page.getByRole("region", { name: "Needs you" }).getByText("Warehouse").count()).toBe(0);
    const { data } = await stage.call<List<{ state: string }>>("GET", `/api/v1/webhooks/${id}/deliveries`);
    expect(data.map(({ state }) => state)).toEqual(["delivered"]);
    expect(faults).toEqual([]);
    await page.context().close();
    receiver.close();
  },
  PATIENCE_MS * 3,
);

test(
  "the secret of a webhook is rotated, and while both are in use each of them proves what arrives",
  async () => {
    const got: { readonly headers: Record<string, string>; readonly body: string }[] = [];
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      got.push({ headers: request.headers as Record<string, string>, body: Buffer.concat(chunks).toString() });
      response.writeHead(204).end();
    });
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/orders`;
    const made = await stage.call<{ id: string; secret: string }>("POST", "/api/v1/webhooks", { url, events: ["email.sent"] });
    const { page, faults } = await stage.open(`/dashboard/webhooks/${made.id}`);
    const rotate = async (hours: string): Promise<string> => {
      await page.getByRole("button", { name: "Rotate the secret" }).click();
      const dialog = page.getByRole("dialog", { name: "Make another secret" });
      await dialog.getByLabel(/^Hours that both sign/).fill(hours);
      await dialog.getByRole("button", { name: "Rotate the secret" }).click();
      const shown = page.getByRole("region", { name: "The new secret" });
      const secret = (await shown.locator("code").textContent()) ?? "";
      await page.getByRole("button", { name: "I have stored it" }).click();
      await shown.waitFor({ state: "detached" });
      return secret;
    };
    // Other tests have moved the clock of the server on.
    const isProven = (secret: string, { headers, body }: (typeof got)[number]): Promise<boolean> =>
      webhooks.unwrap(body, headers, secret, { toleranceSeconds: 86_400 }).then(
        () => true,
        () => false,
      );
    const second = await rotate("24");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("Answered 204").first().waitFor();
    const third = await rotate("0");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await waitUntil(async () => got.length === 2);
    const secrets = [made.secret, second, third];
    expect(await Promise.all(got.map((one) => Promise.all(secrets.map((secret) => isProven(secret, one)))))).toEqual([
      [true, true, false],
      [false, false, true],
    ]);
    expect(faults).toEqual([]);
    await page.context().close();
    receiver.close();
  },
  PATIENCE_MS * 2,
);

test(
  "an owner invites somebody for support, makes them a viewer, and removes them",
  async () => {
    const { page, faults } = await stage.open("/dashboard/people");
    await page.getByRole("button", { name: "Invite somebody" }).click();
    const inviting = page.getByRole("dialog", { name: "Invite somebody" });
    await inviting.getByLabel("Email address").fill("help@acme.example");
    await inviting.getByLabel("Name").fill("Help desk");
    await inviting.getByLabel("Role").selectOption("support");
    await inviting.getByRole("button", { name: "Invite" }).click();
    await page.getByText("Help desk", { exact: true }).waitFor();
    interface Member {
      readonly email: string;
      readonly role: string;
    }
    const read = async () => (await stage.call<List<Member>>("GET", "/api/v1/members")).data;
    expect(await read()).toMatchObject([{ email: "help@acme.example", role: "support" }]);
    await page.getByRole("button", { name: "Change role" }).click();
    await page.locator("dialog[open]").getByLabel("Role").selectOption("viewer");
    await page.locator("dialog[open]").getByRole("button", { name: "Change" }).click();
    await page.locator("main").getByText("viewer", { exact: true }).waitFor();
    expect(await read()).toMatchObject([{ role: "viewer" }]);
    await page.getByRole("button", { name: "Remove" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Remove" }).click();
    await page.getByText("Nobody is invited yet").waitFor();
    expect(await read()).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a key that may only send is made, works, and is replaced by another one",
  async () => {
    const { page, faults } = await stage.open("/dashboard/keys");
    const send = (key: string) =>
      fetch(`${stage.server.url}/api/v1/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ from: "hello@acme.example", to: "ada@example.com", subject: "Hello", text: "Hi" }),
      });
    const make = async (name: string): Promise<string> => {
      await page.getByRole("button", { name: "Create a key" }).click();
      const dialog = page.getByRole("dialog", { name: "Create an API key" });
      await dialog.getByLabel("What it is for").fill(name);
      await dialog.getByLabel("Begin with").selectOption("Send mail");
      await dialog.getByRole("button", { name: "Create" }).click();
      const shown = page.getByRole("region", { name: "The new API key" });
      const key = (await shown.locator("code").textContent()) ?? "";
      await page.getByRole("button", { name: "I have stored it" }).click();
      await shown.waitFor({ state: "detached" });
      return key;
    };
    const old = await make("shop, January");
    expect((await send(old)).status).toBe(200);
    const next = await make("shop, February");
    expect((await send(next)).status).toBe(200);
    await page.getByRole("row").filter({ hasText: "shop, January" }).getByRole("button", { name: "Revoke" }).click();
    await page.locator("dialog[open]").getByRole("button", { name: "Revoke" }).click();
    await page.locator("dialog[open]").waitFor({ state: "detached" });
    expect((await send(old)).status).toBe(401);
    expect((await send(next)).status).toBe(200);
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a server that is stopped and started again finds its people signed in, and what they were typing still there",
  async () => {
    const data = mkdtempSync(join(tmpdir(), "mailsvc-restart-"));
    const before = await createStage({ dev: false, flags: { data } });
    const gate = await createGate(before.server.url);
    try {
      const { url } = await before.call<{ url: string }>("POST", "/api/v1/dashboard/links", { role: "owner" });
      const { page } = await before.open(url.replace(before.server.url, gate.url));
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await page.getByRole("link", { name: "Contacts" }).click();
      await page.getByRole("button", { name: "Add a contact" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a contact" });
      await dialog.getByLabel("Email address").fill("ada@example.com");
      await gate.close();
      await before.server.close();
      await page.locator(".outage p").waitFor();
      await using after = await createStage({ dev: false, flags: { data } });
      gate.aim(after.server.url);
      await gate.open();
      await page.locator(".outage p").waitFor({ state: "detached" });
      await dialog.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
      const { data: stored } = await after.call<List<{ email: string }>>("GET", "/api/v1/contacts", undefined, before.server.apiKey);
      expect(stored).toMatchObject([{ email: "ada@example.com" }]);
    } finally {
      await before[Symbol.asyncDispose]();
      await gate.close();
      rmSync(data, { recursive: true, force: true });
    }
  },
  PATIENCE_MS * 2,
);
