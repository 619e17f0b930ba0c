// The manifests of the published packages say where their sources are, which npm's provenance compares with the repository that
// publishes. The address is written in the package.json of the repository, and derived here. They all need the version of Node that the
// server needs, for its database driver.
import { readFileSync } from "node:fs";
import { PUBLISHED } from "./published.mjs";

const readManifest = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"));

/** The text of each published package.json, by its path. */
export const manifests = () => {
  const { repository } = readManifest("package.json");
  const { engines } = readManifest("packages/server/package.json");
  return Object.fromEntries(
    PUBLISHED.map((name) => {
      const directory = `packages/${name}`;
      const manifest = { ...readManifest(`${directory}/package.json`), repository: { ...repository, directory }, engines };
      return [`${directory}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`];
    }),
  );
};
