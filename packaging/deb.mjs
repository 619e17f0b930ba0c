// Packs build/mailsvc as a Debian package. It needs dpkg-deb.
//
//   npm run build:deb [-- --compression zstd]     writes build/mailsvc_VERSION_ARCHITECTURE.deb
import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { ARCHITECTURE } from "./architecture.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const sources = fileURLToPath(new URL("./debian/", import.meta.url));
const build = join(root, "build");
const program = join(build, "mailsvc");
const run = promisify(execFile);

const SHELLS = {
  bash: "usr/share/bash-completion/completions/mailsvc",
  zsh: "usr/share/zsh/vendor-completions/_mailsvc",
  fish: "usr/share/fish/vendor_completions.d/mailsvc.fish",
};

/** Destination of each file of the repository, with its mode. */
const FILES = [
  ["build/mailsvc", "usr/bin/mailsvc", 0o755],
  ["packaging/debian/mailsvc.service", "usr/lib/systemd/system/mailsvc.service", 0o644],
  ["packaging/debian/sysusers.conf", "usr/lib/sysusers.d/mailsvc.conf", 0o644],
  // This file may contain passwords.
  ["packaging/debian/default", "etc/default/mailsvc", 0o600],
  ["LICENSE", "usr/share/doc/mailsvc/copyright", 0o644],
  ["build/THIRD-PARTY-LICENSES.txt", "usr/share/doc/mailsvc/THIRD-PARTY-LICENSES.txt", 0o644],
  ["build/mailsvc.cdx.json", "usr/share/doc/mailsvc/mailsvc.cdx.json", 0o644],
  ["docs/grafana-dashboard.json", "usr/share/doc/mailsvc/grafana-dashboard.json", 0o644],
  ["docs/prometheus-rules.yml", "usr/share/doc/mailsvc/prometheus-rules.yml", 0o644],
  ["README.md", "usr/share/doc/mailsvc/README.md", 0o644],
  ["CHANGELOG.md", "usr/share/doc/mailsvc/changelog", 0o644],
];

const control = (version, architecture, kilobytes) => `Package: mailsvc
Version: ${version}
Architecture: ${architecture}
Maintainer: mailsvc contributors <maintainers@mailsvc.example>
Section: mail
Priority: optional
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.34), libstdc++6, systemd | systemd-standalone-sysusers
Description: email service and agent marketplace
 Transactional email, contacts, campaigns and templates behind a JSON API, and
 a marketplace for agents with signed webhooks. This package has the server,
 the command line tool and a systemd unit. Data is in SQLite, or in Postgres.
`;

async function main() {
  const { values } = parseArgs({ options: { compression: { type: "string", default: "xz" }, version: { type: "string" } } });
  if (!existsSync(program)) throw new Error("build/mailsvc is missing: npm run build:binary");
  const { version: own } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  const version = values.version ?? own;
  const folder = join(root, "node_modules/.cache/mailsvc/debian");
  rmSync(folder, { recursive: true, force: true });
  const put = (to, mode, write) => {
    const path = join(folder, to);
    mkdirSync(dirname(path), { recursive: true });
    write(path);
    chmodSync(path, mode);
  };
  for (const [from, to, mode] of FILES) put(to, mode, (path) => cpSync(join(root, from), path));
  for (const [shell, to] of Object.entries(SHELLS)) {
    const { stdout } = await run(program, ["completion", shell], { env: {} });
    put(to, 0o644, (path) => writeFileSync(path, stdout));
  }
  for (const script of ["postinst", "prerm", "postrm"]) put(`DEBIAN/${script}`, 0o755, (path) => cpSync(join(sources, script), path));
  put("DEBIAN/conffiles", 0o644, (path) => writeFileSync(path, "/etc/default/mailsvc\n"));
  const { stdout: used } = await run("du", ["-sk", folder]);
  put("DEBIAN/control", 0o644, (path) => writeFileSync(path, control(version, ARCHITECTURE, Number.parseInt(used, 10))));
  // dpkg-deb requires folders that every user may read.
  await run("chmod", ["-R", "u+rwX,go+rX,go-w", folder]);
  chmodSync(join(folder, "etc/default/mailsvc"), 0o600);
  const file = join(build, `mailsvc_${version}_${ARCHITECTURE}.deb`);
  await run("dpkg-deb", [
    "--root-owner-group",
    `-Z${values.compression}`,
    ...(values.compression === "xz" ? [] : ["-z1"]),
    "-b",
    folder,
    file,
  ]);
  console.log(file.slice(root.length));
}

await main();
