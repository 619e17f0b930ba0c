import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { activateAgent, listAgent } from "../../test/marketplace.ts";
import { ask } from "../../test/scenario.ts";
import { secondWorkspace } from "../../test/tenant.ts";
import { contrast } from "../html/colors.ts";
import { createWorld, type TestWorld } from "../testing.ts";
import { style } from "./style.ts";

const mail = { from: "Acme <hello@acme.example>", to: "ada@example.com", subject: "Hello" };
const get = (world: TestWorld, path: string): Promise<Response> => world.fetch(`${world.url}${path}`);

/** Sends a mail and answers its id in the inbox. */
const captured = async (world: TestWorld, body: object): Promise<string> => {
  await world.sdk.emails.send({ ...mail, text: "text", ...body });
  return (await world.inbox.all()).at(-1)?.id as string;
};

describe("the inbox page", () => {
  test("is at /", async () => {
    await using world = await createWorld();
    const root = await get(world, "/");
    expect(root.status).toBe(200);
    expect(root.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await root.text();
    expect(html).toContain("<title>Inbox · mailsvc</title>");
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

  test("has one main part, a heading and named navigation, and an icon everywhere", async () => {
    await using world = await createWorld({ dev: false });
    await using dev = await createWorld();
    const html = await (await get(dev, "/")).text();
    expect([...html.matchAll(/<(main|h1)[ >]/g)].map(([, tag]) => tag)).toEqual(["h1", "main"]);
    expect([...html.matchAll(/<nav [^>]*aria-label="(\w+)"/g)].map(([, name]) => name)).toEqual(["Lists", "Actions"]);
    for (const one of [world, dev]) {
      const icon = await get(one, "/favicon.ico");
      expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    }
  });

  test("shows no empty lists and no buttons that do nothing where scripts are off", async () => {
    await using world = await createWorld();
    const html = await (await get(world, "/")).text();
    const [, hidden = ""] = /@media \(scripting: none\) \{ ([^{]+) \{ display: none !important; \} \}/.exec(style) ?? [];
    const rest = hidden.split(", ").reduce(
      (left, one) => {
        const tag = one.startsWith(".") ? `\\w+ class="${one.slice(1)}"` : one.startsWith("#") ? `\\w+ [^>]*id="${one.slice(1)}"` : one;
        const without = left.replace(new RegExp(`<(?=${tag}[ >])(\\w+)[^>]*>.*?</\\1>`, "s"), "");
        expect(without, one).not.toBe(left);
        return without;
      },
      html.replace(/<dialog.*<\/dialog>/s, ""),
    );
    expect(rest).not.toMatch(/<(?:button|ol|input)[ >]/);
    expect(rest).toContain("This page needs JavaScript.");
  });

  test("can be read: every text color has a contrast of at least 4.5 on every background", () => {
    const palettes = [...style.matchAll(/:root \{([^}]*)\}/g)].map(
      ([, rules = ""]) => new Map([...rules.matchAll(/--(\w+): (#[0-9a-f]{3,6});/g)].map(([, name, color]) => [name, color as string])),
    );
    expect(palettes).toHaveLength(2);
    const full = (color = ""): string => (color.length === 4 ? color.replace(/[0-9a-f]/g, "$&$&") : color);
    for (const palette of palettes)
      for (const text of ["ink", "soft", "accent", "bad", "good", "ice"])
        for (const ground of ["bg", "card", "tint"])
          expect(contrast(full(palette.get(text)), full(palette.get(ground))), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });

  test.each([
    "/",
    "/dashboard",
    "/dashboard/events",
    "/dashboard/emails",
    "/dashboard/emails/ws_1/em_1",
    "/dashboard/events/writer/evt_1",
    "/dashboard/mail/mail_1",
    "/dashboard/mail/mail_1/attachments/0",
  ])("is not there in production: %s", async (path) => {
    await using world = await createWorld({ dev: false });
    const response = await get(world, path);
    // Below /dashboard there is the page that asks people to sign in, whatever the address.
    const page = path === "/" ? null : await (await get(world, "/dashboard")).text();
    expect(response.status).toBe(page === null ? 404 : 200);
    const text = await response.text();
    if (page !== null) expect(text).toBe(page);
    else expect(JSON.parse(text)).toMatchObject({ error: { code: "not_found" } });
  });
});

describe("the activity", () => {
  test("lists emails in every state over all workspaces, newest first, and shows what happened to one", async () => {
    await using world = await createWorld();
    await captured(world, { to: "ada@example.com" });
    await captured(world, { to: "bounced@simulator.mailsvc.test" });
    await captured(world, { to: "complained@simulator.mailsvc.test" });
    const { apiKey } = await secondWorkspace(world);
    await ask(world, {
      path: "/api/v1/send",
      key: apiKey,
      body: { ...mail, from: "a@b.example", text: "x", scheduledAt: "2026-01-05T00:00:00Z" },
    });
    await world.clock.advance("1h");
    const list = await get(world, "/dashboard/emails");
    const { data } = (await list.json()) as { data: { id: string; workspaceId: string; status: string }[] };
    expect(data.map(({ status }) => status)).toEqual(["queued", "complained", "bounced", "delivered"]);
    expect(new Set(data.map(({ workspaceId }) => workspaceId)).size).toBe(2);
    const { workspaceId = "", id = "" } = data[2] ?? {};
    const detail = (await (await get(world, `/dashboard/emails/${workspaceId}/${id}`)).json()) as { events: { type: string }[] };
    expect(detail).toEqual(await world.sdk.emails.get(id));
    expect(detail.events.map(({ type }) => type)).toEqual(["email.queued", "email.bounced"]);
    expect((await get(world, `/dashboard/emails/ws_x/${id}`)).status).toBe(404);
  });
});

describe("what went to webhooks", () => {
  const gone = "http://127.0.0.1:9/hook";

  test("is listed over all agents, newest first, and shown with its bytes and attempts", async () => {
    await using world = await createWorld();
    for (const slug of ["writer", "painter"]) {
      await listAgent(world.builder.sdk, gone, { slug });
      await activateAgent(world.sdk, slug);
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
    expect(detail).toEqual(await world.builder.sdk.deliveries.get(slug, id));
    expect([detail.log.length, detail.log[0]?.class]).toEqual([4, "connection"]);
    expect(detail.body).not.toMatch(/ms_agent_/);
  });

  test("is a clear 404 when it is not there, or is another's", async () => {
    await using world = await createWorld();
    await listAgent(world.builder.sdk, gone);
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
