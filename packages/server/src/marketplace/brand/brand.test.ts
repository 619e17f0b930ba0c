import { expect, test } from "vitest";
import { ask, type Scenario, scenarios } from "../../../test/scenario.ts";
import { keyFor, secondWorkspace } from "../../../test/tenant.ts";
import { createWorld } from "../../testing.ts";

const path = "/api/v1/marketplace/brand";
const EMPTY = { primary: null, secondary: null, accent: null, background: null, text: null };

test("a new brand has its workspace's name and defaults", async () => {
  await using world = await createWorld();
  expect(await world.sdk.brand.get()).toEqual({
    name: "brand",
    website: null,
    logo: null,
    colors: EMPTY,
    fonts: { heading: null, body: null },
    voice: { tone: [], description: "", dos: [], donts: [] },
    locale: null,
    timezone: "UTC",
    updatedAt: "2026-01-01T00:00:00.000Z",
    logoAssetId: null,
    publishNeedsApproval: false,
    texts: {},
  });
});

test("an update changes only the given fields, down to single colors", async () => {
  await using world = await createWorld();
  await world.sdk.brand.update({ name: "Acme", colors: { primary: "#AABBCC", text: "#000000" }, voice: { tone: ["calm"] } });
  await world.clock.advance("1m");
  const changed = await world.sdk.brand.update({
    colors: { text: null, accent: "#123456" },
    voice: { description: "Short.\nPlain." },
    fonts: { heading: "Inter" },
    locale: "de-CH",
    timezone: "Europe/Zurich",
    website: "https://acme.example",
    publishNeedsApproval: true,
  });
  expect(changed).toEqual({
    name: "Acme",
    website: "https://acme.example",
    logo: null,
    colors: { ...EMPTY, primary: "#aabbcc", accent: "#123456" },
    fonts: { heading: "Inter", body: null },
    voice: { tone: ["calm"], description: "Short.\nPlain.", dos: [], donts: [] },
    locale: "de-CH",
    timezone: "Europe/Zurich",
    updatedAt: "2026-01-01T00:01:00.000Z",
    logoAssetId: null,
    publishNeedsApproval: true,
    texts: {},
  });
  expect(await world.sdk.brand.get()).toEqual(changed);
});

const refused = (name: string, body: unknown, ...details: string[]): Scenario => ({
  name,
  method: "PATCH",
  path,
  body,
  status: 400,
  code: "validation_error",
  details,
});

scenarios(
  "a brand cannot have",
  [
    refused("a color by name", { colors: { primary: "red" } }, "colors.primary invalid_format"),
    refused("a color that ends in code", { colors: { primary: "#112233;}" } }, "colors.primary invalid_format"),
    refused("a color nobody knows", { colors: { border: "#112233" } }, "colors.border unknown_field"),
    refused("a blank name", { name: " " }, "name too_small"),
    refused("a website that runs code", { website: "javascript:alert(1)" }, "website invalid_format"),
    refused("a website with U+0000", { website: "https://acme.example/\0" }, "website invalid_format"),
    refused("a website with a lone surrogate", { website: "https://acme.example/\ud800" }, "website invalid_format"),
    refused("a logo with U+0000 in its id", { logoAssetId: "ast_\0" }, "logoAssetId invalid_characters"),
    refused("a locale that is none", { locale: "not a locale" }, "locale invalid_language"),
    refused("texts in what is no language", { texts: { klingon1234: { signUp: "x" } } }, "texts invalid_language"),
    refused("a text with another name", { texts: { de: { nothing: "x" } } }, "texts.de.nothing unknown_field"),
    refused("a text with HTML", { texts: { de: { signUp: "<b>x</b>" } } }, "texts.de.signUp html_not_allowed"),
    refused("a text with two lines", { texts: { de: { signUp: "x\ny" } } }, "texts.de.signUp invalid_characters"),
    refused("a text of 501 characters", { texts: { de: { signUp: "x".repeat(501) } } }, "texts.de.signUp too_big"),
    refused("a text with a value that it has not", { texts: { de: { signUp: "{name}" } } }, "texts.de.signUp unknown_placeholder"),
    refused("plural forms of a text without a number", { texts: { de: { signUp: { other: "x" } } } }, "texts.de.signUp invalid_type"),
    refused("a time zone that is none", { timezone: "Mars/Base" }, "timezone invalid_timezone"),
    refused("eleven tones", { voice: { tone: Array.from({ length: 11 }, () => "calm") } }, "voice.tone too_big"),
    refused("U+0000 in its voice", { voice: { description: "a\0" } }, "voice.description invalid_characters"),
    refused("an address of people", { email: "a@b.example" }, "email unknown_field"),
    { name: "a logo that is not there", method: "PATCH", path, body: { logoAssetId: "ast_nobody" }, status: 404, code: "not_found" },
  ],
  { afterwards: async (world) => expect((await world.sdk.brand.get()).name).toBe("brand") },
);

test("brands are separate, and reading and writing need separate permissions", async () => {
  await using world = await createWorld();
  const second = await secondWorkspace(world);
  await world.sdk.brand.update({ name: "Acme" });
  expect(await (await ask(world, { method: "GET", path, key: second.apiKey })).json()).toMatchObject({ name: "other" });
  const key = await keyFor(world, "brand:read");
  expect((await ask(world, { method: "GET", path, key })).status).toBe(200);
  expect((await ask(world, { method: "PATCH", path, key, body: { name: "x" } })).status).toBe(403);
});

test("a brand has texts of its own, also in a language that the server does not speak", async () => {
  await using world = await createWorld();
  const { brand } = world.sdk;
  await brand.update({ texts: { DE_at: { unsubscribe: "Abbestellen" }, nb: { unsubscribe: "Meld deg av", signUp: "Bli med" } } });
  const { texts } = await brand.update({
    texts: { nb: { signUp: null }, de: { expiresInDays: { one: "Noch {count} Tag.", other: "Noch {count} Tage." } } },
  });
  expect(texts).toEqual({
    "de-AT": { unsubscribe: "Abbestellen" },
    nb: { unsubscribe: "Meld deg av" },
    de: { expiresInDays: { one: "Noch {count} Tag.", other: "Noch {count} Tage." } },
  });
  expect((await brand.update({ texts: { de: null, "de-AT": { unsubscribe: null } } })).texts).toEqual({
    nb: { unsubscribe: "Meld deg av" },
  });
});
