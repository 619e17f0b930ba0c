import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./harness.ts";
import { type Beside, startCliWithServer } from "./world.ts";

/** Writes files below a folder. */
export const put = (cwd: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(cwd, path, ".."), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
};
export const json = (value: object): string => JSON.stringify(value);

/** A template with its layout and its partial. */
export const SHOP = {
  "templates/order/template.json": json({
    name: "Order",
    category: "shop",
    subject: "Order {{ number }}",
    from: "Shop <shop@acme.example>",
    layout: "frame",
    variables: [{ name: "number", type: "number", description: "Of the order" }],
  }),
  "templates/order/template.html": "<p>Nr {{ number }}</p>\n{{> button url=url}}\n",
  "templates/order/template.txt": "Nr {{ number }}: {{ url }}\n",
  "templates/frame/template.json": json({ name: "Frame", type: "layout" }),
  "templates/frame/template.html": "<body>\n{{{body}}}\n</body>\n",
  "templates/button/template.json": json({ name: "Button", type: "partial" }),
  "templates/button/template.html": '<a href="{{ url }}">Open</a>',
};

/** Texts of all files below a folder, by their paths. */
export const snapshot = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(dir.length + 1), readFileSync(path, "utf8")]),
  );

/** A server, and a folder with those templates beside it. */
export const shop = async (): Promise<Beside & { cwd: string }> => {
  const cwd = folder();
  put(cwd, SHOP);
  return { ...(await startCliWithServer()), cwd };
};
