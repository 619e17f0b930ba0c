import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_SCOPES } from "@mailsvc/sdk/contract";
import { expect, test } from "vitest";
import { activateAgent, getAgentKey, listAgent, startReceiver } from "../../server/test/marketplace.ts";
import { folder, TERMINAL } from "./harness.ts";
import { startCliWithServer } from "./world.ts";

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const PDF = Buffer.from("%PDF-1.7\n%%EOF\n");

const files = (): string => {
  const home = folder();
  writeFileSync(join(home, "logo.png"), PIXEL);
  writeFileSync(join(home, "The guide.pdf"), PDF);
  return home;
};

test("a brand uploads a file by its path, or through a pipe, and the name and type are those of the path", async () => {
  const { mailsvc, world } = await startCliWithServer();
  const home = files();
  const made = await mailsvc(["assets", "create", "--file", "logo.png", "--alt", "Our logo", "--tag", "a", "--tag", "b"], { home });
  expect(made.code, made.stderr).toBe(0);
  expect(made.json).toMatchObject({
    fileName: "logo.png",
    contentType: "image/png",
    size: PIXEL.length,
    alt: "Our logo",
    tags: ["a", "b"],
  });
  const guide = await mailsvc(["lead-magnets", "create", "--file", join(home, "The guide.pdf"), "--title", "Grüße"], { home });
  expect(guide.json).toMatchObject({ fileName: "The guide.pdf", contentType: "application/pdf", title: "Grüße" });
  const piped = await mailsvc(["lead-magnets", "create", "--file", "-", "--file-name", "x.pdf", "--title", "Piped"], { stdin: PDF });
  expect(piped.json).toMatchObject({ fileName: "x.pdf", sha256: guide.json.sha256 });
  const encoded = await mailsvc(["assets", "create", "--file-name", "logo.png", "--content-base64", PIXEL.toString("base64")]);
  expect(encoded.json.id).toBe(made.json.id);
  expect((await world.sdk.leadMagnets.list()).pagination.total).toBe(2);
});

test("an agent uploads a file; the same Idempotency-Key uploads it once", async () => {
  const { mailsvc, world } = await startCliWithServer();
  await using hooks = await startReceiver();
  await listAgent(world.sdk, hooks.url, { slug: "writer", permissions: [...AGENT_SCOPES] });
  const { id } = await activateAgent(world.sdk, "writer");
  const env = { MAILSVC_AGENT_KEY: await getAgentKey(world, hooks, id), MAILSVC_ACTIVATION_ID: id };
  const home = files();
  const upload = () =>
    mailsvc(["agent", "lead-magnets", "create", "--file", "The guide.pdf", "--title", "G", "--idempotency-key", "k"], { env, home });
  const [one, two] = [await upload(), await upload()];
  expect(one.code, one.stderr).toBe(0);
  expect(two.json).toEqual(one.json);
  expect((await world.sdk.leadMagnets.list()).pagination.total).toBe(1);
  expect((await mailsvc(["agent", "assets", "create", "--file", "logo.png"], { env, home })).json).toMatchObject({ fileName: "logo.png" });
});

test("what is no file to upload is refused before anything is sent, with what to do", async () => {
  const { mailsvc } = await startCliWithServer();
  const home = files();
  mkdirSync(join(home, "folder.png"));
  writeFileSync(join(home, "notes.txt"), "Hello");
  writeFileSync(join(home, "empty.png"), "");
  writeFileSync(join(home, "huge.png"), "");
  // Sparse: it is never read.
  truncateSync(join(home, "huge.png"), 2 ** 40);
  const never = () => {
    throw new Error("it was sent");
  };
  const refused = async (...argv: string[]) => {
    const { code, stderr } = await mailsvc(["assets", "create", ...argv], { home, fetch: never, tty: { stderr: true, stdout: true } });
    return [code, stderr] as const;
  };
  const says = (text: string) => expect.stringContaining(text);
  expect(await refused("--file", "no.png")).toEqual([2, says("--file: no.png: no such file.")]);
  expect(await refused("--file", "folder.png")).toEqual([2, says("it is a directory")]);
  expect(await refused("--file", "empty.png")).toEqual([3, says("empty.png is empty")]);
  expect(await refused("--file", "huge.png")).toEqual([3, says("huge.png is larger than 5 MB")]);
  expect(await refused("--file", "notes.txt")).toEqual([3, says("notes.txt is text/plain by its extension. Accepted types: image/png")]);
  expect(await refused("--file", "logo.png", "--content-base64", "AA==")).toEqual([2, says("either --file or --content-base64")]);
  expect(await refused()).toEqual([2, says("--file is required.")]);
  const nameless = await mailsvc(["assets", "create", "--file", "-"], { stdin: PIXEL, fetch: never });
  expect([nameless.code, nameless.stderr]).toEqual([2, says("a file from stdin needs a name")]);
  const endless = await mailsvc(["assets", "create", "--file", "-", "--file-name", "a.png"], {
    stdin: Buffer.alloc(5 * 1024 * 1024 + 1),
    fetch: never,
  });
  expect([endless.code, endless.stderr]).toEqual([3, says("stdin is larger than 5 MB")]);
});

test("what only its bytes tell is refused by the server, and the flag is named", async () => {
  const { mailsvc } = await startCliWithServer();
  const home = files();
  writeFileSync(join(home, "logo"), "Hello");
  const { code, stderr } = await mailsvc(["assets", "create", "--file", "logo"], { home, tty: { stderr: true, stdout: true } });
  expect(code).toBe(3);
  expect(stderr).toMatch(/--file\S* This file is a text/);
});

test("at a terminal the file is asked for; --dry-run shows the form, and the same for curl", async () => {
  const { mailsvc } = await startCliWithServer();
  const home = files();
  const asked = await mailsvc(["lead-magnets", "create"], { home, tty: TERMINAL, answers: ["no.pdf", "The guide.pdf", "The guide"] });
  expect(asked.code, asked.stderr).toBe(0);
  expect(asked.stderr).toContain("no such file");
  const dry = await mailsvc(["lead-magnets", "create", "--file", "The guide.pdf", "--title", "It's", "--dry-run"], { home });
  expect(dry.json.request).toMatchObject({
    headers: { "Content-Type": "multipart/form-data" },
    form: { file: { name: "The guide.pdf", type: "application/pdf", size: "15 B" }, title: "It's" },
  });
  expect(dry.json.curl).toContain(
    `-F 'file=@"The guide.pdf";filename="The guide.pdf";type=application/pdf' --form-string 'title=It'\\''s'`,
  );
});
