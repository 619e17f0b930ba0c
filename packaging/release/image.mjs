// The container image, an archive in the layout of OCI.
import { createHash } from "node:crypto";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ARCHITECTURE } from "../architecture.mjs";
import { cleanEnvironment, findProgram, run } from "./command.mjs";
import { startProgram, useServer } from "./server.mjs";

const fileOf = (version) => `mailsvc-image-${version}-${ARCHITECTURE}.tar`;

export const image = {
  name: "image",
  files: (version) => [fileOf(version)],
  needs: { ldd: "libc-bin" },

  async make({ root, out, version }) {
    await run(process.execPath, [join(root, "packaging/image.mjs")]);
    cpSync(join(root, "build/mailsvc-image.tar"), join(out, fileOf(version)));
  },

  async check({ folder, version, place, ok, notTried }) {
    const layout = place("layout");
    await run("tar", ["-xf", join(folder, fileOf(version)), "-C", layout]);
    const { config, layers } = readImage(layout, version);
    const rootfs = place("rootfs");
    for (const layer of layers) await run("tar", ["-xzpf", layer, "-C", rootfs]);
    ok(`its config and ${layers.length} layer have the digests they are named by; unpacked into a root`);
    const obstacle = await findObstacle(rootfs);
    if (obstacle !== null) {
      notTried(`its program cannot be run in that root here, because ${obstacle}; run this check as root, outside of a container`);
      return;
    }
    await useServer(
      (settings) => startInImage({ rootfs, config, settings, cwd: place("cwd") }),
      (text) => ok(`in that root, as user ${config.User}: ${text}`),
    );
  },
};

/** Reads the config and the files of the layers. Throws when one is not what its digest says. */
function readImage(layout, version) {
  const digestOf = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const pathOf = ({ digest }) => join(layout, "blobs", digest.replace(":", "/"));
  const read = (blob) => {
    const bytes = readFileSync(pathOf(blob));
    if (digestOf(bytes) !== blob.digest || bytes.length !== blob.size)
      throw new Error(`The blob ${blob.digest} has another content or size.`);
    return bytes;
  };
  const [named, ...others] = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")).manifests;
  if (others.length > 0 || named.annotations["io.containerd.image.name"] !== `mailsvc:${version}`)
    throw new Error(`Its index does not name mailsvc:${version}, alone.`);
  const manifest = JSON.parse(read(named));
  const { config, rootfs, architecture, os } = JSON.parse(read(manifest.config));
  if (os !== "linux" || architecture !== ARCHITECTURE) throw new Error(`Its config says ${os} on ${architecture}.`);
  for (const [i, layer] of manifest.layers.entries())
    if (digestOf(gunzipSync(read(layer))) !== rootfs.diff_ids[i]) throw new Error(`Layer ${i + 1} is not what the config names.`);
  return { config, layers: manifest.layers.map(pathOf) };
}

/** The arguments of unshare for somebody who may not change roots. */
const become = () => (process.getuid() === 0 ? [] : ["--user", "--map-auto", "--map-root-user"]);

/** Says why no program can be run in this root; null when one can. */
async function findObstacle(rootfs) {
  if (process.platform !== "linux") return `this system is not Linux but ${process.platform}`;
  for (const name of ["unshare", "chroot"]) if (findProgram(name) === null) return `${name} is not installed`;
  const args = [
    ...become(),
    "--fork",
    "--pid",
    "--mount",
    "sh",
    "-ec",
    'mount -t proc proc "$0/proc"; chroot "$0" /usr/bin/mailsvc --version',
    rootfs,
  ];
  return run("unshare", args, { env: systemEnvironment({}) }).then(
    () => null,
    (error) => `unshare and chroot are refused (${error.message.split("\n").at(-1)})`,
  );
}

const systemEnvironment = (more) => ({ PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...more });

/** Starts the image's command as its user, with its environment, its own /proc and no other process in sight. */
function startInImage({ rootfs, config, settings, cwd }) {
  const steps = 'mount -t proc proc "$0/proc"; root=$0; user=$1; shift; exec chroot --userspec="$user" "$root" "$@"';
  const args = [...become(), "--fork", "--pid", "--kill-child", "--mount", "sh", "-ec", steps, rootfs, config.User];
  const own = Object.fromEntries(config.Env.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
  const data = config.WorkingDir;
  return startProgram({
    command: "unshare",
    args: [...args, ...config.Entrypoint, ...config.Cmd],
    cwd,
    env: systemEnvironment({ ...own, ...settings, PATH: systemEnvironment({}).PATH, MAILSVC_READY_FILE: join(data, "ready.json") }),
    readyFile: join(rootfs, data, "ready.json"),
    // The first process of its namespace is the child of unshare.
    stop: async (child) =>
      process.kill(Number((await run("pgrep", ["-P", String(child.pid)], { env: cleanEnvironment(cwd) })).trim()), "SIGTERM"),
  });
}
