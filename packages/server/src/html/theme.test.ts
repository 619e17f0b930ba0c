import fc from "fast-check";
import { expect, test } from "vitest";
import { buildStyle, contrast } from "./theme.ts";

const color = fc.nat(0xffffff).map((n) => `#${n.toString(16).padStart(6, "0")}`);
const maybe = fc.option(color);

/** The palettes of a style sheet: the first, and that of dark mode where there is one. */
const palettesOf = (style: string): Map<string, string>[] =>
  [...style.matchAll(/:root\{([^}]*)\}/g)].map(
    ([, rules = ""]) => new Map([...rules.matchAll(/--([\w-]+):(#\w{6})/g)].map(([, k, v]) => [k as string, v as string])),
  );

test("every text of a page can be read, whatever colors its brand has", () => {
  fc.assert(
    fc.property(maybe, maybe, maybe, maybe, (primary, accent, background, text) => {
      for (const palette of palettesOf(buildStyle({ primary, accent, background, text }, {}, false))) {
        const get = (name: string): string => palette.get(name) as string;
        for (const name of ["text", "muted", "link", "wrong"])
          for (const ground of ["ground", "card"])
            expect(contrast(get(name), get(ground)), `${name} on ${ground}`).toBeGreaterThanOrEqual(4.5);
        expect(contrast(get("on-primary"), get("primary"))).toBeGreaterThanOrEqual(4.5);
      }
    }),
    { seed: 7, numRuns: 500 },
  );
});

test("a page follows dark mode unless its brand or its content chose colors for one background", () => {
  expect(palettesOf(buildStyle({}, {}, false))).toHaveLength(2);
  expect(palettesOf(buildStyle({}, {}, true))).toHaveLength(1);
  expect(palettesOf(buildStyle({ background: "#101010" }, {}, false))).toHaveLength(1);
});

test("a logo keeps the background that it was drawn for", () => {
  expect(buildStyle({ background: "#fafafa" }, {}, false)).toMatch(
    /@media\(prefers-color-scheme:dark\)\{.*\.top img\{[^}]*background:#fafafa;color:#111111\}\}$/,
  );
  expect(buildStyle({}, {}, true)).not.toMatch(/\.top img\{[^}]*background/);
});

test("the name of a brand can be read where its logo cannot be loaded", () => {
  fc.assert(
    fc.property(maybe, maybe, (background, text) => {
      const [, ground = "", name = ""] =
        /\.top img\{[^}]*background:(#\w{6});color:(#\w{6})\}/.exec(buildStyle({ background, text }, {}, false)) ?? [];
      // Without its own background, it stands on that of the page.
      if (ground !== "") expect(contrast(name, ground)).toBeGreaterThanOrEqual(4.5);
      else expect(palettesOf(buildStyle({ background, text }, {}, false))).toHaveLength(1);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test("what people press is at least 44 pixels high, and nothing widens the page in either direction of reading", () => {
  const style = buildStyle({}, {}, false);
  const rulesOf = (selector: string): string =>
    [...style.matchAll(/([^{}]+)\{([^{}]*)\}/g)]
      .flatMap(([, names, rules]) => (names?.split(",").includes(selector) ? [rules] : []))
      .join(";");
  for (const selector of ["button", ".button", ".choices label", ".signup input[type=email]"])
    expect(rulesOf(selector), selector).toMatch(/min-height:2\.75rem/);
  expect(rulesOf(".message")).toContain("overflow-wrap:anywhere");
  expect(style).not.toMatch(/(?:left|right):-\d|(?:margin|padding|border)-(?:left|right):/);
});
