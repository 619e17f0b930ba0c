// The bill of materials: what the binary, the Debian package and the image contain, and what npm installs with the packages.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { PUBLISHED } from "../../scripts/published.mjs";

const fileOf = (version) => `mailsvc-${version}.cdx.json`;
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

export const sbom = {
  name: "sbom",
  files: (version) => [fileOf(version)],
  needs: {},

  async make({ root, out, version }) {
    const { packages: locked } = readJson(join(root, "package-lock.json"));
    const { metadata, components } = readJson(join(root, "build/mailsvc.cdx.json"));
    const inside = new Set(components.map((component) => component.purl));
    const folders = Object.keys(locked).filter((path) => inside.has(purlOf(path, locked[path])));
    const { writeSbom } = await import("../sbom.mjs");
    const all = new Set([...folders, ...listProduction(locked)].map((path) => join(root, path)));
    const others = components.filter(({ purl }) => !purl?.startsWith("pkg:npm/"));
    writeFileSync(join(out, fileOf(version)), writeSbom({ name: metadata.component.name, version }, oneOfEach(all), others));
  },

  async check({ folder, version, root, ok }) {
    const text = readFileSync(join(folder, fileOf(version)), "utf8");
    const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
    if (problem !== null) throw new Error(`${fileOf(version)} does not follow the schema of CycloneDX 1.6: ${JSON.stringify(problem)}`);
    const { metadata, components } = JSON.parse(text);
    if (metadata.component.version !== version) throw new Error(`${fileOf(version)} is about version ${metadata.component.version}.`);
    ok(`follows the schema of CycloneDX 1.6, with ${components.length} components`);
    const { packages: locked } = readJson(join(root, "package-lock.json"));
    const digests = new Map(Object.entries(locked).map(([path, entry]) => [purlOf(path, entry), digestOf(entry)]));
    const listed = new Map(components.map((component) => [component.purl, component]));
    const production = listProduction(locked).map((path) => purlOf(path, locked[path]));
    const missing = production.filter((purl) => !listed.has(purl));
    if (missing.length > 0)
      throw new Error(`${fileOf(version)} does not name ${missing.join(", ")}, which package-lock.json has for production.`);
    for (const [purl, { hashes }] of listed)
      if (purl?.startsWith("pkg:npm/") && (digests.get(purl) === undefined || hashes?.[0]?.content !== digests.get(purl)))
        throw new Error(`${fileOf(version)} names ${purl}, which package-lock.json does not have with this checksum.`);
    ok(`names all ${production.length} production dependencies of package-lock.json, and nothing that is not in it`);
  },
};

const nameOf = (path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
const purlOf = (path, { name, version }) => `pkg:npm/${(name ?? nameOf(path)).replace("@", "%40")}@${version}`;
const digestOf = ({ integrity }) => integrity && Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");

/** Keeps the first of several folders with the same package in the same version. */
function oneOfEach(folders) {
  const seen = new Map();
  for (const folder of folders) {
    const { name, version } = readJson(join(folder, "package.json"));
    const key = `${name}@${version}`;
    if (!seen.has(key)) seen.set(key, folder);
  }
  return seen.values();
}

/** The paths in package-lock.json of what npm installs with the published packages, themselves left out. */
function listProduction(locked) {
  const found = new Set();
  const follow = (path) => {
    const { dependencies, optionalDependencies } = locked[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const target = resolve(locked, path, name);
      if (target === null || found.has(target)) continue;
      found.add(target);
      follow(target);
    }
  };
  for (const folder of PUBLISHED) follow(`packages/${folder}`);
  return [...found].filter((path) => path.includes("node_modules/"));
}

/** Returns the package that one at `path` imports, as Node does: from the nearest node_modules upwards. */
function resolve(locked, path, name) {
  for (let place = path; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/")))) {
    const at = `${place === "" ? "" : `${place}/`}node_modules/${name}`;
    if (locked[at]) return locked[at].link ? locked[at].resolved : at;
    if (place === "") return null;
  }
}
