import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMailedLink } from "../../server/src/dashboard/links.ts";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await createStage({ dev: false });
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The address that a builder has registered for install links. */
const BACK = "https://agent.example.com/installed";

async function makeLink(role = "owner"): Promise<string> {
  return (await stage.call<{ url: string }>("POST", "/api/v1/dashboard/links", { role })).url;
}

const seeHeading = (page: Page, name: string): Promise<void> => page.getByRole("heading", { name, exact: true }).waitFor();
const seeRole = (page: Page, role: string): Promise<void> => page.locator("summary").getByText(role, { exact: true }).waitFor();

test(
  "a link works in the tab that asks to sign in, and its token stays out of the address",
  async () => {
    const { page, faults } = await stage.open("/dashboard");
    await seeHeading(page, "Sign in to mailsvc");
    // Only what stands behind the # changes, so the browser does not load the page again.
    await page.goto(await makeLink());
    await seeHeading(page, "Overview");
    expect(new URL(page.url()).hash).toBe("");
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "who opens an install link and signs in first sees the consent then, and comes back to the builder with the state",
  async () => {
    await stage.call("POST", "/api/v1/marketplace/listings", {
      slug: "painter",
      name: "Painter",
      description: "Paints pages.",
      webhookUrl: "https://agent.example.com/webhook",
      permissions: ["brand:read"],
      installRedirects: [BACK],
    });
    const { page } = await stage.open(`/dashboard/install/painter?state=a%26b&redirect=${encodeURIComponent(BACK)}`);
    await page.route("https://agent.example.com/**", (route) => route.fulfill({ body: "Welcome back" }));
    await seeHeading(page, "Sign in to mailsvc");
    await page.getByLabel("API key").fill(stage.server.apiKey ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await seeHeading(page, "Turn on Painter");
    await page.getByText("Afterwards you come back to agent.example.com.").waitFor();
    await page.getByRole("checkbox", { name: /I let Painter do this/ }).check();
    await page.getByRole("button", { name: "Turn it on" }).click();
    await page.getByText("Welcome back").waitFor();
    const back = new URL(page.url());
    expect(`${back.origin}${back.pathname}`).toBe(BACK);
    expect(back.searchParams.get("state")).toBe("a&b");
    expect(back.searchParams.get("activationId")).toMatch(/^act_/);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a link replaces the session that the browser has, before anything is loaded with that one",
  async () => {
    const { page } = await stage.open(await makeLink());
    await seeHeading(page, "Overview");
    const early: string[] = [];
    let isOver = false;
    page.on("request", (request) => {
      if (!isOver && request.url().includes("/api/")) early.push(request.url());
    });
    await page.route("**/dashboard/sign-in", async (route) => {
      // Time for the page to follow events, which it does in the turn of such a lock.
      await page.evaluate(() => navigator.locks.request("test", () => {}));
      isOver = true;
      await route.continue();
    });
    await page.goto("about:blank");
    await page.goto(await makeLink("viewer"));
    await seeRole(page, "viewer");
    await seeHeading(page, "Overview");
    expect(early).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a link that was used says so: to who is signed in as well, who stays so",
  async () => {
    const link = await makeLink();
    const { page: first } = await stage.open(link);
    await seeHeading(first, "Overview");
    await first.goto("about:blank");
    await first.goto(link);
    await first.getByRole("status").getByText("This link does not work any more.").waitFor();
    await seeRole(first, "owner");
    await first.context().close();
    const { page: second } = await stage.open(link);
    await seeHeading(second, "Sign in to mailsvc");
    await second.getByRole("alert").getByText("This link does not work any more.").waitFor();
    await second.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "who signs in or out in one tab does so in all tabs of the browser, also for another workspace",
  async () => {
    const { apiKey } = await stage.call<{ apiKey: string }>(
      "POST",
      "/api/v1/workspaces",
      { name: "Second brand" },
      stage.server.operatorKey,
    );
    const { page: first } = await stage.open(await makeLink());
    await seeHeading(first, "Overview");
    const second = await first.context().newPage();
    await second.goto("/dashboard/contacts");
    await seeHeading(second, "Contacts");
    await first.locator("summary").click();
    await first.getByRole("button", { name: "Sign out", exact: true }).click();
    for (const tab of [first, second]) await seeHeading(tab, "Sign in to mailsvc");
    await first.getByLabel("API key").fill(apiKey);
    await first.getByRole("button", { name: "Sign in" }).click();
    for (const tab of [first, second]) await tab.locator(".workspace").getByText("Second brand").waitFor();
    await seeHeading(second, "Contacts");
    await first.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "whom a proxy names stays signed in when the session ends, and what was sent then is done",
  async () => {
    await using behind = await createStage({
      dev: false,
      flags: { "sso-header": "X-Forwarded-Email", "sso-proxies": "127.0.0.1", "sso-role": "marketer" },
    });
    const { page } = await behind.open("/dashboard/contacts", { extraHTTPHeaders: { "x-forwarded-email": "ada@acme.example" } });
    await page.getByRole("button", { name: "Add a contact" }).click();
    await page.locator("dialog[open]").getByLabel("Email address").fill("grace@example.com");
    // The stream of events ends with the session, and is the first to find the new one.
    await behind.call("DELETE", "/api/v1/dashboard/sessions");
    await page.locator("dialog[open]").getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("grace@example.com").first().waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "Sign in to mailsvc" }).count()).toBe(0);
    expect((await behind.call<{ data: unknown[] }>("GET", "/api/v1/contacts")).data).toMatchObject([{ email: "grace@example.com" }]);
  },
  PATIENCE_MS * 3,
);

test(
  "a page that could not be loaded while the server did not answer is loaded when it does",
  async () => {
    const { page } = await stage.open(await makeLink());
    await page.getByText("Live", { exact: true }).waitFor();
    for (const name of ["Contacts", "Lists", "Templates"]) {
      // Its script is loaded before.
      await page.getByRole("link", { name, exact: true }).click();
      await seeHeading(page, name);
    }
    await page.context().setOffline(true);
    for (const name of ["Contacts", "Lists", "Templates"]) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.locator("main .note", { hasText: "The server does not answer." }).waitFor();
    }
    await page.context().setOffline(false);
    await page.locator("main .note", { hasText: "The server does not answer." }).waitFor({ state: "detached" });
    await page.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "a list that a busy server did not give is loaded again by itself",
  async () => {
    const { page } = await stage.open(await makeLink());
    await seeHeading(page, "Overview");
    const busy = { error: { code: "storage_unavailable", message: "The database is away." } };
    await page.route("**/api/v1/templates?*", (route) => route.fulfill({ status: 503, json: busy }), { times: 1 });
    await page.getByRole("link", { name: "Templates", exact: true }).click();
    await page.getByText("The database is away.").waitFor();
    await page.getByText("The database is away.").waitFor({ state: "detached" });
    await seeHeading(page, "Templates");
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a page whose script cannot be loaded says so in words, and is loaded by a button",
  async () => {
    const { page } = await stage.open(await makeLink());
    await seeHeading(page, "Overview");
    await page.route("**/assets/templates-*", (route) => route.abort());
    await page.getByRole("link", { name: "Templates", exact: true }).click();
    await page.getByText("The server does not answer, or has another version by now.").waitFor();
    await page.unroute("**/assets/templates-*");
    await page.getByRole("button", { name: "Try again" }).click();
    await seeHeading(page, "Templates");
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a page that was left before its script arrived does not replace the page that is shown",
  async () => {
    const { page } = await stage.open(await makeLink());
    await seeHeading(page, "Overview");
    const released = Promise.withResolvers<void>();
    await page.route("**/assets/templates-*", async (route) => {
      await released.promise;
      await route.continue();
    });
    const asked = page.waitForRequest("**/assets/templates-*");
    await page.getByRole("link", { name: "Templates", exact: true }).click();
    await asked;
    await page.getByRole("link", { name: "Segments", exact: true }).click();
    await seeHeading(page, "Segments");
    const arrived = page.waitForEvent("requestfinished", (request) => request.url().includes("/assets/templates-"));
    released.resolve();
    await arrived;
    // The script runs in a task of its own, after which the page would have been drawn.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100))));
    await seeHeading(page, "Segments");
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "a server without a mail server says that nobody gets its mail; one with a relay says nothing",
  async () => {
    const note = (page: Page) => page.getByText("Nobody gets this mail");
    const { page } = await stage.open(await makeLink());
    await note(page).waitFor();
    await page.goto("/dashboard/inbox");
    await page.getByText("Mail of test keys appears here the moment it is delivered").waitFor();
    const relay = { name: "main", host: "127.0.0.1", port: 2525 };
    await stage.call("POST", "/api/v1/relays", relay, stage.server.operatorKey);
    await page.goto("/dashboard/activity");
    await seeHeading(page, "Activity");
    await expect.poll(() => note(page).count()).toBe(0);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "an owner sees which session is that of this browser, and a link only for the role that is chosen",
  async () => {
    const { page } = await stage.open(await makeLink());
    const { page: other } = await stage.open(await makeLink("viewer"));
    await seeRole(other, "viewer");
    await page.goto("/dashboard/people?tab=sessions");
    const own = page.locator(".items li", { has: page.locator(".soft", { hasText: "this browser" }) });
    await own.waitFor();
    await expect.poll(() => own.count()).toBe(1);
    expect(await own.textContent()).toContain("owner");
    await page.getByRole("tab", { name: "Members" }).click();
    await page.getByRole("button", { name: "Make a link" }).click();
    const dialog = page.locator("dialog[open]");
    await dialog.getByRole("button", { name: "Make the link" }).click();
    await dialog.getByLabel("The link").waitFor();
    await dialog.getByLabel("Role").selectOption("marketer");
    await dialog.getByLabel("The link").waitFor({ state: "detached" });
    for (const one of [page, other]) await one.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "who is invited signs in by the button of a mailed link, which no mail scanner presses, and is known by name",
  async () => {
    await using server = await createStage({ dev: false, flags: { "smtp-url": "smtp://127.0.0.1:9" } });
    const ada = { email: "ada@acme.example", role: "marketer", name: "Ada" };
    await server.call("POST", "/api/v1/members", ada);
    const { deps } = server.server.app;
    const url = await deps.db.tx(async (tx) => {
      const [row] = await tx.select().from(tx.t.members);
      return row === undefined ? "" : createMailedLink(tx, deps, row, false);
    });
    const { page, faults } = await server.open(url);
    await page.getByText("You sign in as").waitFor();
    expect(new URL(page.url()).hash).toBe("");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.locator("summary").getByText("Ada", { exact: true }).waitFor();
    await page.goto("about:blank");
    await page.goto(url);
    await page.getByRole("alert").getByText("This link does not work any more.").waitFor();
    await page.getByRole("button", { name: "Stay as you are" }).click();
    await page.locator("summary").getByText("Ada", { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "support has one page, finds a mail by its address, and is told nothing of its content",
  async () => {
    const { page } = await stage.open(await makeLink("support"));
    await seeHeading(page, "Mail states");
    expect(await page.locator(".side nav a").allTextContents()).toEqual(["Mail states"]);
    await page.goto("/dashboard/activity");
    await page.getByText("Your role does not include this page").waitFor();
    await page.context().close();
  },
  PATIENCE_MS * 2,
);

test(
  "pages beyond a role say so, and so does what is refused after the role has changed",
  async () => {
    const { page } = await stage.open(await makeLink("viewer"));
    await seeRole(page, "viewer");
    for (const [path, text] of [
      ["keys", "Your role does not include this page"],
      ["people", "Your role does not include this page"],
      ["relays/main", "Operate the server"],
      ["segments/new", "Your role may not create segments"],
      ["new-listing", "Your role may not create listings"],
    ] as const) {
      await page.goto(`/dashboard/${path}`);
      await page.locator("main").getByText(text).waitFor();
      expect(await page.locator("main").locator("button, form").count(), path).toBe(0);
    }
    const { page: owner } = await stage.open(await makeLink());
    await seeRole(owner, "owner");
    await owner.goto("/dashboard/contacts");
    await owner.getByRole("button", { name: "Add a contact" }).click();
    await owner.locator("dialog[open]").getByLabel("Email address").fill("grace@example.com");
    await owner.context().addCookies(await page.context().cookies());
    await owner.locator("dialog[open]").getByRole("button", { name: "Add", exact: true }).click();
    await owner.getByRole("alert").getByText("Your role may not change contacts.").waitFor();
    for (const one of [page, owner]) await one.context().close();
  },
  PATIENCE_MS * 3,
);

test(
  "who signs in with a key of few permissions sees the first page that it may",
  async () => {
    const { key } = await stage.call<{ key: string }>("POST", "/api/v1/keys", { name: "narrow", permissions: ["contacts:read"] });
    const { page } = await stage.open("/dashboard");
    await seeHeading(page, "Sign in to mailsvc");
    // A server with a relay, which another test may have added, offers links by mail first.
    for (const summary of await page.locator("details.more > summary").all()) await summary.click();
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await seeHeading(page, "Contacts");
    await page.context().close();
  },
  PATIENCE_MS * 2,
);
