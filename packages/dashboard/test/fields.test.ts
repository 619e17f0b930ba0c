import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

// A field with its attributes, in which braces are nested twice at most.
const FIELD = /<(?:input|select|textarea)\b((?:[^>{]|\{(?:[^{}]|\{[^{}]*\})*\})*?)\/?>/g;

test("no field that nobody listens to has a value that would be put back over what is typed when the page is drawn again", () => {
  const files = globSync("packages/dashboard/src/**/*.tsx");
  const found = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(FIELD)]
      .map(([, attributes = ""]) => attributes.replaceAll(/\s+/g, " "))
      .filter((attributes) => {
        if (attributes.includes('type="hidden"')) return false;
        // The value of a checkbox says what it stands for.
        const state = /type="(?:checkbox|radio)"/.test(attributes) ? "checked" : "value";
        return attributes.includes(` ${state}={`) && !/ on(?:Input|Change|Click)=/.test(attributes);
      })
      .map((attributes) => `${file}: ${attributes}`),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});
