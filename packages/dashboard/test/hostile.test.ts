import { afterAll, beforeAll, expect, test } from "vitest";
import { createStage, PATIENCE_MS, type Stage } from "./browser.ts";

// Each calls a function of the page, or leaves the frame, if anything of it is executed.
const PAYLOADS = [
  "<script>top.executed = 1; parent.executed = 1</script>",
  '<img src="x" onerror="top.executed = 1">',
  '<svg onload="top.executed = 1"><script>top.executed = 1</script></svg>',
  '<body onload="top.executed = 1" onpageshow="top.executed = 1">',
  '<iframe srcdoc="<script>top.executed = 1</script>"></iframe>',
  '<iframe src="javascript:top.executed = 1"></iframe>',
  '<object data="data:text/html,<script>top.executed=1</script>"></object>',
  '<embed src="data:text/html,<script>top.executed=1</script>">',
  '<meta http-equiv="refresh" content="0;url=javascript:top.executed=1">',
  '<form action="/dashboard/sign-out" method="post"><input autofocus onfocus="top.executed = 1"></form>',
  '<base href="https://evil.example/"><link rel="stylesheet" href="/a.css">',
  "<style>@import url(https://evil.example/a.css); body { background: url(https://evil.example/b.png) }</style>",
  '<video src="x" onerror="top.executed = 1"></video><details open ontoggle="top.executed = 1">x</details>',
  "</iframe></div><script>top.executed = 1</script>",
];

let stage: Stage;
const ids: string[] = [];
beforeAll(async () => {
  stage = await createStage();
  const html = PAYLOADS.map((payload) => ({ subject: `Mail ${payload}`, html: `<p>hostile</p>${payload}` }));
  for (const mail of html) {
    const from = '"<img src=x onerror=top.executed=1>" <hello@acme.example>';
    const { id } = await stage.call<{ id: string }>("POST", "/api/v1/send", { from, to: "ada@example.com", ...mail });
    ids.push(id);
  }
}, PATIENCE_MS * 2);
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  "hostile mails execute nothing and load nothing from elsewhere",
  async () => {
    const { page, faults } = await stage.open("/dashboard/activity");
    const elsewhere: string[] = [];
    // What the policy refuses does not get here.
    await page.context().route("https://**", async (route) => {
      elsewhere.push(route.request().url());
      await route.abort();
    });
    for (const id of ids) {
      await page.goto(`/dashboard/activity/${id}`);
      await page.frameLocator("iframe").getByText("hostile").waitFor();
      expect(await page.evaluate(() => "executed" in globalThis)).toBe(false);
      expect(new URL(page.url()).pathname).toBe(`/dashboard/activity/${id}`);
    }
    expect(elsewhere).toEqual([]);
    expect(faults).toEqual([]);
  },
  PATIENCE_MS * 3,
);
