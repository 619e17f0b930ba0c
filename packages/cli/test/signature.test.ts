import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { explainSignature } from "../src/signature/explain.ts";
import { cli, folder } from "./harness.ts";

const SECRET = "whsec_c2VjcmV0LW9mLTMyLWJ5dGVzLWZvci10ZXN0cyEh";
const event = { id: "evt_1", type: "test.ping", note: "é / <b>", nested: { b: [1, 2], a: null } };
const body = JSON.stringify(event);
const hex = (text: string | Buffer, key: string | Buffer = SECRET): string => createHmac("sha256", key).update(text).digest("hex");

test("sign, then verify, from a file and from stdin", async () => {
  const file = join(folder(), "event.json");
  writeFileSync(file, body);
  const signed = await cli(["signature", "sign", "--secret", SECRET, "--body", file]);
  expect(signed.json).toEqual({ signature: hex(body) });
  const flags = ["--body", "-", "--signature", signed.json.signature];
  expect(await cli(["signature", "verify", ...flags], { stdin: body, env: { AGENT_WEBHOOK_SECRET: SECRET } })).toMatchObject({
    code: 0,
    json: { valid: true },
  });
  const changed = await cli(["signature", "verify", ...flags, "--secret", SECRET], { stdin: `${body}\n` });
  expect([changed.code, changed.json, changed.stderr]).toEqual([1, { valid: false }, expect.stringContaining("explain")]);
  expect(await cli(["signature", "sign", "--body", file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("AGENT_WEBHOOK_SECRET"),
  });
});

describe("explain", () => {
  const sorted = '{"id":"evt_1","nested":{"a":null,"b":[1,2]},"note":"é / \\u003cb\\u003e","type":"test.ping"}';
  const python = '{"id": "evt_1", "type": "test.ping", "note": "\\u00e9 / <b>", "nested": {"b": [1, 2], "a": null}}';
  test.each([
    ["valid", body, hex(body)],
    ["valid", body, hex(body).toUpperCase()],
    ["reserialised", JSON.stringify(event, null, 2), hex(body)],
    ["reserialised-2-spaces", body, hex(JSON.stringify(event, null, 2))],
    ["reserialised-python", body, hex(python)],
    ["reserialised-go", body, hex(sorted)],
    ["reserialised-php", body, hex(body.replace("é", "\\u00e9").replace("/", "\\/"))],
    ["newline-removed", `${body}\n`, hex(body)],
    ["newline-added", body, hex(`${body}\n`)],
    ["crlf", "{\n}", hex("{\r\n}")],
    ["empty", body, hex("")],
    ["base64-encoded", body, hex(Buffer.from(body).toString("base64"))],
    ["secret-without-prefix", body, hex(body, SECRET.slice(6))],
    ["secret-decoded", body, hex(body, Buffer.from(SECRET.slice(6), "base64"))],
    ["secret-newline", body, hex(body, `${SECRET}\n`)],
    ["secret-undefined", body, hex(body, "undefined")],
    ["secret-newline+newline-added", body, hex(`${body}\n`, `${SECRET}\n`)],
    ["base64", body, createHmac("sha256", SECRET).update(body).digest("base64")],
    ["labelled", body, `sha256=${hex(body)}`],
    ["sha1", body, createHmac("sha1", SECRET).update(body).digest("hex")],
    ["truncated", body, hex(body).slice(0, 32)],
  ])("finds %s", (id, given, signature) => {
    expect(explainSignature(Buffer.from(given), signature, SECRET)).toMatchObject({ id });
  });

  test("finds gzip", () => {
    expect(explainSignature(gzipSync(body), hex(body), SECRET)).toMatchObject({ id: "gzip" });
  });

  test("says so when nothing explains it", async () => {
    const { code, json } = await cli(["signature", "explain", "--secret", SECRET, "--body", "-", "--signature", "ab".repeat(32)], {
      stdin: body,
    });
    expect([code, json.id]).toEqual([1, "unknown"]);
    expect(explainSignature(Buffer.from(body), "", SECRET)).toBeNull();
  });
});

describe("agent check", () => {
  /** A webhook that verifies nothing. */
  const careless = async (): Promise<string> => {
    const server = createServer((request, response) => void request.resume().on("end", () => response.end()));
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
  };
  const env = { AGENT_WEBHOOK_SECRET: SECRET };

  test("grades a webhook, names the mistake and prints a command to repeat the request", async () => {
    const url = await careless();
    const { code, stdout } = await cli(["agent", "check", url, "--only", "signature-missing"], { env, tty: { stdout: true } });
    expect(code).toBe(11);
    expect(stdout).toMatch(
      /✗.*refuses a request without a signature[\s\S]*mistake {2}A missing header skips[\s\S]*try {6}curl -i -X POST[\s\S]*0 passed, .*1 failed/,
    );
    expect(await cli(["agent", "check", url, "--only", "event-test.ping", "--json"], { env })).toMatchObject({
      code: 0,
      json: { passed: 1, failed: 0 },
    });
  });

  test("writes JUnit", async () => {
    const { stdout } = await cli(["agent", "check", await careless(), "--only", "signature-m", "--output", "junit"], { env });
    expect(stdout).toMatch(
      /^<\?xml[^\n]*\n<testsuite name="mailsvc agent check" tests="1" failures="1" skipped="0">\n {2}<testcase [^>]*>\n {4}<failure message="it answered 200, not 401">/,
    );
  });

  test("refuses what it cannot check", async () => {
    expect(await cli(["agent", "check", "localhost:3000"], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining("http://") });
    expect(await cli(["agent", "check", "http://localhost:1/"], {})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--secret"),
    });
    expect(await cli(["agent", "check", "http://localhost:1/", "--only", "nothing"], { env })).toMatchObject({ code: 2 });
  });

  test("reads the secret of .env, and says that the state was not graded", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, ".env"), `AGENT_WEBHOOK_SECRET=${SECRET}\n`);
    const result = await cli(["agent", "check", await careless(), "--only", "event-test.ping"], { cwd });
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining("--start COMMAND") });
  });

  test("--start shows what an agent printed that does not start, and leaves alone what listens already", async () => {
    const check = (url: string, ...flags: string[]) => cli(["agent", "check", url, "--start", "echo no settings >&2; exit 4", ...flags]);
    const { code, stderr } = await check("http://127.0.0.1:1/webhook");
    expect(code).toBe(2);
    expect(stderr).toMatch(/The agent ended with code 4 before it listened at http:\/\/127\.0\.0\.1:1\/webhook[\s\S]*no settings/);
    expect(await check(await careless())).toMatchObject({ code: 2, stderr: expect.stringContaining("listens at 127.0.0.1:") });
    expect(await check("http://127.0.0.1:1/", "--secret", SECRET)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--secret: "),
    });
  });
});
