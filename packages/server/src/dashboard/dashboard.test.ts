import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { listAgent, turnOn } from "../../test/marketplace.ts";
import { createWorld, type TestWorld } from "../testing.ts";

const mail = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello" };
const get = (world: TestWorld, path: string): Promise<Response> => world.fetch(`${world.url}${path}`);

/** Sends a mail and answers its id in the inbox. */
const captured = async (world: TestWorld, body: object): Promise<string> => {
  await world.sdk.emails.send({ ...mail, text: "text", ...body });
  return (await world.inbox.all()).at(-1)?.id as string;
};

describe("the inbox page", () => {
  test("is at / and /dashboard", async () => {
    await using world = await createWorld();
    const [root, dashboard] = await Promise.all([get(world, "/"), get(world, "/dashboard")]);
    expect(root.status).toBe(200);
    expect(root.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await root.text();
    expect(html).toContain("<title>Inbox · mailsvc</title>");
    expect(await dashboard.text()).toBe(html);
  });

  test("runs its own script and nothing else", async () => {
    await using world = await createWorld();
    const page = await get(world, "/");
    const policy = page.headers.get("content-security-policy") ?? "";
    const html = await page.text();
    const own = (tag: string): string => {
      const text = new RegExp(`<${tag}>(.*?)</${tag}>`, "s").exec(html)?.[1] ?? "";
      expect(text.length).toBeGreaterThan(1000);
      return `'sha256-${hash("sha256", text, "base64")}'`;
    };
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src ${own("script")}`,
      `style-src ${own("style")}`,
      "connect-src 'self'",
      "frame-src 'self'",
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/\son[a-z]+=|\sstyle=|javascript:/);
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  test("shows the ends of the key, not the key", async () => {
    await using world = await createWorld();
    const html = await (await get(world, "/")).text();
    expect(html).toContain(`${world.apiKey.slice(0, 10)}…${world.apiKey.slice(-4)}`);
    expect(html).not.toContain(world.apiKey);
  });

  test.each([
    "/",
    "/dashboard",
    "/dashboard/events",
    "/dashboard/events/writer/evt_1",
    "/dashboard/mail/mail_1",
    "/dashboard/mail/mail_1/attachments/0",
  ])("is not there in production: %s", async (path) => {
    await using world = await createWorld({ dev: false });
    const response = await get(world, path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
  });
});

describe("what went to webhooks", () => {
  const gone = "http://127.0.0.1:9/hook";

  test("is listed over all agents, newest first, and shown with its bytes and attempts", async () => {
    await using world = await createWorld();
    for (const slug of ["writer", "painter"]) {
      await listAgent(world.sdk, gone, { slug });
      await turnOn(world.sdk, slug);
    }
    await world.clock.advance("10s");
    const list = await get(world, "/dashboard/events");
    expect(list.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const { data } = (await list.json()) as { data: { slug: string; id: string; type: string; attempts: number }[] };
    expect(data.map(({ slug, type }) => [slug, type])).toEqual([
      ["painter", "agent.activated"],
      ["writer", "agent.activated"],
    ]);
    const { slug = "", id = "" } = data[1] ?? {};
    const detail = (await (await get(world, `/dashboard/events/${slug}/${id}`)).json()) as { body: string; log: { class: string }[] };
    expect(detail).toEqual(await world.sdk.deliveries.get(slug, id));
    expect([detail.log.length, detail.log[0]?.class]).toEqual([4, "connection"]);
    expect(detail.body).not.toMatch(/ms_agent_/);
  });

  test("is a clear 404 when it is not there, or is another's", async () => {
    await using world = await createWorld();
    await listAgent(world.sdk, gone);
    for (const path of ["/dashboard/events/writer/evt_x", "/dashboard/events/nobody/evt_x"]) {
      const response = await get(world, path);
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([404, "not_found"]);
    }
  });
});

describe("the HTML of a mail", () => {
  const HOSTILE = `<!DOCTYPE html><html><head lang="en"><script>top.document.title="taken"</script></head><body onload="x()"><img src="https://tracker.example/p.gif"></body></html>`;

  test("comes without scripts, origin and remote content", async () => {
    await using world = await createWorld();
    const id = await captured(world, { html: HOSTILE });
    const policy = (await get(world, `/dashboard/mail/${id}`)).headers.get("content-security-policy");
    expect(policy).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src data:; media-src data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    );
  });

  test("may load pictures from elsewhere when asked, and still no scripts", async () => {
    await using world = await createWorld();
    const id = await captured(world, { html: HOSTILE });
    const policy = (await get(world, `/dashboard/mail/${id}?remote=1`)).headers.get("content-security-policy") ?? "";
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
    const html = await (await get(world, `/dashboard/mail/${id}`)).text();
    expect(html).toMatch(/^<!DOCTYPE html><html><head lang="en"><base target="_blank">/);
  });

  test("shows the pictures that travel with it", async () => {
    await using world = await createWorld();
    const attachments = [{ filename: "dot.png", content: "iVBORw0KGgo=", contentId: "dot" }];
    const id = await captured(world, { html: `<img src="cid:dot"><img src="cid:absent">`, attachments });
    const html = await (await get(world, `/dashboard/mail/${id}`)).text();
    expect(html).toContain('<img src="data:image/png;base64,iVBORw0KGgo=">');
    expect(html).toContain('<img src="cid:absent">');
  });

  test("is a clear 404 when there is none", async () => {
    await using world = await createWorld();
    const id = await captured(world, {});
    for (const path of [`/dashboard/mail/${id}`, "/dashboard/mail/mail_unknown"]) {
      const response = await get(world, path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "not_found" } });
    }
  });
});

describe("an attachment", () => {
  test("is saved under its name, never shown", async () => {
    await using world = await createWorld();
    const content = Buffer.from("<script>1</script>").toString("base64");
    const id = await captured(world, { attachments: [{ filename: 'r"ü.html', content, contentType: "text/html" }] });
    const response = await get(world, `/dashboard/mail/${id}/attachments/0`);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="r__.html"; filename*=UTF-8''r%22%C3%BC.html`);
    expect(await response.text()).toBe("<script>1</script>");
  });

  test.each(["1", "-1", "x", "1e3"])("that is not there is a 404: %s", async (place) => {
    await using world = await createWorld();
    const id = await captured(world, { attachments: [{ filename: "a.txt", content: "aGk=" }] });
    expect((await get(world, `/dashboard/mail/${id}/attachments/${place}`)).status).toBe(404);
  });
});
