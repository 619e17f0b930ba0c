// The licences of the packages whose code our bundles contain. Most licences require that we include them.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

/** An esbuild plugin that adds the folder of each package it bundles to `folders`. */
export const collectPackages = (folders) => ({
  name: "collect-packages",
  setup: (pass) => {
    pass.onLoad({ filter: /[\\/]node_modules[\\/]/ }, ({ path }) => {
      const folder = PACKAGE.exec(path)?.[1];
      if (folder) folders.add(folder);
      // Other plugins and esbuild load it.
      return undefined;
    });
  },
});

/** The text of a file with all licences. Throws for a package that has none. */
export const writeLicenses = (folders) => {
  const sections = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^(?:licen[cs]e|copying)/i.test(entry));
    if (!license) throw new Error(`${name} names no licence.`);
    const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return [...new Set(sections)].sort().join(`\n${"-".repeat(80)}\n\n`);
};
