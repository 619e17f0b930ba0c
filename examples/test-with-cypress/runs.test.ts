import { readFileSync } from "node:fs";
import { startLocal } from "@mailsvc/sdk/testing";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

/*
 * Cypress and its browser are not installed here. Requests stand in for the spec in the browser, and the tasks are called as Cypress
 * calls them: by their names, with values that JSON can hold.
 */

type Task = (argument?: unknown) => Promise<unknown>;

const tasks = new Map<string, Task>();
let endRun: () => Promise<void>;
let stopServer: () => Promise<void>;
let url = "";

beforeAll(async () => {
  const server = await startLocal();
  stopServer = () => server.close();
  // As `mailsvc dev -- cypress run` does.
  for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  const { default: config } = await import("./cypress.config.mjs");
  const on = (event: string, given: Record<string, Task> | (() => Promise<void>)): void => {
    if (typeof given === "function") endRun = given;
    else for (const [name, task] of Object.entries(given)) tasks.set(name, task);
    expect(["task", "after:run"]).toContain(event);
  };
  const used = (await config.e2e.setupNodeEvents(on, { env: {} })) as { baseUrl: string; env: object };
  expect(used.env).toEqual({});
  url = used.baseUrl;
});

afterAll(async () => {
  await endRun();
  await stopServer();
});

/** Calls a task as Cypress does. */
async function call(name: string, argument?: unknown): Promise<unknown> {
  const task = tasks.get(name);
  if (!task) throw new Error(`There is no task ${name}.`);
  const answer = await task(argument === undefined ? undefined : JSON.parse(JSON.stringify(argument)));
  expect(answer, "Cypress refuses a task that answers undefined").not.toBeUndefined();
  return JSON.parse(JSON.stringify(answer));
}

async function submit(address: string, fields: Record<string, string>): Promise<string> {
  return (await fetch(address, { method: "POST", body: new URLSearchParams(fields) })).text();
}

beforeEach(() => call("mail:reset"));

test("a user gets a link that works once", async () => {
  expect(await submit(url, { email: "ada@example.com" })).toContain("a mail is on its way");
  const mail = (await call("mail:wait", { to: "ada@example.com", subject: "Reset your password" })) as { links: string[] };
  const [link = ""] = mail.links;
  expect(await submit(link, { password: "correct horse battery staple" })).toContain("Your password is changed, Ada.");
  expect(await (await fetch(link)).text()).toContain("This link is not valid any more.");
});

test("a task fails when mail came that must not, and when none comes", async () => {
  await submit(url, { email: "mallory@example.com" });
  expect(await call("mail:none", { to: "mallory@example.com" })).toBeNull();
  await submit(url, { email: "ada@example.com" });
  await expect(call("mail:none", { to: "ada@example.com" })).rejects.toThrow('A mail with to: "ada@example.com" was sent.');
  await expect(call("mail:wait", { to: "mallory@example.com", timeout: 0 })).rejects.toThrow("No mail matches");
  expect(await call("mail:advance", "3d")).toBeNull();
});

test("the spec names no task that does not exist, and the app none of what it looks for", () => {
  const spec = readFileSync(new URL("password-reset.cy.js", import.meta.url), "utf8");
  const named = [...spec.matchAll(/cy\.task\("([^"]+)"/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(2);
  for (const name of named) expect([...tasks.keys()]).toContain(name);
  const app = readFileSync(new URL("app.mjs", import.meta.url), "utf8");
  for (const [, text = ""] of spec.matchAll(/cy\.contains\((?:"button", )?"([^"]+)"/g))
    expect(app).toContain(text.replace("Ada", "" + "$" + "{name}"));
  for (const [, name = ""] of spec.matchAll(/input\[name=(\w+)\]/g)) expect(app).toContain(`<input name="${name}"`);
});
