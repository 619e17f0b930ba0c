import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgent, pdf, png, type TestAgent } from "../../../test/agent.ts";
import { keyFor, secondWorkspace } from "../../../test/tenant.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

let world: TestWorld;
let agent: TestAgent;
let rival: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  agent = await createTestAgent(world);
  rival = await createTestAgent(world, { slug: "rival", permissions: ["landing_pages:write", "landing_pages:read"] });
});
afterAll(() => world.dispose());

let count = 0;
const made = async (fields: object = {}, by = agent) => {
  count += 1;
  const { status, body } = await by.call("POST", "/landing-pages", { title: `Page ${count}`, ...fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};
const view = async (url: string, init?: RequestInit) => {
  const response = await world.fetch(url, { redirect: "manual", ...init });
  return { status: response.status, text: await response.text(), headers: response.headers };
};

describe("a page", () => {
  test("is created, read, changed, published and taken down", async () => {
    const page = await made({ title: "Frühling: der Führer!", html: "<h1>Hi</h1><script>x</script><form></form>", runId: "run-12345678" });
    expect(page).toEqual({
      id: expect.stringMatching(/^lp_[0-9a-z]{26}$/),
      slug: "fruhling-der-fuhrer",
      url: `${world.url}/p/fruhling-der-fuhrer-${page.id.slice(3)}`,
      previewUrl: expect.stringContaining("?preview="),
      title: "Frühling: der Führer!",
      status: "DRAFT",
      version: 1,
      hasForm: true,
      leadMagnetId: null,
      listId: null,
      runId: "run-12345678",
      createdBy: { agent: true, activationId: agent.activationId },
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:00.000Z",
      publishedAt: null,
      html: "<h1>Hi</h1><form></form>",
      blocks: null,
      seo: {},
      form: null,
      removed: [{ kind: "element", name: "script", count: 1 }],
    });
    expect((await view(page.url)).status).toBe(404);
    const { removed: _removed, ...plain } = page;
    expect((await agent.call("GET", `/landing-pages/${page.id}`)).body).toEqual({ ...plain, previewUrl: expect.any(String) });
    const changed = await agent.call("PATCH", `/landing-pages/${page.id}`, { status: "PUBLISHED", slug: "guide" });
    expect(changed).toMatchObject({
      status: 200,
      body: { version: 2, status: "PUBLISHED", slug: "guide", html: "<h1>Hi</h1><form></form>", removed: [] },
    });
    expect(changed.body.publishedAt).not.toBeNull();
    expect(await view(changed.body.url)).toMatchObject({ status: 200, text: expect.stringContaining("<h1>Hi</h1>") });
    const old = await view(page.url);
    expect([old.status, old.headers.get("location")]).toEqual([308, new URL(changed.body.url).pathname]);
    expect((await agent.call("POST", `/landing-pages/${page.id}/unpublish`)).body).toMatchObject({ status: "DRAFT", version: 3 });
    expect((await view(changed.body.url)).status).toBe(404);
    expect((await agent.call("POST", `/landing-pages/${page.id}/publish`)).body).toMatchObject({ status: "PUBLISHED", version: 4 });
    expect((await agent.call("POST", `/landing-pages/${page.id}/publish`)).body).toMatchObject({ version: 4 });
  });

  test("made of blocks shows them as text, whatever is in them", async () => {
    const image = (await agent.call("POST", "/assets", { fileName: "i.png", contentBase64: png().toString("base64") })).body;
    const evil = '<script>alert(1)</script>"onload=x';
    const page = await made({
      status: "PUBLISHED",
      title: evil,
      blocks: [
        { type: "heading", text: evil, level: 1 },
        { type: "text", text: `${evil}\n\nsecond` },
        { type: "image", assetId: image.id, alt: evil, caption: evil },
        { type: "list", items: [evil], ordered: true },
        { type: "quote", text: evil, by: evil },
        { type: "button", label: evil, href: "https://a.example/?a=1&b=2" },
        { type: "divider" },
        { type: "form" },
      ],
      seo: { title: evil, description: evil, ogAssetId: image.id },
      form: { title: evil, button: evil, consentText: evil, labels: { email: evil } },
    });
    const { text } = await view(page.url);
    expect(text).not.toMatch(/<script|" ?onload=/);
    expect(text.split("&lt;script&gt;").length).toBeGreaterThan(12);
    for (const part of [
      "<p>second</p>",
      `<img src="/a/${image.id}"`,
      "<ol><li>",
      "<blockquote>",
      'href="https://a.example/?a=1&amp;b=2"',
      "<hr>",
      'class="signup"',
    ])
      expect(text).toContain(part);
  });

  test("html takes the place of blocks, and the other way round", async () => {
    const page = await made({ blocks: [{ type: "form" }] });
    expect(page.hasForm).toBe(true);
    const html = await agent.call("PATCH", `/landing-pages/${page.id}`, { html: "<p>x</p>" });
    expect(html.body).toMatchObject({ html: "<p>x</p>", blocks: null, hasForm: false });
    const blocks = await agent.call("PATCH", `/landing-pages/${page.id}`, { blocks: [{ type: "divider" }] });
    expect(blocks.body).toMatchObject({ html: null, blocks: [{ type: "divider" }] });
    expect((await agent.call("PATCH", `/landing-pages/${page.id}`, { blocks: null, seo: null, form: {} })).body).toMatchObject({
      blocks: null,
      hasForm: true,
    });
  });

  test("a slug of its own making gives way; one that was asked for does not", async () => {
    const [one, two] = [await made({ title: "Same" }), await made({ title: "Same" })];
    expect(one.slug).toBe("same");
    expect(two.slug).toMatch(/^same-[0-9a-z]{6}$/);
    expect(await agent.call("POST", "/landing-pages", { title: "x", slug: "same" })).toMatchObject({
      status: 409,
      body: { error: { code: "slug_taken" } },
    });
    expect(await agent.call("PATCH", `/landing-pages/${two.id}`, { slug: "same" })).toMatchObject({
      status: 409,
      body: { error: { code: "slug_taken" } },
    });
    expect(await agent.call("PATCH", `/landing-pages/${one.id}`, { slug: "same" })).toMatchObject({ status: 200 });
  });

  test("of twenty that want one slug at once, one gets it", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => agent.call("POST", "/landing-pages", { title: "x", slug: "race" })));
    expect(answers.map((a) => a.status).sort()).toEqual([201, ...Array(19).fill(409)]);
    expect(new Set(answers.flatMap((a) => (a.status === 409 ? [a.body.error.code] : [])))).toEqual(new Set(["slug_taken"]));
  });

  test("changes only what was read: by version, and by If-Match", async () => {
    const page = await made();
    const patch = (body: object, headers = {}) => agent.call("PATCH", `/landing-pages/${page.id}`, body, headers);
    expect(await patch({ title: "a", version: 1 })).toMatchObject({ status: 200, body: { version: 2 } });
    expect(await patch({ title: "b", version: 1 })).toMatchObject({
      status: 412,
      body: { error: { code: "version_mismatch", details: [{ message: "2" }] } },
    });
    expect(await patch({ title: "b" }, { "if-match": '"1"' })).toMatchObject({ status: 412 });
    expect(await patch({ title: "b" }, { "if-match": "nonsense" })).toMatchObject({ status: 412 });
    expect(await patch({ title: "b" }, { "if-match": '"2"' })).toMatchObject({ status: 200, body: { version: 3 } });
    expect(await patch({ title: "c" }, { "if-match": "*" })).toMatchObject({ status: 200, body: { version: 4 } });
    expect(await patch({})).toMatchObject({ status: 200, body: { version: 4 } });
    const races = await Promise.all(Array.from({ length: 10 }, (_, i) => patch({ title: `r${i}`, version: 4 })));
    expect(races.map((r) => r.status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  test("shows before it is out what it will be, to the holder of its preview link", async () => {
    const page = await made({ html: "<p>secret plan</p>" });
    const shown = await view(page.previewUrl);
    expect(shown).toMatchObject({ status: 200, text: expect.stringContaining("secret plan") });
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect(shown.headers.get("x-robots-tag")).toBe("noindex");
    const elsewhere = await made({ html: "<p>other</p>" });
    expect((await view(`${elsewhere.url}?preview=${new URL(page.previewUrl).searchParams.get("preview")}`)).status).toBe(404);
    expect((await agent.call("GET", `/landing-pages/${page.id}/stats`)).body.views).toBe(0);
    await world.clock.advance("1h");
    expect((await view(page.previewUrl)).status).toBe(404);
  });

  test("is listed newest first, in pages, without its content", async () => {
    const { status, body } = await agent.call("GET", "/landing-pages?limit=2");
    expect(status).toBe(200);
    expect(body.data).toHaveLength(2);
    expect(body.data[0]).not.toHaveProperty("html");
    expect(body.pagination).toMatchObject({ page: 1, limit: 2, hasMore: true });
    const drafts = await agent.call("GET", "/landing-pages?status=DRAFT&limit=100");
    expect(new Set(drafts.body.data.map((p: { status: string }) => p.status))).toEqual(new Set(["DRAFT"]));
  });
});

describe("other agents", () => {
  test("see a page once it is out, are not told whose it is, and cannot change it", async () => {
    const page = await made({ html: "<p>x</p>" });
    expect(await rival.call("GET", `/landing-pages/${page.id}`)).toMatchObject({ status: 404 });
    expect(await rival.call("PATCH", `/landing-pages/${page.id}`, { title: "x" })).toMatchObject({ status: 404 });
    await agent.call("POST", `/landing-pages/${page.id}/publish`);
    const seen = await rival.call("GET", `/landing-pages/${page.id}`);
    expect(seen.body.createdBy).toEqual({ agent: true, activationId: null });
    expect(seen.text).not.toContain(agent.activationId);
    expect((await rival.call("GET", "/landing-pages?limit=100")).text).not.toContain(agent.activationId);
    for (const [method, path, body] of [
      ["PATCH", "", { title: "x" }],
      ["POST", "/publish"],
      ["POST", "/unpublish"],
    ] as const)
      expect(await rival.call(method, `/landing-pages/${page.id}${path}`, body)).toMatchObject({
        status: 404,
        body: { error: { code: "not_found" } },
      });
    expect((await view(page.url)).status).toBe(200);
  });

  test("cannot put a lead magnet of another agent on a page, but one of the brand", async () => {
    const borrower = await createTestAgent(world, { slug: "borrower", permissions: ["landing_pages:write"] });
    const upload = { title: "T", fileName: "m.pdf", contentBase64: pdf("a magnet").toString("base64") };
    const own = (await agent.call("POST", "/lead-magnets", upload)).body;
    const brands = await world.sdk.leadMagnets.create(upload);
    const page = await made({ html: "<p>x</p>" }, borrower);
    for (const [method, path] of [
      ["POST", "/landing-pages"],
      ["PATCH", `/landing-pages/${page.id}`],
    ] as const) {
      const refused = await borrower.call(method, path, { title: "x", leadMagnetId: own.id });
      expect(refused).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
      expect((await borrower.call(method, path, { title: "x", leadMagnetId: brands.id })).body.leadMagnetId).toBe(brands.id);
      expect((await agent.call("POST", "/landing-pages", { title: "x", leadMagnetId: own.id })).status).toBe(201);
    }
  });
});

type Row = [name: string, body: object, status: number, code: string, detail?: string];
const ROWS: Row[] = [
  ["no title", {}, 400, "validation_error", "title required"],
  ["an empty title", { title: " " }, 400, "validation_error", "title too_small"],
  ["a title over two lines", { title: "a\nb" }, 400, "validation_error", "title invalid_characters"],
  ["a title of 201", { title: "x".repeat(201) }, 400, "validation_error", "title too_big"],
  ...["Big", "a b", "../etc", "a/b", "-a", "a-", "a.b", "%2e", "ä", "", "a".repeat(81), "a\0"].map(
    (slug): Row => [`the slug ${JSON.stringify(slug).slice(0, 20)}`, { title: "x", slug }, 400, "validation_error"],
  ),
  ["html and blocks", { title: "x", html: "a", blocks: [{ type: "divider" }] }, 400, "validation_error", "blocks unexpected"],
  ["more than 512 KiB", { title: "x", html: "x".repeat(512 * 1024 + 1) }, 400, "validation_error", "html too_big"],
  ["more than 512 KiB of bytes", { title: "x", html: "ä".repeat(300 * 1024) }, 400, "validation_error", "html too_big"],
  ["half a character", { title: "x", html: "\ud800" }, 400, "validation_error", "html invalid_characters"],
  ["no blocks", { title: "x", blocks: [] }, 400, "validation_error", "blocks too_small"],
  ["101 blocks", { title: "x", blocks: Array(101).fill({ type: "divider" }) }, 400, "validation_error", "blocks too_big"],
  ["a block nobody knows", { title: "x", blocks: [{ type: "script", text: "x" }] }, 400, "validation_error"],
  [
    "a block with a field nobody knows",
    { title: "x", blocks: [{ type: "divider", onclick: "x" }] },
    400,
    "validation_error",
    "blocks[0].onclick unknown_field",
  ],
  [
    "a button with a script",
    { title: "x", blocks: [{ type: "button", label: "x", href: "javascript:alert(1)" }] },
    400,
    "validation_error",
    "blocks[0].href invalid_url",
  ],
  [
    "a button with a host before the @",
    { title: "x", blocks: [{ type: "button", label: "x", href: "https://bank.example@elsewhere.example/" }] },
    400,
    "validation_error",
    "blocks[0].href invalid_url",
  ],
  [
    "a heading of level 9",
    { title: "x", blocks: [{ type: "heading", text: "x", level: 9 }] },
    400,
    "validation_error",
    "blocks[0].level too_big",
  ],
  ["a form that asks for a password", { title: "x", form: { fields: ["password"] } }, 400, "validation_error"],
  ["a form with an action", { title: "x", form: { action: "https://evil.example" } }, 400, "validation_error", "form.action unknown_field"],
  ["a field nobody knows", { title: "x", workspaceId: "ws" }, 400, "validation_error", "workspaceId unknown_field"],
  ["a status nobody knows", { title: "x", status: "LIVE" }, 400, "validation_error", "status invalid_value"],
  ["a list of nobody", { title: "x", listId: "list_01jc3v2m9k8q4w6x0y5z7a1b2c" }, 404, "not_found"],
  ["a lead magnet of nobody", { title: "x", leadMagnetId: "lm_01jc3v2m9k8q4w6x0y5z7a1b2c" }, 404, "not_found"],
  ["an image of nobody in html", { title: "x", html: '<img src="/a/ast_01jc3v2m9k8q4w6x0y5z7a1b2c">' }, 404, "not_found"],
  ["an image of nobody in blocks", { title: "x", blocks: [{ type: "image", assetId: "ast_x", alt: "x" }] }, 404, "not_found"],
  ["an image of nobody for shared links", { title: "x", seo: { ogAssetId: "ast_x" } }, 404, "not_found"],
];

describe("what is refused, on creating and on changing", () => {
  let page: { id: string };
  beforeAll(async () => {
    page = await made();
  });
  for (const [name, body, status, code, detail] of ROWS)
    test(name, async () => {
      const answers = [await agent.call("POST", "/landing-pages", body)];
      if (!detail?.startsWith("title required")) {
        const { title, ...rest } = body as { title?: string };
        answers.push(await agent.call("PATCH", `/landing-pages/${page.id}`, name.includes("title") ? { title } : rest));
      }
      for (const answer of answers) {
        expect(answer).toMatchObject({ status, body: { error: { code } } });
        if (detail !== undefined)
          expect(answer.body.error.details.map((d: { path: string; code: string }) => `${d.path} ${d.code}`)).toContain(detail);
      }
    });

  test("every endpoint asks for its scope, and for its activation", async () => {
    const none = await createTestAgent(world, { slug: "none", permissions: ["agent:read_runs"] });
    const table: [method: string, path: string, body?: object][] = [
      ["GET", "/landing-pages"],
      ["POST", "/landing-pages", { title: "x" }],
      ["GET", `/landing-pages/${page.id}`],
      ["PATCH", `/landing-pages/${page.id}`, { title: "x" }],
      ["POST", `/landing-pages/${page.id}/publish`],
      ["POST", `/landing-pages/${page.id}/unpublish`],
      ["GET", `/landing-pages/${page.id}/stats`],
      ["GET", "/brand"],
      ["GET", "/lists"],
      ["GET", "/lists/list_01jc3v2m9k8q4w6x0y5z7a1b2c"],
    ];
    for (const [method, path, body] of table) {
      expect({ path, answer: await none.call(method, path, body) }).toMatchObject({
        answer: { status: 403, body: { error: { code: "forbidden" } } },
      });
      const elsewhere = await world.fetch(world.url + agent.path(path), {
        method,
        headers: { authorization: `Bearer ${none.key}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect(elsewhere.status).toBe(404);
      const developer = await world.fetch(world.url + agent.path(path), { method, headers: { authorization: `Bearer ${world.apiKey}` } });
      expect(developer.status).toBe(403);
    }
    for (const [method, path] of [
      ["GET", "/lists/x/contacts"],
      ["GET", "/landing-pages/x/submissions"],
      ["DELETE", `/landing-pages/${page.id}`],
      ["GET", "/assets"],
      ["GET", "/lead-magnets"],
    ] as const)
      expect((await agent.call(method, path)).status).toBeGreaterThanOrEqual(404);
  });

  test("pages that are not there", async () => {
    for (const [method, path, body] of [
      ["GET", "/landing-pages/lp_none"],
      ["PATCH", "/landing-pages/lp_none", { title: "x" }],
      ["POST", "/landing-pages/lp_none/publish"],
      ["GET", "/landing-pages/lp_none/stats"],
    ] as const)
      expect(await agent.call(method, path, body)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  });
});

describe("the brand", () => {
  test("sees whose pages are whose, publishes, takes down and deletes them", async () => {
    const page = await made({ html: "<p>x</p>" });
    expect(await world.sdk.landingPages.get(page.id)).toMatchObject({ createdBy: { agent: true, activationId: agent.activationId } });
    expect((await world.sdk.landingPages.list({ activationId: rival.activationId })).data).toEqual([]);
    expect(await world.sdk.landingPages.publish(page.id)).toMatchObject({ status: "PUBLISHED" });
    expect((await view(page.url)).status).toBe(200);
    expect(await world.sdk.landingPages.stats(page.id)).toMatchObject({ views: 1 });
    expect(await world.sdk.landingPages.unpublish(page.id)).toMatchObject({ status: "DRAFT" });
    expect((await view(page.url)).status).toBe(404);
    await world.sdk.landingPages.delete(page.id);
    expect((await agent.call("GET", `/landing-pages/${page.id}`)).status).toBe(404);
    const { landingPageDays: d, landingPageVisitors: v } = world.app.deps.db.read.t;
    const rows = [...(await world.app.deps.db.read.select().from(d)), ...(await world.app.deps.db.read.select().from(v))];
    expect(rows.filter((row) => row.pageId === page.id)).toEqual([]);
  });

  test("has no page of another workspace, and needs the permission", async () => {
    const page = await made({ status: "PUBLISHED" });
    const { apiKey } = await secondWorkspace(world);
    const weak = await keyFor(world, "lists:read");
    const reader = await keyFor(world, "marketplace:read");
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/publish"],
      ["POST", "/unpublish"],
      ["DELETE", ""],
      ["GET", "/stats"],
      ["GET", "/submissions"],
    ] as const) {
      const ask = (key: string) =>
        world.fetch(`${world.url}/api/v1/marketplace/landing-pages/${page.id}${path}`, {
          method,
          headers: { authorization: `Bearer ${key}` },
        });
      expect((await ask(apiKey)).status).toBe(404);
      expect((await ask(weak)).status).toBe(403);
      expect((await ask(agent.key)).status).toBe(403);
      if (method !== "GET" || path === "/submissions") expect((await ask(reader)).status).toBe(403);
    }
  });

  test("may want to be asked: then a page goes out after its yes to what the page shows, and after no other", async () => {
    await world.sdk.brand.update({ publishNeedsApproval: true });
    const refused = { status: 409, body: { error: { code: "approval_required" } } };
    expect(await agent.call("POST", "/landing-pages", { title: "x", slug: "asked", status: "PUBLISHED" })).toMatchObject(refused);
    const page = await made({ slug: "asked", html: "<p>one</p>" });
    const publish = () => agent.call("POST", `/landing-pages/${page.id}/publish`);
    expect(await publish()).toMatchObject(refused);
    expect(await agent.call("PATCH", `/landing-pages/${page.id}`, { status: "PUBLISHED" })).toMatchObject(refused);
    const yes = await approve(page.id);
    await yes();
    await agent.call("PATCH", `/landing-pages/${page.id}`, { html: "<p>two</p>" });
    expect(await publish()).toMatchObject(refused);
    const other = await made();
    await (await approve(other.id))();
    expect(await publish()).toMatchObject(refused);
    await (await approve(page.id))();
    expect(await publish()).toMatchObject({ status: 200, body: { status: "PUBLISHED" } });
    expect(await agent.call("PATCH", `/landing-pages/${page.id}`, { html: "<p>three</p>" })).toMatchObject(refused);
    expect((await view(page.url)).text).toContain("<p>two</p>");
    expect(await agent.call("PATCH", `/landing-pages/${page.id}`, { html: "<p>three</p>", status: "DRAFT" })).toMatchObject({
      status: 200,
    });
    expect(await world.sdk.landingPages.publish(page.id)).toMatchObject({ status: "PUBLISHED" });
    await world.sdk.brand.update({ publishNeedsApproval: false });
  });

  /** The question an agent asks before it publishes; answering it is left to the caller. */
  const approve = async (id: string) => {
    const { status, body } = await agent.call("POST", "/messages", {
      type: "APPROVAL_REQUEST",
      text: "May it go out?",
      approval: { title: "The page", preview: { kind: "landing_page", id }, suspendRun: false },
    });
    expect({ status, body }).toMatchObject({ status: 201 });
    return () => world.sdk.messages.answer(body.id, { decision: "approve" });
  };
});

describe("the life of an agent", () => {
  test("its pages are the brand's: they stay up when it is paused and when it is turned off", async () => {
    const mortal = await createTestAgent(world, { slug: "mortal", permissions: ["landing_pages:write", "lead_magnets:write"] });
    const file = (
      await mortal.call("POST", "/lead-magnets", { title: "T", fileName: "m.pdf", contentBase64: pdf("mortal").toString("base64") })
    ).body;
    const page = await made({ status: "PUBLISHED", html: "<p>still here</p>", leadMagnetId: file.id }, mortal);
    await world.sdk.activations.pause(mortal.activationId);
    expect((await view(page.url)).text).toContain("still here");
    expect(await mortal.call("PATCH", `/landing-pages/${page.id}`, { title: "x" })).toMatchObject({
      status: 403,
      body: { error: { code: "activation_paused" } },
    });
    await world.sdk.activations.deactivate(mortal.activationId);
    expect((await view(page.url)).text).toContain("still here");
    expect((await view(file.downloadUrl)).status).toBe(200);
    expect(await mortal.call("PATCH", `/landing-pages/${page.id}`, { title: "x" })).toMatchObject({
      status: 401,
      body: { error: { code: "key_revoked" } },
    });
    expect(await world.sdk.landingPages.unpublish(page.id)).toMatchObject({ status: "DRAFT" });
    expect((await view(page.url)).status).toBe(404);
  });

  test("a request sent again under its Idempotency-Key makes one page", async () => {
    const send = (title: string) => agent.call("POST", "/landing-pages", { title, slug: "once" }, { "idempotency-key": "page-1" });
    const [first, again, another] = [await send("a"), await send("a"), await send("b")];
    expect([first.status, again.status, another.status]).toEqual([201, 201, 409]);
    expect(again.body).toEqual(first.body);
    expect(another.body.error.code).toBe("idempotency_key_reused");
  });
});
