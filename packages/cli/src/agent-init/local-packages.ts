import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { usageError } from "../runtime/errors.ts";
import { safeText } from "../text/safe-text.ts";

/** Our packages, with those that others of them depend on: npm takes what the project installs itself. */
const PACKAGES = ["@mailsvc/agent-kit", "@mailsvc/sdk", "@mailsvc/server", "mailsvc"];

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/**
 * The text of a package.json that installs our packages from tarballs in place of the registry. `packages` and `folder`, where the file is
 * written, are absolute. Throws a usage error that names the tarballs that are missing.
 */
export function withLocalPackages(text: string, packages: string, folder: string, version: string): string {
  const files = PACKAGES.map((name) => [name, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`] as const);
  const missing = files.map(([, file]) => file).filter((file) => !existsSync(join(packages, file)));
  if (missing.length > 0)
    throw usageError(`--packages: ${safeText(packages)} has no ${missing.join(", ")}.`, {
      hint: "npm pack writes them, in the folders of the packages once they are built.",
    });
  const manifest = JSON.parse(text) as Manifest;
  for (const [name, file] of files) {
    const from = `file:${relative(folder, join(packages, file)).replaceAll("\\", "/")}`;
    if (manifest.dependencies?.[name]) manifest.dependencies[name] = from;
    else manifest.devDependencies = { ...manifest.devDependencies, [name]: from };
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
