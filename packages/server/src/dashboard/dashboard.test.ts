import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createWorld, type TestWorld } from "../testing.ts";
import { renderMailHtml } from "./mail-view.ts";

const mail = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello" };
const get = (world: TestWorld, path: string): Promise<Response> => world.fetch(`${world.url}${path}`);

/** The address of a captured mail in a frame. */
const frame = (world: TestWorld, path: string, query: Record<string, string> = {}): string =>
  `/dashboard/frame/inbox/${path}?${new URLSearchParams({ workspace: world.workspaceId, ...query })}`;

/** Sends a mail and answers its id in the inbox. */
const captured = async (world: TestWorld, body: object): Promise<string> => {
  await world.sdk.emails.send({ ...mail, text: "text", ...body });
  return (await world.inbox.all()).at(-1)?.id as string;
};

test.each([true, false])(
  "the server's own address leads to the dashboard, which runs its own script and nothing else (dev: %s)",
  async (dev) => {
    await using world = await createWorld({ dev });
    const root = await get(world, "/");
    expect([root.status, root.headers.get("location")]).toEqual([302, "/dashboard"]);
    const page = await get(world, "/dashboard");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy.split("; ")).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "trusted-types 'none'"]));
    expect(policy).not.toContain("unsafe");
    const html = await page.text();
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/\son[a-z]+=|\sstyle=|javascript:/);
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const icon = await get(world, "/favicon.ico");
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
  },
);

describe("the HTML of a mail", () => {
  const HOSTILE = `<!DOCTYPE html><html><head lang="en"><script>top.document.title="taken"</script></head><body onload="x()"><img src="https://tracker.example/p.gif"></body></html>`;

  test("comes without scripts, origin and remote content", async () => {
    await using world = await createWorld();
    const id = await captured(world, { html: HOSTILE });
    const policy = (await get(world, frame(world, id))).headers.get("content-security-policy");
    expect(policy).toBe(
      `sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data: ${world.url}/a/; media-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
    );
  });

  test("may load pictures from elsewhere when asked, and still no scripts", async () => {
    await using world = await createWorld();
    const id = await captured(world, { html: HOSTILE });
    const policy = (await get(world, frame(world, id, { remote: "1" }))).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("img-src data: http: https:");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src|allow-scripts|allow-same-origin|connect-src/);
  });

  test("is sandboxed at its own endpoint as well", async () => {
    await using world = await createWorld();
    const id = await captured(world, { html: HOSTILE });
    for (const part of ["html", "text", "raw"]) {
      const policy = (await get(world, `/__dev/inbox/${id}/${part}`)).headers.get("content-security-policy");
      expect(policy, part).toMatch(/^sandbox; default-src 'none'/);
    }
  });

  test("opens links in new tabs and keeps its doctype first", async () => {
    await using world = await createWorld();
    const id = await captured(world, { html: HOSTILE });
    const html = await (await get(world, frame(world, id))).text();
    expect(html).toMatch(/^<!DOCTYPE html><html><head lang="en"><base target="_blank">/);
  });

  test("shows the pictures that travel with it", async () => {
    await using world = await createWorld();
    const attachments = [{ filename: "dot.png", content: "iVBORw0KGgo=", contentId: "dot" }];
    const id = await captured(world, { html: `<img src="cid:dot"><img src="cid:absent">`, attachments });
    const html = await (await get(world, frame(world, id))).text();
    expect(html).toContain('<img src="data:image/png;base64,iVBORw0KGgo=">');
    expect(html).toContain('<img src="cid:absent">');
  });

  test("is a clear 404 when there is none", async () => {
    await using world = await createWorld();
    const id = await captured(world, {});
    for (const path of [frame(world, id), frame(world, "mail_unknown")]) {
      const response = await get(world, path);
      expect(response.status).toBe(404);
      expect(await response.text()).toMatch(/This mail has no HTML part|mail_unknown/);
    }
  });
});

describe("an attachment", () => {
  test("is saved under its name, never shown", async () => {
    await using world = await createWorld();
    const content = Buffer.from("<script>1</script>").toString("base64");
    const id = await captured(world, { attachments: [{ filename: 'r"ü.html', content, contentType: "text/html" }] });
    const response = await get(world, frame(world, `${id}/attachments/0`));
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="r__.html"; filename*=UTF-8''r%22%C3%BC.html`);
    expect(await response.text()).toBe("<script>1</script>");
  });

  test.each(["1", "-1", "x", "1e3"])("that is not there is a 404: %s", async (place) => {
    await using world = await createWorld();
    const id = await captured(world, { attachments: [{ filename: "a.txt", content: "aGk=" }] });
    expect((await get(world, frame(world, `${id}/attachments/${place}`))).status).toBe(404);
  });
});

describe("a campaign in a frame", () => {
  const draft = { name: "Launch", subjectLine: "We are live", fromEmail: "hello@acme.example", html: "<p>Hello {{firstName}}</p>" };
  const show = (world: TestWorld, id: string, query: Record<string, string> = {}): Promise<Response> =>
    get(world, `/dashboard/frame/campaigns/${id}?${new URLSearchParams({ workspace: world.workspaceId, ...query })}`);

  test("is shown as a contact would get it, under the policy of mail", async () => {
    await using world = await createWorld();
    await world.sdk.contacts.create({ email: "ada@example.com", firstName: "Ada" });
    const { id } = await world.sdk.campaigns.create(draft);
    const response = await show(world, id, { contact: "ada@example.com" });
    expect(await response.text()).toContain("<p>Hello Ada</p>");
    expect(response.headers.get("content-security-policy")).toContain("sandbox allow-popups");
  });

  test("is shown by variant, and is not there without HTML or in another workspace", async () => {
    await using world = await createWorld();
    const { html: _, ...plain } = { ...draft, text: "Hello" };
    const variants = [{}, { html: "<p>Bonjour</p>" }];
    const { id } = await world.sdk.campaigns.create({ ...draft, abTest: { variants } });
    expect(await (await show(world, id, { variant: "B" })).text()).toContain("Bonjour");
    const { id: text } = await world.sdk.campaigns.create(plain);
    expect((await show(world, text)).status).toBe(404);
    const other = await world.createWorkspace("Other");
    const foreign = await get(world, `/dashboard/frame/campaigns/${id}?${new URLSearchParams({ workspace: other.workspaceId })}`);
    expect(foreign.status).toBe(404);
  });
});

describe("the page that previews are shown in", () => {
  test("runs its own script only, has no origin, and shows what it is sent without scripts", async () => {
    await using world = await createWorld();
    const page = await get(world, "/dashboard/frame/canvas");
    const policy = (page.headers.get("content-security-policy") ?? "").split("; ");
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", `img-src data: ${world.url}/a/`, "form-action 'none'", "frame-ancestors 'self'"]),
    );
    expect(policy[0]).toBe("sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox");
    const html = await page.text();
    const script = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? "";
    expect(policy).toContain(`script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'`);
    expect(html).toContain('sandbox="allow-popups allow-popups-to-escape-sandbox"');
  });
});

describe("a received mail", () => {
  const receive = async (world: TestWorld, html: string, attachments: { filename: string; content: string }[] = []): Promise<string> => {
    await world.sdk.emails.send({ ...mail, text: "text", replyTo: "auto" });
    const sent = (await world.inbox.all()).at(-1)?.id as string;
    return (await world.sdk.inbox.reply(sent, { text: "text", html, attachments })).id;
  };

  test("is shown in a frame under the policy of mail, and its files are saved and never shown", async () => {
    await using world = await createWorld();
    const id = await receive(world, "<p>Hello</p><script>1</script>", [{ filename: "a.html", content: "aGk=" }]);
    const query = new URLSearchParams({ workspace: world.workspaceId });
    const shown = await get(world, `/dashboard/frame/received/${id}?${query}`);
    expect(shown.headers.get("content-security-policy")).toMatch(/^sandbox allow-popups.*default-src 'none'; img-src data: \S+\/a\/;/);
    expect(await shown.text()).toContain("<p>Hello</p>");
    const file = await get(world, `/dashboard/frame/received/${id}/attachments/1?${query}`);
    expect([file.headers.get("content-type"), await file.text()]).toEqual(["application/octet-stream", "hi"]);
    for (const path of [`${id}/attachments/2`, `${id}/attachments/x`, "rcv_unknown"])
      expect((await get(world, `/dashboard/frame/received/${path}?${query}`)).status, path).toBe(404);
  });

  test("of another workspace is not found", async () => {
    await using world = await createWorld();
    const id = await receive(world, "<p>Hello</p>");
    const { workspaceId } = await world.createWorkspace("Other");
    expect((await get(world, `/dashboard/frame/received/${id}?workspace=${workspaceId}`)).status).toBe(404);
  });
});

test("a mail that names one picture a hundred thousand times is answered with some of them", () => {
  const picture = { contentId: "a", contentType: "image/png", content: Buffer.alloc(300_000) };
  const html = '<img src="cid:a">'.repeat(100_000);
  const shown = renderMailHtml({ html, attachments: [picture] });
  expect(shown.length).toBeLessThan(40 * 1024 * 1024);
  expect(shown).toContain("data:image/png;base64,AAAA");
  expect(shown).toContain('src="cid:a"');
});

test("a mail that begins its head hundreds of thousands of times and never ends it is searched once", () => {
  // Searching to the end of the mail for each `<head` would keep the server busy for minutes.
  const html = "<head ".repeat(400_000);
  expect(renderMailHtml({ html, attachments: [] })).toBe(`<base target="_blank">${html}`);
  expect(renderMailHtml({ html: '<!doctype html><head lang="en"><p>Hi</p>', attachments: [] })).toBe(
    '<!doctype html><head lang="en"><base target="_blank"><p>Hi</p>',
  );
  expect(renderMailHtml({ html: "<!doctype html><header><p>Hi</p></header>", attachments: [] })).toBe(
    '<!doctype html><base target="_blank"><header><p>Hi</p></header>',
  );
});
