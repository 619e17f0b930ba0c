// A software bill of materials (CycloneDX) of what our bundles contain: the packages whose code is inside, not what was installed to
// build them. `npm sbom` lists the latter.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

const purlOf = (name, version) => `pkg:npm/${name.replace("@", "%40")}@${version}`;

/** Lists the parts of Node, as it reports them: a scanner finds a vulnerable OpenSSL by it. */
export function nodeComponent() {
  const { node, modules: _abi, ...parts } = process.versions;
  const components = Object.entries(parts)
    .filter(([, version]) => /^\d+[.\d]*\d/.test(version))
    .map(([name, version]) => ({ type: "library", "bom-ref": `pkg:generic/${name}@${version}`, name, version }));
  const ref = `pkg:generic/node@${node}`;
  return { type: "platform", "bom-ref": ref, name: "node", version: node, purl: ref, components };
}

/**
 * The text of a bill of materials.
 *
 * @param product name and version of what contains them
 * @param folders of the packages inside, in a node_modules folder of this repository
 * @param others further components
 */
export function writeSbom(product, folders, others = []) {
  const { packages: locked } = readJson(join(root, "package-lock.json"));
  const inside = new Map();
  for (const folder of folders) {
    const { name, version, license, dependencies = {} } = readJson(join(folder, "package.json"));
    const purl = purlOf(name, version);
    const [algorithm, digest] = (locked[relative(root, folder).split(sep).join("/")]?.integrity ?? "").split("-", 2);
    const hashes = digest ? [{ alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(digest, "base64").toString("hex") }] : [];
    const licenses = [/ (?:OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }];
    inside.set(purl, {
      needs: Object.keys(dependencies),
      component: { type: "library", "bom-ref": purl, name, version, purl, licenses, hashes },
    });
  }
  const components = [...[...inside.values()].map(({ component }) => component), ...others];
  components.sort((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const ref = purlOf(product.name, product.version);
  const named = (name) => [...inside].filter(([, { component }]) => component.name === name).map(([purl]) => purl);
  const dependencies = [
    { ref, dependsOn: components.map((component) => component["bom-ref"]) },
    ...[...inside].map(([purl, { needs }]) => ({ ref: purl, dependsOn: needs.flatMap(named).sort() })),
  ];
  const body = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": ref, ...product, purl: ref, licenses: [{ license: { id: "MIT" } }] } },
    components,
    dependencies,
  };
  // The same contents give the same file.
  const id = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  const uuid = `${id.slice(0, 8)}-${id.slice(8, 12)}-5${id.slice(13, 16)}-a${id.slice(17, 20)}-${id.slice(20, 32)}`;
  const { bomFormat, specVersion, ...rest } = body;
  return `${JSON.stringify({ bomFormat, specVersion, serialNumber: `urn:uuid:${uuid}`, ...rest }, null, 2)}\n`;
}
