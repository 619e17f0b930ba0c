// Files for those who install by other means than npm and Debian: compose.yaml, a Helm chart, a Homebrew formula, a Nix flake and
// install.sh, made from the other files of the release and their checksums.
import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { cleanEnvironment, findProgram, pack, run } from "./command.mjs";
import { serveFiles } from "./serve-files.mjs";

const HOME = "https://github.com/mailsvc/mailsvc";
const IMAGE = "ghcr.io/mailsvc/mailsvc";
const sources = fileURLToPath(new URL("../channels", import.meta.url));
const chartOf = (version) => `mailsvc-chart-${version}.tgz`;
const NAMES = ["compose.yaml", "mailsvc.rb", "flake.nix", "install.sh"];

/** Architectures of the single file as Node, the kernel and Nix name them. */
const ARCHITECTURES = [
  { node: "x64", kernel: ["x86_64", "amd64"], nix: "x86_64-linux" },
  { node: "arm64", kernel: ["aarch64", "arm64"], nix: "aarch64-linux" },
];

export const channels = {
  name: "channels",
  files: (version) => [...NAMES, chartOf(version)],
  needs: { tar: "tar", gzip: "gzip" },

  async make({ out, version, epoch }) {
    await writeChannels(out, version, epoch);
  },

  async check({ folder, version, place, ok, notTried }) {
    const [compose] = parseYaml(readFileSync(join(folder, "compose.yaml"), "utf8"), "compose.yaml");
    if (compose.services.mailsvc.image !== `${IMAGE}:${version}`) throw new Error("compose.yaml names another image.");
    ok("compose.yaml is YAML and names the image of this version");
    await checkChart(join(folder, chartOf(version)), version, place, { ok, notTried });
    await checkFormula(folder, place, { ok, notTried });
    await checkFlake(folder, version, place, { ok, notTried });
    assertSums(folder, version);
    ok("the formula, the flake and install.sh name the checksums of the files beside them");
    await checkInstaller(folder, version, place, { ok, notTried });
  },
};

/**
 * Writes the files into a folder with the other files of a release, which may be of several architectures. Throws when there is no
 * single file, or no npm package.
 */
export async function writeChannels(folder, version, epoch) {
  const found = ARCHITECTURES.filter(({ node }) => existsSync(join(folder, archiveOf(version, node))));
  if (found.length === 0) throw new Error(`${folder} has no ${archiveOf(version, "x64")} and none of another architecture.`);
  const releases = `${HOME}/releases/download`;
  const sums = found.map((architecture) => ({ ...architecture, sum: sumOf(folder, archiveOf(version, architecture.node)) }));
  const npm = `mailsvc-${version}.tgz`;
  const values = {
    VERSION: version,
    HOME,
    RELEASES: releases,
    IMAGE,
    NPM_FILE: npm,
    NPM_SUM: sumOf(folder, npm),
    NIX_FILES: sums
      .map(
        ({ nix, node, sum }) =>
          `        ${nix} = {\n          url = "${releases}/v${version}/${archiveOf(version, node)}";\n          sha256 = "${sum}";\n        };`,
      )
      .join("\n"),
    SHELL_FILES: sums.map(({ kernel, node, sum }) => `${kernel.join(" | ")}) arch=${node} sum=${sum} ;;`).join("\n"),
  };
  const fill = (text) => text.replace(/__([A-Z_]+?)__/g, (_, name) => values[name]);
  for (const name of NAMES) writeFileSync(join(folder, name), fill(readFileSync(join(sources, name), "utf8")));
  chmodSync(join(folder, "install.sh"), 0o755);
  const work = mkdtempSync(join(tmpdir(), "mailsvc-chart-"));
  try {
    for (const file of globSync("chart/**/*.{yaml,json}", { cwd: sources })) {
      const to = join(work, file.replace(/^chart/, "mailsvc"));
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, fill(readFileSync(join(sources, file), "utf8")));
    }
    await pack(work, ["mailsvc"], join(work, "chart.tar.gz"), epoch);
    cpSync(join(work, "chart.tar.gz"), join(folder, chartOf(version)));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const archiveOf = (version, arch) => `mailsvc-${version}-linux-${arch}.tar.xz`;

const sumOf = (folder, file) =>
  createHash("sha256")
    .update(readFileSync(join(folder, file)))
    .digest("hex");

/** The documents of a file. Throws when it is no YAML, or has a key twice. */
function parseYaml(text, name) {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error) throw new Error(`${name}: ${error.message}`);
  return documents.map((document) => document.toJS());
}

/** Lets Helm lint and render the chart, with little and with all that can be set. */
async function checkChart(archive, version, place, { ok, notTried }) {
  const unpacked = place("chart");
  await run("tar", ["-xzf", archive, "-C", unpacked]);
  const [{ version: own, appVersion }] = parseYaml(readFileSync(join(unpacked, "mailsvc/Chart.yaml"), "utf8"), "Chart.yaml");
  if (own !== version || appVersion !== version) throw new Error(`The chart says that it is ${own} of ${appVersion}.`);
  ok("the chart names this version");
  if (findProgram("helm") === null) {
    notTried("the chart: helm is not installed, so it was not rendered");
    return;
  }
  const few = { publicUrl: "https://mail.example.com", replicas: 5 };
  const all = {
    publicUrl: "https://mail.example.com",
    secret: "mailsvc",
    postgres: true,
    env: { MAILSVC_TRUST_SENDER: "example.com", MAILSVC_SMTP_PORT: "2587" },
    imagePullSecrets: [{ name: "registry" }],
    persistence: { size: "20Gi", storageClass: "fast" },
    service: { type: "ClusterIP", port: 2526, smtpPort: 587 },
    ingress: { enabled: true, className: "nginx", host: "mail.example.com", tlsSecret: "tls", annotations: { "example.com/note": "yes" } },
    nodeSelector: { disk: "ssd" },
    tolerations: [{ key: "mail", operator: "Exists" }],
  };
  const env = cleanEnvironment(place("helm"));
  const render = async (values) => {
    const file = join(unpacked, "given.json");
    writeFileSync(file, JSON.stringify(values));
    await run("helm", ["lint", "--strict", "--values", file, archive], { env });
    const objects = parseYaml(await run("helm", ["template", "test", archive, "--values", file], { env }), "the chart");
    return Object.fromEntries(objects.filter((object) => object !== null).map((object) => [object.kind, object]));
  };
  const [one, many] = [await render(few), await render(all)];
  const kinds = [one, many].map((objects) => Object.keys(objects).sort().join(", ")).join("; ");
  if (kinds !== "Service, StatefulSet; Ingress, Service, StatefulSet") throw new Error(`The chart renders ${kinds}.`);
  const replicas = [one, many].map(({ StatefulSet }) => StatefulSet.spec.replicas);
  if (replicas[0] !== undefined || replicas[1] !== 2) throw new Error(`The chart starts ${replicas.join(" and ")} processes.`);
  ok("helm lints and renders the chart, with few values and with all; several processes only on Postgres");
  for (const [values, expected] of [
    [{}, "publicUrl is needed"],
    [{ ...few, publicURL: "https://mail.example.com" }, "publicURL"],
  ]) {
    const refused = await render(values).then(
      () => "",
      ({ message }) => message,
    );
    if (!refused.includes(expected)) throw new Error(`The chart takes ${JSON.stringify(values)}. ${refused}`);
  }
  ok("helm refuses the chart without a public address, and with a value that it does not have");
}

async function checkFormula(folder, place, { ok, notTried }) {
  if (findProgram("ruby") === null) {
    notTried("mailsvc.rb: ruby is not installed, so its syntax was not checked");
    return;
  }
  await run("ruby", ["-c", join(folder, "mailsvc.rb")], { env: cleanEnvironment(place("ruby")) });
  ok("ruby reads mailsvc.rb");
}

// Stands for nixpkgs, which is not loaded: functions that return what they are given.
const NIXPKGS = `
{
  lib.genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
  legacyPackages = builtins.listToAttrs (map (name: {
    inherit name;
    value = {
      stdenv = { mkDerivation = given: given; cc.cc.lib = "lib"; };
      fetchurl = given: given;
      autoPatchelfHook = "hook";
      lib.licenses.mit = "MIT";
    };
  }) [ "x86_64-linux" "aarch64-linux" ]);
}`;

/** Lets Nix evaluate the flake, and looks at the files that it would load. */
async function checkFlake(folder, version, place, { ok, notTried }) {
  if (findProgram("nix-instantiate") === null) {
    notTried("flake.nix: nix is not installed, so it was not evaluated");
    return;
  }
  const flake = JSON.stringify(join(folder, "flake.nix"));
  const outputs = `((import (/. + ${flake})).outputs { self = { }; nixpkgs = ${NIXPKGS}; }).packages`;
  const args = ["--eval", "--strict", "--json", "-E", outputs];
  const home = place("nix");
  const env = { ...cleanEnvironment(home), NIX_STATE_DIR: home, NIX_STORE_DIR: join(home, "store"), NIX_LOG_DIR: home };
  const packages = JSON.parse(await run("nix-instantiate", args, { env }));
  for (const [system, { default: made }] of Object.entries(packages)) {
    const architecture = ARCHITECTURES.find(({ nix }) => nix === system);
    const file = archiveOf(version, architecture?.node);
    if (!made.src.url.endsWith(`/v${version}/${file}`) || made.src.sha256 !== sumOf(folder, file))
      throw new Error(`flake.nix loads ${made.src.url} for ${system}, with the checksum ${made.src.sha256}.`);
  }
  ok(`nix evaluates flake.nix, for ${Object.keys(packages).join(" and ")}`);
}

/** Throws when a file names a checksum that none of the files beside it has. */
function assertSums(folder, version) {
  const sums = ARCHITECTURES.map(({ node }) => archiveOf(version, node))
    .concat(`mailsvc-${version}.tgz`)
    .filter((file) => existsSync(join(folder, file)))
    .map((file) => sumOf(folder, file));
  for (const name of ["mailsvc.rb", "flake.nix", "install.sh"])
    for (const [sum] of readFileSync(join(folder, name), "utf8").matchAll(/\b[0-9a-f]{64}\b/g))
      if (!sums.includes(sum)) throw new Error(`${name} names ${sum}, which is the checksum of no file of this release.`);
}

/** Runs install.sh against a server of the release's files, and once with a file that was changed. */
async function checkInstaller(folder, version, place, { ok, notTried }) {
  const file = archiveOf(version, process.arch);
  if (process.platform !== "linux" || !existsSync(join(folder, file))) {
    notTried(`install.sh: ${file} is not there, or this is not Linux`);
    return;
  }
  const files = place("files");
  mkdirSync(join(files, `v${version}`));
  cpSync(join(folder, file), join(files, `v${version}`, file));
  await using server = await serveFiles(files);
  const home = place("installed");
  const env = { ...cleanEnvironment(home), MAILSVC_RELEASES: server.url };
  const said = await run("sh", [join(folder, "install.sh")], { env });
  const program = join(home, ".local/bin/mailsvc");
  if (!said.includes(program) || (await run(program, ["--version"], { env })).trim() !== version)
    throw new Error(`install.sh has not installed ${version}: ${said}`);
  ok("sh install.sh: loaded, compared, installed, and it runs");
  writeFileSync(join(files, `v${version}`, file), "something else");
  const refused = await run("sh", [join(folder, "install.sh")], { env: { ...env, MAILSVC_INSTALL: place("refused") } }).then(
    () => null,
    ({ message }) => message,
  );
  if (!refused?.includes("has another checksum")) throw new Error("install.sh takes a file with another checksum.");
  ok("sh install.sh refuses a file with another checksum");
}
