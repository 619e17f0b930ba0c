// Packs build/mailsvc as an OCI image, without a container engine: one layer with the program and the libraries it needs.
//
//   npm run build:image     writes build/mailsvc-image.tar, for `docker load`, `podman load` or `skopeo copy oci-archive:…`
//
// A Dockerfile that builds the same from the sources is at the top of the repository.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { ARCHITECTURE } from "./architecture.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const build = join(root, "build");
const program = join(build, "mailsvc");
const work = join(root, "node_modules/.cache/mailsvc/image");
const run = promisify(execFile);

// The user id that images without root conventionally use.
const USER = 65532;
// All entries have the same time, so that the same files give the same image.
const EPOCH = "@0";

/** The shared libraries of the program on this machine, by the paths the loader looks for them at. */
async function listLibraries() {
  const { stdout } = await run("ldd", [program]);
  const paths = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path);
  // glibc loads these at run time to look up host names.
  const resolver = paths
    .filter((path) => path.endsWith("/libc.so.6"))
    .flatMap((path) => ["libresolv.so.2", "libnss_dns.so.2"].map((name) => join(dirname(path), name)));
  return [...paths, ...resolver.filter((path) => existsSync(path))];
}

async function writeFolder(folder) {
  const put = (to, mode, write) => {
    const path = join(folder, to);
    mkdirSync(dirname(path), { recursive: true });
    write(path);
    chmodSync(path, mode);
  };
  put("usr/bin/mailsvc", 0o755, (path) => copyFileSync(program, path));
  for (const library of await listLibraries()) put(library, 0o755, (path) => copyFileSync(realpathSync(library), path));
  for (const name of ["THIRD-PARTY-LICENSES.txt", "mailsvc.cdx.json"])
    put(join("usr/share/doc/mailsvc", name), 0o644, (path) => copyFileSync(join(build, name), path));
  put("etc/passwd", 0o644, (path) => writeFileSync(path, `mailsvc:x:${USER}:${USER}::/data:/sbin/nologin\n`));
  put("etc/group", 0o644, (path) => writeFileSync(path, `mailsvc:x:${USER}:\n`));
  put("etc/nsswitch.conf", 0o644, (path) => writeFileSync(path, "hosts: files dns\n"));
  put("usr/share/doc/mailsvc/copyright", 0o644, (path) => copyFileSync(join(root, "LICENSE"), path));
  for (const [name, mode] of [
    ["tmp", 0o1777],
    ["data", 0o700],
    ["proc", 0o555],
  ]) {
    mkdirSync(join(folder, name));
    chmodSync(join(folder, name), mode);
  }
}

/** Packs a folder. The program's data folder belongs to its user, everything else to root. */
async function pack(folder, file) {
  const times = ["--sort=name", `--mtime=${EPOCH}`, "--numeric-owner"];
  await run("tar", ["-cf", file, ...times, "--owner=0", "--group=0", "--exclude=./data", "-C", folder, "."]);
  await run("tar", ["-rf", file, ...times, `--owner=${USER}`, `--group=${USER}`, "-C", folder, "./data"]);
}

async function main() {
  if (!existsSync(program)) throw new Error("build/mailsvc is missing: npm run build:binary");
  const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  rmSync(work, { recursive: true, force: true });
  const folder = join(work, "rootfs");
  const layout = join(work, "oci");
  mkdirSync(join(layout, "blobs/sha256"), { recursive: true });
  mkdirSync(folder);
  await writeFolder(folder);
  await pack(folder, join(work, "layer.tar"));

  const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");
  const blob = (bytes, mediaType) => {
    const name = digest(bytes);
    writeFileSync(join(layout, "blobs/sha256", name), bytes);
    return { mediaType, digest: `sha256:${name}`, size: bytes.length };
  };
  const json = (value, mediaType) => blob(Buffer.from(JSON.stringify(value)), mediaType);
  const layer = readFileSync(join(work, "layer.tar"));
  const config = json(
    {
      architecture: ARCHITECTURE,
      os: "linux",
      config: {
        User: `${USER}:${USER}`,
        Env: ["PATH=/usr/bin", "MAILSVC_HOST=0.0.0.0", "MAILSVC_DATA=/data"],
        // V8 may use 32 MB for new objects, not 128.
        Entrypoint: ["/usr/bin/mailsvc", "--node-options=--max-semi-space-size=16"],
        Cmd: ["serve"],
        WorkingDir: "/data",
        Volumes: { "/data": {} },
        ExposedPorts: { "2526/tcp": {}, "2587/tcp": {}, "2465/tcp": {} },
        Labels: {
          "org.opencontainers.image.title": "mailsvc",
          "org.opencontainers.image.version": version,
          "org.opencontainers.image.licenses": "MIT",
        },
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${digest(layer)}`] },
    },
    "application/vnd.oci.image.config.v1+json",
  );
  const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config,
    layers: [blob(gzipSync(layer), "application/vnd.oci.image.layer.v1.tar+gzip")],
  };
  const image = json(manifest, manifest.mediaType);
  const names = { "org.opencontainers.image.ref.name": version, "io.containerd.image.name": `mailsvc:${version}` };
  writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(
    join(layout, "index.json"),
    JSON.stringify({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.index.v1+json",
      manifests: [{ ...image, annotations: names }],
    }),
  );
  const file = join(build, "mailsvc-image.tar");
  await run("tar", [
    "-cf",
    file,
    "--sort=name",
    `--mtime=${EPOCH}`,
    "--owner=0",
    "--group=0",
    "-C",
    layout,
    "blobs",
    "index.json",
    "oci-layout",
  ]);
  rmSync(work, { recursive: true, force: true });
  console.log(file.slice(root.length));
}

await main();
