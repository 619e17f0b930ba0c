import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { contract } from "@mailsvc/sdk/contract";
import { describe, expect, test } from "vitest";

// Editors show a JSDoc comment of the declaration on hover. These are the declarations that are published.
const declarations = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../packages/sdk/dist/contract/${name}.d.ts`, import.meta.url)), "utf8");

describe("the published declarations document", () => {
  const all = declarations("index") + declarations("emails");

  test.each(Object.entries(contract.emails))("emails.%s with its summary, description and path", (verb, endpoint) => {
    const [, comment] = new RegExp(`/\\*\\*([^/]*(?:/[^/]+)*?)\\*/\\s+(?:readonly )?${verb}: \\{`).exec(declarations("emails")) ?? [];
    expect(comment).toContain(endpoint.summary);
    expect(comment).toContain(`\`${endpoint.method} ${endpoint.path}\``);
  });

  test("the fields of a request", () => {
    expect(all).toMatch(/\/\*\* Subject line, up to 998 characters \*\/\s+(?:readonly )?subject: /);
    expect(all).toMatch(/\/\*\* Only emails in this state \*\/\s+(?:readonly )?status: /);
  });
});
