import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestAgent, pdf, png, type TestAgent, zip } from "../../../test/agent.ts";
import { base64, form, JPEG, magnet } from "../../../test/files.ts";
import { createWorld, type TestWorld } from "../../testing.ts";

let world: TestWorld;
let agent: TestAgent;

beforeAll(async () => {
  world = await createWorld();
  agent = await createTestAgent(world);
});
afterAll(() => world.dispose());

const MP4 = Buffer.concat([Buffer.of(0, 0, 0, 24), Buffer.from("ftypisom"), Buffer.alloc(20)]);
const MP3 = Buffer.concat([Buffer.from("ID3"), Buffer.alloc(20)]);
const DOCX = zip(["[Content_Types].xml", "word/document.xml"]);
const EPUB = zip(["mimetype", "META-INF/container.xml"], "application/epub+zip");

describe("lead magnets", () => {
  for (const [fileName, bytes, contentType] of [
    ["a.pdf", pdf("a"), "application/pdf"],
    ["a.epub", EPUB, "application/epub+zip"],
    ["a.zip", zip(["a", "b"]), "application/zip"],
    ["a.docx", DOCX, "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["a.png", png(), "image/png"],
    ["a.jpg", JPEG, "image/jpeg"],
    ["a.mp3", MP3, "audio/mpeg"],
    ["a.mp4", MP4, "video/mp4"],
  ] as const)
    test(`${fileName} is taken, and saved by a visitor who follows its link`, async () => {
      const { status, body } = await agent.call("POST", "/lead-magnets", magnet(fileName, bytes, { description: "For you" }));
      expect({ status, body }).toMatchObject({
        status: 201,
        body: { id: expect.stringMatching(/^lm_/), contentType, fileName, title: "T", description: "For you" },
      });
      const served = await world.fetch(body.downloadUrl);
      expect(Buffer.from(await served.arrayBuffer())).toEqual(bytes);
      expect(Object.fromEntries(served.headers)).toMatchObject({
        "content-type": contentType,
        "content-disposition": `attachment; filename="${fileName}"; filename*=UTF-8''${fileName}`,
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-cache",
        "accept-ranges": "bytes",
      });
    });

  const NAMES: [given: string, kept: string][] = [
    ["../../etc/passwd", "passwd.pdf"],
    ["..\\..\\boot.ini", "boot.ini.pdf"],
    ["guide.PDF", "guide.PDF"],
    ["Führer für Ärzte.pdf", "Führer für Ärzte.pdf"],
    ['a"; filename="evil.exe', "a filename=evil.exe.pdf"],
    ["photo\u202efdp.pdf", "photofdp.pdf"],
    ["con.pdf", "file.pdf"],
    ["com\u00b9.pdf", "file.pdf"],
    ["...", "file.pdf"],
    ["report v2.0", "report v2.0.pdf"],
    [`${"x".repeat(240)}.pdf`, `${"x".repeat(120)}.pdf`],
  ];
  for (const [i, [given, kept]] of NAMES.entries())
    test(`the name ${JSON.stringify(given).slice(0, 40)} is kept as ${kept.slice(0, 40)}`, async () => {
      // A declared program is refused earlier; here only the extension is wrong.
      const answer = await agent.call("POST", "/lead-magnets", { title: "T", fileName: given, contentBase64: base64(pdf(`name ${i}`)) });
      if (given.endsWith(".exe")) return expect(answer.status).toBe(422);
      expect(answer).toMatchObject({ status: 201, body: { fileName: kept } });
      const served = await world.fetch(answer.body.downloadUrl);
      expect(served.headers.get("content-disposition")).not.toMatch(/[\r\n]|[^\x20-\x7e]/);
    });

  test("ranges of a file, as resumed downloads request them", async () => {
    const bytes = pdf(
      Array.from({ length: 200_000 }, (_, i) => String(i % 10))
        .join("")
        .repeat(4),
    );
    const { body } = await agent.call("POST", "/lead-magnets", form({ title: "Large" }, { bytes, name: "large.pdf" }));
    const size = bytes.length;
    const ask = async (headers: Record<string, string>) => {
      const response = await world.fetch(body.downloadUrl, { headers });
      return {
        status: response.status,
        range: response.headers.get("content-range"),
        bytes: Buffer.from(await response.arrayBuffer()),
        headers: response.headers,
      };
    };
    const whole = await ask({});
    expect(whole.status).toBe(200);
    expect(whole.bytes.equals(bytes)).toBe(true);
    const etag = whole.headers.get("etag") as string;
    const table: [range: string, status: number, first: number, last: number][] = [
      ["bytes=0-0", 206, 0, 0],
      ["bytes=100-262143", 206, 100, 262_143],
      ["bytes=262143-262144", 206, 262_143, 262_144],
      ["bytes=524288-", 206, 524_288, size - 1],
      ["bytes=-5", 206, size - 5, size - 1],
      [`bytes=-${size * 2}`, 206, 0, size - 1],
      [`bytes=5-${size * 2}`, 206, 5, size - 1],
      [`bytes=5-${"9".repeat(25)}`, 206, 5, size - 1],
    ];
    for (const [range, status, first, last] of table) {
      const piece = await ask({ range });
      expect({ range, status: piece.status, told: piece.range }).toEqual({ range, status, told: `bytes ${first}-${last}/${size}` });
      expect(piece.bytes.equals(bytes.subarray(first, last + 1))).toBe(true);
    }
    for (const range of ["bytes=5-2", "bytes=a-b", "lines=1-2", "bytes=0-1,5-6", "bytes=-"])
      expect((await ask({ range })).status).toBe(200);
    for (const range of [`bytes=${size}-`, "bytes=-0", `bytes=${"9".repeat(25)}-`]) {
      const none = await ask({ range });
      expect(none).toMatchObject({ status: 416, range: `bytes */${size}` });
      expect([none.headers.get("content-length"), none.bytes.length]).toEqual(["0", 0]);
    }
    expect((await ask({ range: "bytes=0-9", "if-range": etag })).status).toBe(206);
    expect((await ask({ range: "bytes=0-9", "if-range": '"other"' })).status).toBe(200);
    expect((await ask({ "if-none-match": etag })).status).toBe(304);
    expect((await ask({ "if-match": '"other"' })).status).toBe(412);
    expect((await ask({ "if-match": `"other", ${etag}` })).status).toBe(200);
    const head = await world.fetch(body.downloadUrl, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), (await head.arrayBuffer()).byteLength]).toEqual([200, String(size), 0]);
    // Range does not apply to HEAD.
    expect((await world.fetch(body.downloadUrl, { method: "HEAD", headers: { range: "bytes=0-9" } })).status).toBe(200);
  });

  test("its title and description change, by the agent that uploaded it alone", async () => {
    const { body } = await agent.call("POST", "/lead-magnets", magnet("t.pdf", pdf("title")));
    expect((await agent.call("PATCH", `/lead-magnets/${body.id}`, { title: "New", description: null })).body).toMatchObject({
      title: "New",
      description: null,
    });
    const rival = await createTestAgent(world, { slug: "rival", permissions: ["lead_magnets:write"] });
    expect(await rival.call("PATCH", `/lead-magnets/${body.id}`, { title: "Mine" })).toMatchObject({
      status: 404,
      body: { error: { code: "not_found" } },
    });
    expect(await agent.call("PATCH", "/lead-magnets/lm_none", { title: "x" })).toMatchObject({ status: 404 });
    expect(await agent.call("PATCH", `/lead-magnets/${body.id}`, { fileName: "x" })).toMatchObject({ status: 400 });
  });

  test("a link works for an hour, for its file only, and cannot be forged", async () => {
    const { body } = await agent.call("POST", "/lead-magnets", magnet("l.pdf", pdf("link")));
    const status = async (url: string) => (await world.fetch(url)).status;
    const token = new URL(body.downloadUrl).pathname.slice(3);
    const flipped = `${token.slice(0, 30)}${token[30] === "A" ? "B" : "A"}${token.slice(31)}`;
    expect(await status(body.downloadUrl)).toBe(200);
    for (const wrong of [
      flipped,
      token.slice(0, -1),
      token.slice(0, -2),
      `${token}A`,
      `${token}AA`,
      `${token}=`,
      "x",
      body.id,
      "..%2f..%2fetc%2fpasswd",
      "%00",
    ])
      expect(await status(`${world.url}/f/${wrong}`)).toBeGreaterThanOrEqual(400);
    await world.clock.advance("59m");
    expect(await status(body.downloadUrl)).toBe(200);
    await world.clock.advance("1m");
    expect(await status(body.downloadUrl)).toBe(404);
  });
});
