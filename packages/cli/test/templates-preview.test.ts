import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { folder, TERMINAL } from "./harness.ts";
import { json, put, shop } from "./template-folder.ts";
import { startCliWithServer } from "./world.ts";

describe("preview", () => {
  test("shows a template whatever is wrong with those that it does not use, and names the faults of those that it uses", async () => {
    const { mailsvc } = await startCliWithServer();
    const cwd = folder();
    const about = { subject: "Hi", from: "a@acme.example" };
    put(cwd, {
      "templates/good/template.json": json({ ...about, name: "Good", layout: "frame" }),
      "templates/good/template.html": "<p>Good</p>",
      "templates/frame/template.json": json({ name: "Frame", type: "layout" }),
      "templates/frame/template.html": "<body>{{{body}}}</body>",
      "templates/broken/template.json": "{",
      // MJML is not installed there.
      "templates/other/template.json": json({ ...about, name: "Other" }),
      "templates/other/template.mjml": "<mjml/>",
    });
    const shown = await mailsvc(["templates", "preview", "good"], { cwd });
    expect([shown.code, shown.json.html]).toEqual([0, "<body><p>Good</p></body>"]);
    put(cwd, { "templates/frame/template.json": "{" });
    const failed = await mailsvc(["templates", "preview", "good"], { cwd });
    expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining("frame/template.json  This is not JSON")]);
    expect(failed.stderr).not.toContain("broken/");
  });

  const VALUES = ["--variable", "number:=17", "--variable", "url=https://acme.test/17"];

  test("renders files with the parts next to them, before anything is pushed", async () => {
    const { mailsvc, world, cwd } = await shop();
    const shown = await mailsvc(["templates", "preview", "order", ...VALUES], { cwd });
    expect(shown.json).toMatchObject({ subject: "Order 17", text: "Nr 17: https://acme.test/17\n", missingVariables: [] });
    const html = '<body>\n<p>Nr 17</p>\n<a href="https://acme.test/17">Open</a>\n</body>\n';
    expect((await mailsvc(["templates", "preview", "templates/order", ...VALUES, "--html"], { cwd })).stdout).toBe(html);
    expect((await mailsvc(["templates", "preview", "order", ...VALUES, "--text"], { cwd })).stdout).toBe("Nr 17: https://acme.test/17\n");
    expect((await mailsvc(["templates", "preview", "order", ...VALUES, "--out", "out.html"], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "out.html"), "utf8")).toBe(html);
    expect((await world.sdk.templates.list()).pagination.total).toBe(0);
  });

  test("renders a template of the server by its id, and says what is missing", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    const { data } = await world.sdk.templates.list({ search: "Order" });
    const shown = await mailsvc(["templates", "preview", data[0]?.id ?? ""], { tty: TERMINAL, env: { NO_COLOR: "1" } });
    expect(shown.stdout).toContain("Order {{number}}");
    expect(shown.stderr).toContain("missing number, url");
  });

  test("names the line of a fault, and a slug that is not there", async () => {
    const { mailsvc, cwd } = await shop();
    put(cwd, { "templates/order/template.html": "a\n{{ upper }}}" });
    const failed = await mailsvc(["templates", "preview", "order"], { cwd });
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain("Line 2");
    expect((await mailsvc(["templates", "preview", "nowhere"], { cwd })).code).toBe(2);
  });
});

describe("at a terminal", () => {
  test("lists, details, versions and variables are tables", async () => {
    const { mailsvc, world, cwd } = await shop();
    await mailsvc(["templates", "push", "--publish"], { cwd });
    const at = { tty: TERMINAL, env: { NO_COLOR: "1" }, columns: 120 };
    const list = await mailsvc(["templates", "list"], at);
    expect(list.stdout).toMatch(/ID +SLUG +NAME +TYPE +STATE/);
    expect(list.stdout).toMatch(/order +Order +transactional +v1/);
    const { data } = await world.sdk.templates.list({ search: "Order" });
    const id = data[0]?.id ?? "";
    expect((await mailsvc(["templates", "get", id], at)).stdout).toMatch(/number +number +yes +– +Of the order/);
    expect((await mailsvc(["templates", "versions", id], at)).stdout).toMatch(/1 +current +Order/);
    expect((await mailsvc(["templates", "get-by-slug", "order"], at)).stdout).toContain("VARIABLE");
    expect(
      (
        await mailsvc(
          ["send", "--template", "order", "--to", "a@x.test", "--variable", "number:=1", "--variable", "url=https://x.test"],
          at,
        )
      ).stdout,
    ).toMatch(/^queued em_\w+\n$/);
    expect((await mailsvc(["send", "--template", "order", "--to", "a@x.test"], at)).stderr).toContain("number");
    expect((await mailsvc(["templates", "archive", id], at)).stdout).toContain("inactive");
  });
});
