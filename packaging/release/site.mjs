// The documentation as a site.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pack, run } from "./command.mjs";
import { serveFiles } from "./serve-files.mjs";

const fileOf = (version) => `mailsvc-docs-${version}.tar.gz`;
// A heading of docs/emails.md: the index must find it.
const FINDS = "Simulated recipients";

export const site = {
  name: "site",
  files: (version) => [fileOf(version)],
  needs: { tar: "tar", gzip: "gzip" },

  async make({ root, out, version, epoch }) {
    await run(process.execPath, [join(root, "scripts/site.mjs"), "build"]);
    const folder = join(root, "build/site");
    await pack(folder, readdirSync(folder).sort(), join(out, fileOf(version)), epoch);
  },

  async check({ folder, version, place, ok }) {
    const unpacked = place("unpacked");
    await run("tar", ["-xzf", join(folder, fileOf(version)), "-C", unpacked]);
    await using server = await serveFiles(unpacked);
    const { pages, files, broken } = await crawl(server.url);
    if (broken.length > 0) throw new Error(`${fileOf(version)} has links that lead nowhere:\n${broken.slice(0, 20).join("\n")}`);
    const unreached = readdirSync(unpacked, { recursive: true, encoding: "utf8" }).filter(
      (path) => path.endsWith(".html") && path !== "404.html" && !pages.has(`/${path.replace(/(^|\/)index\.html$/, "$1")}`),
    );
    if (unreached.length > 0) throw new Error(`${fileOf(version)} has pages that no page links to: ${unreached.join(", ")}.`);
    ok(`served; ${pages.size} pages and ${files} other files fetched by following links, none of which is broken`);
    const index = readdirSync(join(unpacked, "assets/chunks")).find((name) => name.startsWith("@localSearchIndex"));
    const text = index && (await (await fetch(`${server.url}/assets/chunks/${encodeURIComponent(index)}`)).text());
    if (!text?.includes(FINDS)) throw new Error(`${fileOf(version)} has no search index that knows "${FINDS}".`);
    ok(`its search index is there, and knows "${FINDS}"`);
  },
};

/**
 * Follows all links inside of a site, from its first page. Returns the paths of its pages, how many other files they name, and the links
 * that lead nowhere, each with its page.
 */
async function crawl(url) {
  const pages = new Map();
  const others = new Map();
  const links = [];
  const waiting = ["/"];
  while (waiting.length > 0) {
    const path = waiting.pop();
    if (pages.has(path) || others.has(path)) continue;
    const response = await fetch(`${url}${path}`);
    const isPage = response.headers.get("content-type")?.startsWith("text/html") ?? false;
    if (!response.ok || !isPage) {
      others.set(path, response.ok);
      await response.arrayBuffer();
      continue;
    }
    const html = await response.text();
    pages.set(path, new Set(readAttributes(html, "id")));
    for (const link of [...readAttributes(html, "href"), ...readAttributes(html, "src")]) {
      if (/^[a-z]+:|^\/\//.test(link)) continue;
      const { pathname, hash } = new URL(link, `${url}${path}`);
      links.push({ from: path, link, pathname, anchor: decodeURIComponent(hash.slice(1)) });
      waiting.push(pathname);
    }
  }
  const leads = ({ pathname, anchor }) => (pages.has(pathname) ? anchor === "" || pages.get(pathname).has(anchor) : others.get(pathname));
  const broken = links.filter((link) => !leads(link)).map(({ from, link }) => `${from}: ${link}`);
  return { pages, files: others.size, broken: [...new Set(broken)] };
}

/** The values of an attribute in a page, entities resolved. */
const readAttributes = (html, name) =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value.replaceAll("&amp;", "&"));
