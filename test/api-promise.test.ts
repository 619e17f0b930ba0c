import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";
import { contract } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";
import { listBreakingChanges } from "../scripts/api-changes.mjs";

// The promise of docs/versions.md. Each release adds its OpenAPI document to test/fixtures/api (`npm run release -- version`), and what
// comes after it is compared with all of them.

const root = fileURLToPath(new URL("../", import.meta.url));
const current = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8")) as Json;
const fixtures = join(root, "test/fixtures/api");
const TODAY = "2026-11-29";

// biome-ignore lint/suspicious/noExplicitAny: documents are changed at will here
type Json = any;

const released = existsSync(fixtures) ? globSync("*.json.zst", { cwd: fixtures }).sort() : [];
const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
const versions = [...changelog.matchAll(/^## (\d+\.\d+\.\d+) \(/gm)].map(([, version]) => version);

test("every released version has its document", () => {
  expect(released.map((file) => basename(file, ".json.zst"))).toEqual(expect.arrayContaining(versions));
});

test.each(released)("nothing that worked with %s is broken", (file) => {
  const before = JSON.parse(zstdDecompressSync(readFileSync(join(fixtures, file))).toString()) as Json;
  expect(listBreakingChanges(before, current, new Date().toISOString().slice(0, 10))).toEqual([]);
});

test("an announced end is at least a year away, and says what replaces it", () => {
  for (const verbs of Object.values(contract))
    for (const { deprecated, path } of Object.values(verbs) as {
      deprecated?: { since: string; sunset: string; instead: string };
      path: string;
    }[])
      if (deprecated !== undefined) {
        const days = (Date.parse(deprecated.sunset) - Date.parse(deprecated.since)) / 86_400_000;
        expect(days, path).toBeGreaterThanOrEqual(365);
        expect(deprecated.instead, path).toMatch(/^[A-Z].+\.$/);
      }
});

describe("a comparison of two documents", () => {
  const changed = (change: (document: Json) => void): string[] => {
    const after = structuredClone(current);
    change(after);
    return listBreakingChanges(current, after, TODAY);
  };
  const schemaOf = (document: Json, name: string): Json => document.components.schemas[name];

  test("finds none between a document and itself", () => {
    expect(listBreakingChanges(current, current, TODAY)).toEqual([]);
  });

  test("finds an operation that is gone, unless its announced day has come", () => {
    const gone = (document: Json): void => void delete document.paths["/healthz"];
    expect(changed(gone)).toEqual(["GET /healthz is gone"]);
    const announced = structuredClone(current);
    Object.assign(announced.paths["/healthz"].get, {
      deprecated: true,
      description: "Deprecated since 2025-11-01, gone from 2026-11-20. Use /readyz.",
    });
    const after = structuredClone(announced);
    gone(after);
    expect(listBreakingChanges(announced, after, "2026-11-19")).toEqual(["GET /healthz is gone"]);
    expect(listBreakingChanges(announced, after, "2026-11-20")).toEqual([]);
  });

  test("finds a field of an answer that is gone, or may be missing or null now", () => {
    const lines = changed((document) => {
      const sender = schemaOf(document, "Sender");
      delete sender.properties.value;
      sender.properties.id.type = ["string", "null"];
      sender.required = sender.required.filter((name: string) => name !== "createdAt");
    });
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/answer.*\.value is gone$/),
        expect.stringMatching(/\.id may be null now$/),
        expect.stringMatching(/\.createdAt may be missing now$/),
      ]),
    );
  });

  test("finds a parameter or a field of a request that is required now, or refused", () => {
    const lines = changed((document) => {
      const list = document.paths["/api/v1/emails"].get;
      list.parameters = [...list.parameters, { name: "colour", in: "query", required: true, schema: { type: "string" } }];
    });
    expect(lines).toEqual(["GET /api/v1/emails: the parameter query colour is required and new"]);
  });

  test("takes new operations, fields, parameters and values as growth", () => {
    expect(
      changed((document) => {
        document.paths["/new"] = structuredClone(document.paths["/healthz"]);
        schemaOf(document, "Sender").properties.extra = { type: "string" };
        schemaOf(document, "Sender").required.push("extra");
      }),
    ).toEqual([]);
  });
});
