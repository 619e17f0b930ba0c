import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStage, type OpenPage, PATIENCE_MS, picture, type Stage } from "./browser.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let stage: Stage;
let delivered = "";
let bounced = "";
let captured = "";

const HTML = `<!doctype html><html><head><style>body{font-family:sans-serif;margin:0;padding:32px}h1{color:#234}
@media (prefers-color-scheme: dark){body{background:#111;color:#eee}h1{color:#9cf}}</style></head>
<body><h1>Your order is on its way</h1><p>Hello Ada, the parcel left our house today.</p>
<p><a href="https://acme.example/track">Follow it</a></p><img src="https://acme.example/a.png" alt=""></body></html>`;

beforeAll(async () => {
  stage = await createStage();
  const mail = {
    from: "Acme <hello@acme.example>",
    to: "ada@example.com",
    subject: "Your order is on its way",
    text: "Hello Ada",
    html: HTML,
  };
  const send = async (more: object): Promise<string> => (await stage.call<{ id: string }>("POST", "/api/v1/send", { ...mail, ...more })).id;
  for (let i = 0; i < 12; i += 1) await send({ to: `reader${i}@example.com`, subject: `Newsletter ${i + 1}` });
  bounced = await send({ to: "bounced@simulator.mailsvc.test", subject: "Nobody is there" });
  delivered = await send({ tags: { kind: "receipt" }, attachments: [{ filename: "receipt.txt", content: "aGk=" }] });
  for (let waiting = true; waiting; ) {
    const { id } = await stage.call<{ id: string }>("GET", `/__dev/inbox/wait?timeout=60&subject=${encodeURIComponent("Your order")}`);
    captured = id;
    waiting = (await stage.call<{ status: string }>("GET", `/api/v1/emails/${delivered}`)).status === "queued";
  }
}, PATIENCE_MS * 3);
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The pages of the navigation and those below them, and a text that is there once all is loaded. */
const pages = (): readonly (readonly [name: string, path: string, text: string])[] => [
  ["activity", "/dashboard/activity", "Nobody is there"],
  ["email", `/dashboard/activity/${delivered}`, "Timeline"],
  ["email-bounced", `/dashboard/activity/${bounced}`, "Timeline"],
  ["inbox", "/dashboard/inbox", "Choose a mail to read it"],
  ["mail", `/dashboard/inbox/${captured}`, "What happened"],
  ["people", "/dashboard/people", "Let somebody in"],
];

/** What axe finds, as text. */
async function listBarriers({ page }: OpenPage): Promise<string[]> {
  // The policy of the page refuses scripts that are put into it; those of the test's own world are not the page's.
  await page.evaluate(await (await import("node:fs/promises")).readFile(AXE, "utf8"));
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof import("axe-core") }).axe.run(document, { iframes: false });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}

describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
  test.each(["activity", "email", "email-bounced", "inbox", "mail", "people"])("%s has no barrier and no fault", async (name) => {
    const [, path = "", text = ""] = pages().find(([one]) => one === name) ?? [];
    for (const [device, viewport] of [
      ["desktop", { width: 1360, height: 860 }],
      ["phone", { width: 390, height: 780 }],
    ] as const) {
      const open = await stage.open(path, { colorScheme, viewport });
      if (device === "desktop" || name !== "activity")
        await open.page
          .getByText(text)
          .first()
          .waitFor({ state: device === "phone" && name === "inbox" ? "attached" : "visible" });
      else await open.page.getByRole("table").waitFor();
      await picture(open.page, `${name}-${colorScheme}-${device}`);
      expect(await listBarriers(open)).toEqual([]);
      expect(open.faults).toEqual([]);
      await open.page.context().close();
    }
  });
});
