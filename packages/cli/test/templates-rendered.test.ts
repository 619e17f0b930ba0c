import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { PreviewState } from "../src/templates/preview-server.ts";
import { cli, folder } from "./harness.ts";
import { put } from "./template-folder.ts";
import { type Beside, startCliWithServer } from "./world.ts";

const NODE_MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));

const WELCOME = `import { Body, Button, Html, Text } from "@react-email/components";
import { Greeting } from "./parts/greeting";

interface Props {
  name: string;
  order: { total: string };
  items: { title: string }[];
}

export default function Welcome({ name, order, items }: Props) {
  return (
    <Html lang="en">
      <Body>
        <Greeting name={name} />
        <Text>{'{{ default nickname "friend" }}'}: {order.total}</Text>
        <table><tbody>{items.map((item) => <tr key={item.title}><td>{item.title}</td></tr>)}</tbody></table>
        <Button href="https://acme.example/?a=1&b=2">Go</Button>
      </Body>
    </Html>
  );
}

Welcome.PreviewProps = { name: "Ada", order: { total: "12.50" }, items: [{ title: "Gear" }] } satisfies Props;
`;

const SHOP = {
  "templates/welcome/template.json": JSON.stringify({
    name: "Welcome",
    subject: "Hello {{ name }}",
    from: "Shop <shop@acme.example>",
    variables: [{ name: "name", required: true }],
  }),
  "templates/welcome/template.tsx": WELCOME,
  "templates/welcome/parts/greeting.tsx":
    'import { Heading } from "@react-email/components";\nexport const Greeting = ({ name }: { name: string }) => <Heading>Hi {name}!</Heading>;\n',
  "templates/receipt/template.json": JSON.stringify({ name: "Receipt", subject: "Receipt", from: "Shop <shop@acme.example>" }),
  "templates/receipt/template.mjml":
    '<mjml><mj-body><mj-include path="./foot.mjml" /><mj-section><mj-column><mj-text>Paid: {{ currency total "EUR" }}</mj-text></mj-column></mj-section></mj-body></mjml>\n',
  "templates/receipt/foot.mjml": "<mj-section><mj-column><mj-text>Acme Ltd</mj-text></mj-column></mj-section>\n",
};

/** A project that has the packages of both. */
const project = (files: Record<string, string> = SHOP): string => {
  const cwd = folder();
  mkdirSync(join(cwd, "node_modules"));
  for (const name of readdirSync(NODE_MODULES).filter((name) => !name.startsWith(".")))
    symlinkSync(join(NODE_MODULES, name), join(cwd, "node_modules", name));
  put(cwd, files);
  return cwd;
};

const shop = async (): Promise<Beside & { cwd: string }> => ({ ...(await startCliWithServer()), cwd: project() });

describe("templates written as React Email and MJML", () => {
  test("that cannot be rendered do not keep the others from being pushed, compared or kept", async () => {
    const { mailsvc, cwd } = await shop();
    expect((await mailsvc(["templates", "push"], { cwd })).code).toBe(0);
    put(cwd, {
      "templates/broken/template.json": JSON.stringify({ name: "Broken" }),
      "templates/broken/template.tsx": 'export default function Broken() {\n  throw new Error("No data");\n}\n',
      "templates/receipt/template.mjml": "<mjml><mj-body><mj-nothing /></mj-body></mjml>",
      "templates/plain/template.json": JSON.stringify({ name: "Plain", subject: "S" }),
      "templates/plain/template.html": "<p>Hello</p>",
    });
    const compared = await mailsvc(["templates", "diff"], { cwd });
    expect([compared.code, compared.json.changes]).toEqual([11, [expect.objectContaining({ slug: "plain", change: "create" })]]);
    expect(compared.stderr).toContain("No data");
    const pushed = await mailsvc(["templates", "push", "--prune", "--yes"], { cwd });
    expect([pushed.code, pushed.json.failed]).toEqual([11, 2]);
    const actions = pushed.json.data.map(({ slug, action }: Record<string, string>) => `${slug} ${action}`).sort();
    expect(actions).toEqual(["broken failed", "plain created", "receipt failed"]);
    // Pruning takes what cannot be read for what it is: still in the folder.
    expect((await mailsvc(["templates", "list"])).json.data.map(({ slug }: Record<string, string>) => slug).sort()).toContain("receipt");
    expect((await mailsvc(["templates", "push", "plain"], { cwd })).code).toBe(0);
  });

  test("are rendered by the project's packages when they are pushed, and sent with their variables", async () => {
    const { mailsvc, world, cwd } = await shop();
    const pushed = await mailsvc(["templates", "push", "--publish"], { cwd });
    expect(pushed).toMatchObject({ code: 0, json: { failed: 0, unchanged: 0 } });
    const variables = ["name=Ada", 'order:={"total":"12.50"}', 'items:=[{"title":"Gear"},{"title":"Bolt"}]'];
    const sent = await mailsvc([
      "send",
      "--template",
      "welcome",
      "--to",
      "ada@example.com",
      ...variables.flatMap((v) => ["--variable", v]),
    ]);
    const paid = await mailsvc(["send", "--template", "receipt", "--to", "ada@example.com", "--variable", "total:=12.5"]);
    await world.settle();
    const { html } = (await mailsvc(["emails", "get", sent.json.id])).json;
    expect(html).toContain("Hi Ada!</h1>");
    expect(html).toContain("friend: 12.50</p>");
    expect(html).toContain("<tr><td>Gear</td></tr><tr><td>Bolt</td></tr>");
    expect(html).toContain('href="https://acme.example/?a=1&amp;b=2"');
    const receipt = (await mailsvc(["emails", "get", paid.json.id])).json.html;
    expect(receipt).toContain("Paid: €12.50");
    expect(receipt).toContain("Acme Ltd");
    expect((await mailsvc(["templates", "push", "--publish"], { cwd })).json).toEqual({ data: [], unchanged: 2, failed: 0 });
    expect(readdirSync(join(cwd, "node_modules", ".cache", "mailsvc"), { recursive: true })).toEqual([]);
  });

  test("come back as their source, not as the HTML, and replace what the folder had", async () => {
    const { mailsvc, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    const other = project({
      "templates/receipt/template.json": JSON.stringify({ name: "Old" }),
      "templates/receipt/template.mjml": "<mjml><mj-body></mj-body></mjml>",
      "templates/receipt/parts/old.mjml": "<mj-section />",
    });
    expect(await mailsvc(["templates", "pull", "--yes"], { cwd: other })).toMatchObject({
      code: 0,
      json: { written: ["receipt", "welcome"] },
    });
    for (const [path, text] of Object.entries(SHOP).filter(([name]) => !name.endsWith(".json")))
      expect(readFileSync(join(other, path), "utf8")).toBe(text);
    expect(existsSync(join(other, "templates/receipt/parts"))).toBe(false);
    expect(existsSync(join(other, "templates/receipt/template.html"))).toBe(false);
    expect((await mailsvc(["templates", "diff"], { cwd: other })).json).toEqual({ changes: [] });
  });

  test("differ when a part of them changed, and keep their source when only the HTML did", async () => {
    const { mailsvc, cwd } = await shop();
    await mailsvc(["templates", "push"], { cwd });
    put(cwd, { "templates/receipt/foot.mjml": "<mj-section><mj-column><mj-text>Acme Inc</mj-text></mj-column></mj-section>\n" });
    expect((await mailsvc(["templates", "diff"], { cwd })).json.changes).toEqual([
      { slug: "receipt", change: "update", fields: ["html", "renderedFrom"] },
    ]);
    put(cwd, { "templates/receipt/foot.mjml": SHOP["templates/receipt/foot.mjml"] });
    const id = (await mailsvc(["templates", "list", "--search", "Receipt"])).json.data[0].id;
    await mailsvc(["templates", "update", id, "--html", "<p>By hand</p>"]);
    expect((await mailsvc(["templates", "get", id])).json.renderedFrom).toBeNull();
    expect((await mailsvc(["templates", "push", "--force"], { cwd })).json.data).toMatchObject([{ slug: "receipt", action: "updated" }]);
    expect((await mailsvc(["templates", "get", id])).json.renderedFrom).toEqual({
      kind: "mjml",
      files: {
        "foot.mjml": SHOP["templates/receipt/foot.mjml"],
        "template.mjml": SHOP["templates/receipt/template.mjml"],
      },
    });
  });

  test("are previewed and linted from their files", async () => {
    const { mailsvc, cwd } = await shop();
    const previewed = await mailsvc(["templates", "preview", "welcome", "--variable", "name=Ada"], { cwd });
    expect(previewed.json.html).toContain("Hi Ada!</h1>");
    const linted = await cli(["lint", "templates/receipt/template.mjml"], { cwd });
    expect(linted.json.data[0]).toMatchObject({ target: "templates/receipt/template.mjml", rendered: true, omitted: 0 });
    expect(linted.json.data[0].findings.map(({ rule }: { rule: string }) => rule)).toContain("dark-mode");
  });

  test("are shown in a page that follows their files, and says what is wrong with them", async () => {
    const { mailsvc, cwd } = await shop();
    const url = Promise.withResolvers<string>();
    let stop = (): void => {};
    let shown = "";
    const watching = mailsvc(["templates", "preview", "welcome", "--watch", "--variable", "name=Ada"], {
      cwd,
      onOutput: (text) => {
        shown += text;
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(shown);
        if (found) url.resolve(found[0]);
      },
      onStart: (signal) => {
        stop = () => signal("SIGINT");
      },
    });
    const page = await Promise.race([url.promise, watching.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    const changes = (await fetch(`${page}changes`)).body?.getReader();
    /** Waits for the page to show something. */
    const until = async (isShown: (state: PreviewState) => boolean): Promise<PreviewState> => {
      for (;;) {
        const state: PreviewState = await (await fetch(`${page}state`)).json();
        if (isShown(state)) return state;
        await changes?.read();
      }
    };
    const first = await until(({ mail }) => mail !== null);
    expect(first.mail).toMatchObject({
      subject: "Hello Ada",
      html: expect.stringContaining("Hi Ada!</h1>"),
      missingVariables: expect.any(Array),
    });
    expect(first.mail?.findings.length).toBeGreaterThan(0);
    put(cwd, { "templates/welcome/parts/greeting.tsx": "export const Greeting = () => <p>;\n" });
    const broken = await until(({ errors }) => errors.length > 0);
    expect(broken.errors[0]?.path).toMatch(/^welcome\/parts\/greeting\.tsx:\d+:\d+$/);
    expect(broken.mail?.html).toContain("Hi Ada!</h1>");
    put(cwd, { "templates/welcome/parts/greeting.tsx": "export const Greeting = ({ name }: { name: string }) => <p>Dear {name}</p>;\n" });
    expect((await until(({ mail }) => mail?.html?.includes("Dear Ada") ?? false)).errors).toEqual([]);
    const html = await fetch(page);
    expect(html.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect((await fetch(page.replace("127.0.0.1", "localhost"))).status).toBe(403);
    stop();
    expect((await watching).code).toBe(0);
  });

  test("are refused with the file, line and column of a fault", async () => {
    const { mailsvc } = await startCliWithServer();
    const cwd = project({
      "templates/a/template.json": JSON.stringify({ name: "A" }),
      "templates/a/template.tsx": "export default function A() {\n  return <p>;\n}\n",
      "templates/b/template.json": JSON.stringify({ name: "B" }),
      "templates/b/template.tsx": 'export default function B() {\n  throw new Error("No data");\n}\n',
      "templates/c/template.json": JSON.stringify({ name: "C" }),
      "templates/c/template.mjml": "<mjml>\n<mj-body>\n<mj-nothing /></mj-body></mjml>",
      "templates/d/template.json": JSON.stringify({ name: "D" }),
      "templates/d/template.mjml": "<mjml></mjml>",
      "templates/d/template.html": "<p></p>",
      "templates/e/template.json": JSON.stringify({ name: "E" }),
      "templates/e/template.mjml": '<mjml><mj-body><mj-include path="./lost.mjml" /></mj-body></mjml>',
    });
    const refused = await mailsvc(["templates", "push", "--json"], { cwd });
    expect(refused.code).toBe(11);
    expect(
      refused.json.data
        .flatMap(({ error }: { error: { details: unknown[] } }) => error.details)
        .map(({ path, message }: Record<string, string>) => `${path} ${message}`)
        .sort(),
    ).toEqual([
      'a/template.tsx:3:1 The character "}" is not valid inside a JSX element',
      "b/template.tsx:2:9 No data",
      "c/template.mjml:3:1 Element mj-nothing doesn't exist or is not registered (mj-nothing).",
      "d/template.mjml template.html is there as well. Keep the one that the HTML comes from.",
      "e/template.mjml The file of an mj-include cannot be read.",
    ]);
  });

  test("name the packages to install in a project that has none", async () => {
    const { mailsvc } = await startCliWithServer();
    const cwd = folder();
    put(cwd, {
      "templates/receipt/template.json": SHOP["templates/receipt/template.json"],
      "templates/receipt/template.mjml": "<mjml></mjml>",
      "templates/plain/template.json": JSON.stringify({ name: "Plain" }),
      "templates/plain/template.html": "<p>x</p>",
    });
    const refused = await mailsvc(["templates", "push", "--json"], { cwd });
    expect(refused.code).toBe(11);
    const [failed, pushed] = refused.json.data;
    expect(failed).toMatchObject({ slug: "receipt", action: "failed" });
    expect(failed.error.details).toEqual([
      { path: "receipt", code: "packages_missing", message: expect.stringContaining("Run: npm install --save-dev mjml") },
    ]);
    expect(pushed).toMatchObject({ slug: "plain", action: "created" });
  });

  test("cannot lead out of their folder, whatever the server says", async () => {
    const { mailsvc } = await startCliWithServer();
    const at = (path: string) => JSON.stringify({ name: "X", html: "<p></p>", renderedFrom: { kind: "mjml", files: { [path]: "x" } } });
    for (const path of ["../x.mjml", "/etc/x", "a/../../x", ".npmrc", "template.json", "a\\..\\x", "node_modules/x/index.js"]) {
      const refused = await mailsvc(["templates", "create", "--data", at(path)]);
      expect([path, refused.code]).toEqual([path, 3]);
    }
  });
});
