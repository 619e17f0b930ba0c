import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../scripts/anchor.mjs";
import { writeForPrograms } from "./for-programs.mjs";
import { readAsOnGitHub } from "./markdown.mjs";
import { EXCLUDED, pageOf, root } from "./pages.mjs";
import { nav, sidebar } from "./reading-order.mjs";

export default defineConfig({
  title: "mailsvc",
  description: "An email service and agent marketplace: server, typed SDK, command line and agent kit",
  lang: "en",
  srcDir: "..",
  srcExclude: EXCLUDED,
  outDir: "../build/site",
  rewrites: (file) => pageOf(file) ?? file,
  head: [["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }]],
  appearance: true,
  markdown: {
    config: readAsOnGitHub,
    // What looks like a tag in the pages is text, such as <id>.
    html: false,
    anchor: { slugify: anchorOf },
    languageAlias: { caddyfile: "nginx" },
  },
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
  cacheDir: "node_modules/.cache/vitepress",
  // The repository's tsconfig.json is not about these scripts.
  vite: {
    publicDir: join(root, "site/public"),
    esbuild: { tsconfigRaw: {} },
    build: { chunkSizeWarningLimit: 2000 },
  },
  transformPageData: ({ relativePath }) => (relativePath === "index.md" ? { frontmatter: { pageClass: "first-page" } } : undefined),
  // For those who generate clients.
  // Files that pages link to.
  buildEnd: ({ outDir }) => {
    for (const file of ["openapi.json", "docs/prometheus-rules.yml", "docs/grafana-dashboard.json"])
      copyFileSync(join(root, file), join(outDir, basename(file)));
    writeForPrograms(outDir);
  },
});
