import { readFileSync } from "node:fs";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { expect } from "vitest";

interface Component {
  readonly "bom-ref": string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly unknown[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * Reads a bill of materials, and checks that it follows the schema of CycloneDX, is whole, and names what the file of licences names.
 * Returns its components.
 */
export async function checkSbom(file: string, licencesFile: string): Promise<readonly Component[]> {
  const text = readFileSync(file, "utf8");
  const { bomFormat, specVersion, serialNumber, metadata, components, dependencies } = JSON.parse(text) as Sbom;
  expect([bomFormat, specVersion]).toEqual(["CycloneDX", "1.6"]);
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
  expect(serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const refs = [metadata.component, ...components].map((component) => component["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  expect(dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.includes(ref))).toEqual([]);
  const packages = components.filter(({ purl }) => purl.startsWith("pkg:npm/"));
  const licensed = [...readFileSync(licencesFile, "utf8").matchAll(/^(\S+) (\d\S*) \(.+\)$/gm)].map(
    ([, name, version]) => `${name} ${version}`,
  );
  expect(packages.map(({ name, version }) => `${name} ${version}`).sort()).toEqual(licensed.sort());
  for (const { name, licenses, hashes } of packages) {
    expect([name, licenses?.length, hashes?.length]).toEqual([name, 1, 1]);
    expect(hashes?.[0]).toEqual({ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) });
  }
  return components;
}
