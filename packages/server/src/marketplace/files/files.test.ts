import { createHash } from "node:crypto";
import { FILE_LIMITS } from "@mailsvc/sdk/contract";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgent, pdf, png, type TestAgent, zip } from "../../../test/agent.ts";
import { base64, form, JPEG, magnet } from "../../../test/files.ts";
import { keyFor, secondWorkspace } from "../../../test/tenant.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

let world: TestWorld;
let agent: TestAgent;
let other: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  agent = await createTestAgent(world);
  other = await createTestAgent(world, { slug: "other", permissions: ["brand:read"] });
});
afterAll(() => world.dispose());

const GIF = Buffer.concat([Buffer.from("GIF89a"), Buffer.of(10, 0, 7, 0, 0, 0, 0), Buffer.from("<script>alert(1)</script>")]);
const WEBP = Buffer.concat([Buffer.from("RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0", "latin1"), Buffer.of(31, 0, 0, 23, 0, 0)]);
const SVG = Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const EXE = Buffer.concat([Buffer.from("MZ"), Buffer.alloc(100)]);

const GOOD_IMAGES: [name: string, bytes: Buffer, type: string, width: number, height: number][] = [
  ["a.png", png(6, 5), "image/png", 6, 5],
  ["a.gif", GIF, "image/gif", 10, 7],
  ["a.jpg", JPEG, "image/jpeg", 16, 9],
  ["b.jpeg", Buffer.concat([JPEG, Buffer.of(0)]), "image/jpeg", 16, 9],
  ["a.webp", WEBP, "image/webp", 32, 24],
  ["no-ending", png(7, 5), "image/png", 7, 5],
];

describe("images", () => {
  for (const [fileName, bytes, contentType, width, height] of GOOD_IMAGES)
    test(`${fileName} is taken as ${contentType}, and served as that and nothing else`, async () => {
      const { status, body } = await agent.call("POST", "/assets", { fileName, contentBase64: base64(bytes), alt: "What it shows" });
      expect({ status, body }).toMatchObject({
        status: 201,
        body: {
          id: expect.stringMatching(/^ast_/),
          contentType,
          width,
          height,
          size: bytes.length,
          alt: "What it shows",
          tags: [],
          externalId: null,
        },
      });
      expect(body.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
      const served = await world.fetch(body.url);
      expect(Buffer.from(await served.arrayBuffer())).toEqual(bytes);
      expect(Object.fromEntries(served.headers)).toMatchObject({
        "content-type": contentType,
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
        "content-disposition": expect.stringMatching(/^inline; filename="/),
        "content-length": String(bytes.length),
      });
      expect(served.headers.get("set-cookie")).toBeNull();
    });

  test("uploading the same image again returns the stored one", async () => {
    const contentBase64 = base64(png(9, 9));
    const first = await agent.call("POST", "/assets", { fileName: "x.png", contentBase64, alt: "First" });
    const again = await agent.call("POST", "/assets", { fileName: "y.png", contentBase64, alt: "Second" });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
  });

  test("an image without an alt text gets that of a later upload", async () => {
    const contentBase64 = base64(png(9, 8));
    const first = await agent.call("POST", "/assets", { fileName: "x.png", contentBase64 });
    for (const alt of ["Later", "Too late"]) {
      const { status, body } = await agent.call("POST", "/assets", { fileName: "x.png", contentBase64, alt });
      expect([status, body]).toEqual([200, { ...first.body, alt: "Later" }]);
    }
  });

  test("ten concurrent uploads of an image store one", async () => {
    const body = { fileName: "race.png", contentBase64: base64(png(11, 3)) };
    const answers = await Promise.all(Array.from({ length: 10 }, () => agent.call("POST", "/assets", body)));
    expect(answers.map((a) => a.status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map((a) => a.body.id)).size).toBe(1);
  });

  test("a form with a file does the same as JSON", async () => {
    const { status, body } = await agent.call(
      "POST",
      "/assets",
      form(
        { alt: "Leaf", tags: ["logo", "green"], externalId: "x-1" },
        { bytes: png(8, 2), name: "C:\\fakepath\\leaf.png", type: "image/png" },
      ),
    );
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { fileName: "leaf.png", tags: ["logo", "green"], externalId: "x-1", width: 8 },
    });
    const single = await agent.call("POST", "/assets", form({ tags: "one" }, { bytes: png(8, 3), name: "leaf.png" }));
    expect(single.body.tags).toEqual(["one"]);
  });

  test("a form sent again under its Idempotency-Key is one upload, whatever its boundary is", async () => {
    const send = (alt: string) =>
      agent.call("POST", "/assets", form({ alt }, { bytes: png(2, 31), name: "i.png" }), { "idempotency-key": "form-1" });
    const [first, again, another] = [await send("a"), await send("a"), await send("b")];
    expect([first.status, again.status, another.status]).toEqual([201, 201, 409]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(another.body.error.code).toBe("idempotency_key_reused");
  });
});

type Lie = [name: string, path: string, body: unknown, status: number, code: string, says?: string];
const asset = (fileName: string, bytes: Uint8Array, more: object = {}) => ({ fileName, contentBase64: base64(bytes), ...more });

const LIES: Lie[] = [
  ["an SVG", "/assets", asset("a.svg", SVG), 422, "unsupported_file_type", "SVG"],
  ["an SVG that calls itself PNG", "/assets", asset("a.png", SVG), 422, "unsupported_file_type", "SVG"],
  [
    "HTML that calls itself PNG",
    "/assets",
    asset("a.png", Buffer.from("<!doctype html><script>alert(1)</script>")),
    422,
    "unsupported_file_type",
    "HTML",
  ],
  ["a program that calls itself PNG", "/assets", asset("a.png", EXE), 422, "unsupported_file_type", "program"],
  ["a PDF as an image", "/assets", asset("a.pdf", pdf()), 422, "unsupported_file_type", "PDF"],
  ["text as an image", "/assets", asset("a.png", Buffer.from("hello")), 422, "unsupported_file_type", "text"],
  ["noise", "/assets", asset("a.png", Buffer.of(1, 2, 3, 0, 255, 254)), 422, "unsupported_file_type", "unknown"],
  ["a PNG called JPEG", "/assets", asset("a.jpg", png()), 422, "type_mismatch", "PNG"],
  ["a PNG called HTML", "/assets", asset("a.html", png()), 422, "type_mismatch", "PNG"],
  ["a PNG whose type says GIF", "/assets", asset("a.png", png(), { contentType: "image/gif" }), 422, "type_mismatch", "image/gif"],
  [
    "a PNG whose type says HTML",
    "/assets",
    form({}, { bytes: png(3, 44), name: "a.png", type: "text/html" }),
    422,
    "type_mismatch",
    "text/html",
  ],
  ["a PNG that is cut off", "/assets", asset("a.png", png().subarray(0, 14)), 422, "corrupt_file"],
  ["a PNG without width", "/assets", asset("a.png", png(1, 1, [0], { width: 0, height: 5 })), 422, "corrupt_file"],
  ["a PNG without an end", "/assets", asset("a.png", png().subarray(0, 40)), 422, "corrupt_file"],
  [
    "a PNG without a header",
    "/assets",
    asset("a.png", Buffer.concat([png().subarray(0, 8), Buffer.from("<script>alert(1)</script>".repeat(4))])),
    422,
    "corrupt_file",
  ],
  [
    "a PNG of nothing but chunks",
    "/assets",
    asset("a.png", Buffer.concat([png().subarray(0, 33), Buffer.alloc(4_000_000)])),
    422,
    "corrupt_file",
  ],
  ["a JPEG without an end", "/assets", asset("a.jpg", JPEG.subarray(0, -2)), 422, "corrupt_file"],
  [
    "a JPEG of nothing but filling",
    "/assets",
    asset("a.jpg", Buffer.concat([JPEG.subarray(0, 20), Buffer.alloc(4_000_000, 0xff), Buffer.of(0xff, 0xd9)])),
    422,
    "corrupt_file",
  ],
  ["a JPEG without a frame", "/assets", asset("a.jpg", Buffer.from("ffd8ffe0000ae1e2e3e4e5e6e7e8ffd9", "hex")), 422, "corrupt_file"],
  ["a JPEG whose segments lead out of it", "/assets", asset("a.jpg", Buffer.from("ffd8ffe0ffff00", "hex")), 422, "corrupt_file"],
  ["a WebP without an image", "/assets", asset("a.webp", Buffer.from("RIFF\0\0\0\0WEBPXXXX", "latin1")), 422, "corrupt_file"],
  [
    "a bomb: few bytes, a billion pixels",
    "/assets",
    asset("a.png", png(1, 1, [0], { width: 65_000, height: 65_000 })),
    400,
    "validation_error",
    "65000",
  ],
  ["more than 5 MB", "/assets", asset("a.png", Buffer.concat([png(), Buffer.alloc(FILE_LIMITS.asset)])), 413, "payload_too_large"],
  ["nothing at all", "/assets", { fileName: "a.png", contentBase64: "" }, 400, "validation_error"],
  ["no base64", "/assets", { fileName: "a.png", contentBase64: "§§§§" }, 400, "validation_error", "base64"],
  [
    "base64 with a hole",
    "/assets",
    { fileName: "a.png", contentBase64: `${base64(png()).slice(0, 20)} ${base64(png()).slice(20)}` },
    400,
    "validation_error",
  ],
  ["no name", "/assets", { contentBase64: base64(png()) }, 400, "validation_error", "fileName"],
  ["a field nobody knows", "/assets", asset("a.png", png(), { workspaceId: "ws_1" }), 400, "validation_error", "workspaceId"],
  ["a source to fetch", "/assets", { sourceUrl: "http://169.254.169.254/" }, 400, "validation_error", "sourceUrl"],
  ["eleven tags", "/assets", asset("a.png", png(), { tags: Array(11).fill("x") }), 400, "validation_error", "tags"],
  ["a form without a file", "/assets", form({ alt: "x" }), 400, "validation_error", "fileName"],
  [
    "a form with two files",
    "/assets",
    (() => {
      const data = form({}, { bytes: png(), name: "a.png" });
      data.append("file", new Blob([Uint8Array.from(png())]), "b.png");
      return data;
    })(),
    400,
    "validation_error",
    "2 times",
  ],
  [
    "a form with a file in another field",
    "/assets",
    (() => {
      const data = form({}, { bytes: png(), name: "a.png" });
      data.append("alt", new Blob(["x"]), "b.txt");
      return data;
    })(),
    400,
    "validation_error",
    "file",
  ],
  ["an SVG as a lead magnet", "/lead-magnets", magnet("a.svg", SVG), 422, "unsupported_file_type"],
  ["HTML as a PDF", "/lead-magnets", magnet("a.pdf", Buffer.from("<html>")), 422, "unsupported_file_type", "HTML"],
  ["a program as a PDF", "/lead-magnets", magnet("a.pdf", EXE), 422, "unsupported_file_type", "program"],
  ["a PDF called a program", "/lead-magnets", magnet("a.exe", pdf()), 422, "type_mismatch", "PDF"],
  ["a ZIP called PDF", "/lead-magnets", magnet("a.pdf", zip(["a"])), 422, "type_mismatch", "ZIP"],
  ["a ZIP called DOCX", "/lead-magnets", magnet("a.docx", zip(["a"])), 422, "type_mismatch", "ZIP"],
  ["a PDF without an end", "/lead-magnets", magnet("a.pdf", Buffer.from("%PDF-1.7\nhello")), 422, "corrupt_file"],
  ["a ZIP without a directory", "/lead-magnets", magnet("a.zip", Buffer.from("PK\x03\x04hello")), 422, "corrupt_file"],
  ["a GIF as a lead magnet", "/lead-magnets", magnet("a.gif", GIF), 422, "unsupported_file_type"],
  ["a lead magnet without a title", "/lead-magnets", asset("a.pdf", pdf()), 400, "validation_error", "title"],
  [
    "a lead magnet with a title over two lines",
    "/lead-magnets",
    magnet("a.pdf", pdf(), { title: "a\nb" }),
    400,
    "validation_error",
    "title",
  ],
];

describe("what is refused", () => {
  for (const [name, path, body, status, code, says = ""] of LIES)
    test(name, async () => {
      const answer = await agent.call("POST", path, body);
      expect(answer).toMatchObject({ status, body: { error: { code, status } } });
      expect(answer.text).toContain(says);
    });

  test("refuses an invalid form, text, and a compressed body", async () => {
    const send = (headers: Record<string, string>, body: string) =>
      world.fetch(world.url + agent.path("/assets"), {
        method: "POST",
        headers: { authorization: `Bearer ${agent.key}`, ...headers },
        body,
      });
    expect((await send({ "content-type": "multipart/form-data; boundary=x" }, "hello")).status).toBe(400);
    expect((await send({ "content-type": "multipart/form-data" }, "hello")).status).toBe(400);
    expect((await send({ "content-type": "text/plain" }, "hello")).status).toBe(415);
    expect((await send({ "content-type": "image/png" }, "hello")).status).toBe(415);
    expect((await send({ "content-type": "multipart/form-data; boundary=x", "content-encoding": "gzip" }, "hello")).status).toBe(415);
  });

  test("without the scope: 403, for both kinds of upload", async () => {
    for (const [path, body] of [
      ["/assets", asset("a.png", png())],
      ["/lead-magnets", magnet("a.pdf", pdf())],
    ] as const)
      expect(await other.call("POST", path, body)).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
  });

  test("a file beyond the quota answers 409 and is not stored", async () => {
    const { db } = world.app.deps;
    const { leadMagnets: t, fileContents } = db.read.t;
    const before = await db.read.$count(fileContents);
    const [row] = (await db.read.select().from(t).limit(1)) as [typeof t.$inferSelect] | [];
    const full = { ...(row ?? (await seedMagnet())), id: "lm_full", activationId: agent.activationId, size: FILE_LIMITS.activationBytes };
    await db.tx(async (tx) => void (await tx.insert(tx.t.leadMagnets).values(full)));
    expect(await agent.call("POST", "/lead-magnets", magnet("q.pdf", pdf("quota")))).toMatchObject({
      status: 409,
      body: { error: { code: "storage_quota_exceeded" } },
    });
    expect(await db.read.$count(fileContents)).toBe(before + (row ? 0 : 1));
    await db.tx(async (tx) => void (await tx.delete(tx.t.leadMagnets).where(eq(t.id, "lm_full"))));
  });

  const seedMagnet = async () => {
    const { body } = await agent.call("POST", "/lead-magnets", magnet("seed.pdf", pdf("seed")));
    const { leadMagnets: t } = world.app.deps.db.read.t;
    const [row] = await world.app.deps.db.read.select().from(t).where(eq(t.id, body.id));
    return row as typeof t.$inferSelect;
  };
});

describe("the brand", () => {
  test("lists, shows and deletes files of agents; contents are deleted with their last file", async () => {
    const { db } = world.app.deps;
    const bytes = png(12, 12);
    const image = (await agent.call("POST", "/assets", asset("brand.png", bytes))).body;
    const file = (await agent.call("POST", "/lead-magnets", magnet("brand.png", bytes))).body;
    expect((await world.sdk.assets.list({ limit: 1 })).data).toEqual([image]);
    expect(await world.sdk.assets.get(image.id)).toEqual(image);
    await world.sdk.brand.update({ logoAssetId: image.id });
    const { fileContents: c, fileParts: p } = db.read.t;
    const [content] = await db.read.select().from(c).where(eq(c.sha256, image.sha256));
    const parts = async () => {
      await world.settle();
      return db.read.$count(p, eq(p.contentId, content?.id ?? ""));
    };
    expect(await parts()).toBe(1);
    await world.sdk.assets.delete(image.id);
    expect((await world.sdk.brand.get()).logo).toBeNull();
    expect((await world.fetch(image.url)).status).toBe(404);
    expect(await parts()).toBe(1);
    await world.sdk.leadMagnets.delete(file.id);
    expect((await world.fetch(file.downloadUrl)).status).toBe(404);
    expect(await parts()).toBe(0);
  });

  test("uploads its own images and lead magnets, which belong to no agent", async () => {
    const image = await world.sdk.assets.create({ fileName: "own.png", contentBase64: base64(png(13, 13)), tags: ["own"] });
    expect(await world.sdk.assets.get(image.id)).toEqual(image);
    const file = await world.sdk.leadMagnets.create({ fileName: "own.pdf", contentBase64: base64(pdf("own")), title: "Own" });
    expect(await agent.call("PATCH", `/lead-magnets/${file.id}`, { title: "x" })).toMatchObject({ status: 404 });
    expect((await world.sdk.leadMagnets.list()).data[0]).toMatchObject({ id: file.id, title: "Own" });
  });

  test("has none of another workspace, and needs the permission", async () => {
    const image = (await agent.call("POST", "/assets", asset("mine.png", png(14, 14)))).body;
    const { apiKey } = await secondWorkspace(world);
    const weak = await keyFor(world, "contacts:read");
    const ask = (key: string, method: string, path: string) =>
      world.fetch(`${world.url}/api/v1/marketplace/${path}`, { method, headers: { authorization: `Bearer ${key}` } });
    for (const [method, path] of [
      ["GET", `assets/${image.id}`],
      ["DELETE", `assets/${image.id}`],
      ["GET", "lead-magnets/lm_01jc3v2m9k8q4w6x0y5z7a1b2c"],
      ["DELETE", "lead-magnets/lm_01jc3v2m9k8q4w6x0y5z7a1b2c"],
    ] as const) {
      expect((await ask(apiKey, method, path)).status).toBe(404);
      expect((await ask(weak, method, path)).status).toBe(403);
    }
    expect((await (await ask(apiKey, "GET", "assets")).json()).data).toEqual([]);
  });
});
