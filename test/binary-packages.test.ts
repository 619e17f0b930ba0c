import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "./support/api.ts";
import { buildBinary } from "./support/binary.ts";

const root = dirname(fileURLToPath(new URL(".", import.meta.url)));
const exec = promisify(execFile);
const script = (name: string, ...args: string[]) =>
  exec(process.execPath, [join(root, "packaging", name), ...args], { maxBuffer: 1e8 }).then(({ stdout }) =>
    join(root, stdout.trim().split(" ")[0] ?? ""),
  );

const DOCUMENTS = ["copyright", "THIRD-PARTY-LICENSES.txt", "mailsvc.cdx.json"];

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailsvc-packages-"));
  await buildBinary();
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the Debian package", () => {
  let system: string;
  const dpkg = (...args: string[]) =>
    exec("dpkg", [`--root=${system}`, "--force-not-root", "--force-depends", "--force-script-chrootless", "--log=/dev/null", ...args], {
      env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` },
    });
  const inSystem = (path: string): string => join(system, path);

  beforeAll(() => {
    system = join(folder, "debian");
    for (const path of ["var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/mailsvc", "etc"])
      mkdirSync(inSystem(path), { recursive: true });
    for (const name of ["status", "available"]) writeFileSync(inSystem(`var/lib/dpkg/${name}`), "");
  });

  test("installs a program, a unit and a user, and keeps settings and data when it is upgraded", async () => {
    await dpkg("--install", await script("deb.mjs", "--compression", "zstd"));
    expect((await exec(inSystem("usr/bin/mailsvc"), ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(readFileSync(inSystem("etc/passwd"), "utf8")).toMatch(/^mailsvc:.*:\/var\/lib\/mailsvc:\S*nologin$/m);
    for (const name of DOCUMENTS) expect(existsSync(inSystem(`usr/share/doc/mailsvc/${name}`))).toBe(true);
    // It may hold a password.
    expect(statSync(inSystem("etc/default/mailsvc")).mode & 0o777).toBe(0o600);

    appendFileSync(inSystem("etc/default/mailsvc"), "MAILSVC_SMTP_URL=smtp://127.0.0.1\n");
    writeFileSync(inSystem("var/lib/mailsvc/mailsvc.db"), "data");
    await dpkg("--install", await script("deb.mjs", "--compression", "zstd", "--version", "99.0.0"));
    expect(readFileSync(inSystem("etc/default/mailsvc"), "utf8")).toContain("smtp://127.0.0.1");
    expect(readFileSync(inSystem("var/lib/mailsvc/mailsvc.db"), "utf8")).toBe("data");
  });

  test("its unit is one that systemd accepts and finds little to object to", async () => {
    const unit = inSystem("usr/lib/systemd/system/mailsvc.service");
    const command = inSystem("usr/bin/mailsvc");
    const here = join(folder, "mailsvc.service");
    writeFileSync(here, readFileSync(unit, "utf8").replace("/usr/bin/mailsvc", command));
    const { stdout, stderr } = await exec("systemd-analyze", ["verify", "--man=no", here]);
    expect(`${stdout}${stderr}`).toBe("");
    const { stdout: security } = await exec("systemd-analyze", ["security", "--offline=true", here]);
    expect(Number(/exposure level[^:]*: ([\d.]+)/.exec(security)?.[1])).toBeLessThan(2);
  });

  test("keeps the data when it is removed, and leaves nothing when it is purged", async () => {
    await dpkg("--remove", "mailsvc");
    expect(existsSync(inSystem("usr/bin/mailsvc"))).toBe(false);
    expect(existsSync(inSystem("var/lib/mailsvc/mailsvc.db"))).toBe(true);
    await dpkg("--purge", "mailsvc");
    const left = readdirSync(system, { recursive: true, encoding: "utf8" }).filter((path) => /mailsvc/.test(path));
    expect(left).toEqual([]);
  });
});

describe("the container image", () => {
  let rootfs: string;
  let config: { User: string; Entrypoint: string[]; Cmd: string[]; Env: string[] };

  /** Runs a command in the unpacked image as its user, with its environment and its own /proc. */
  const inImage = (args: readonly string[], data: string): ChildProcess => {
    const become = process.getuid?.() === 0 ? [] : ["--user", "--map-auto", "--map-root-user"];
    const steps =
      'mount -t proc proc "$0/proc"; mount --bind "$1" "$0/data"; root=$0; user=$2; shift 2; exec chroot --userspec="$user" "$root" "$@"';
    return spawn(
      "unshare",
      [...become, "--fork", "--pid", "--kill-child", "--mount", "sh", "-ec", steps, rootfs, data, config.User, ...args],
      {
        env: {
          ...Object.fromEntries(config.Env.map((line) => line.split("=", 2) as [string, string])),
          PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  };

  beforeAll(async () => {
    const file = await script("image.mjs");
    const layout = join(folder, "oci");
    rootfs = join(folder, "rootfs");
    for (const path of [layout, rootfs]) mkdirSync(path);
    await exec("tar", ["-xf", file, "-C", layout]);
    const read = (name: string) => JSON.parse(readFileSync(join(layout, name), "utf8"));
    const blob = ({ digest }: { digest: string }): string => join("blobs", digest.replace(":", "/"));
    const [named] = read("index.json").manifests;
    const manifest = read(blob(named));
    config = read(blob(manifest.config)).config;
    for (const layer of manifest.layers) await exec("tar", ["-xzpf", join(layout, blob(layer)), "-C", rootfs]);
  });

  test("has its licences and its bill of materials", () => {
    for (const name of DOCUMENTS) expect(existsSync(join(rootfs, "usr/share/doc/mailsvc", name))).toBe(true);
  });

  test("serves as its user, and stops when it is told", async () => {
    expect(config).toMatchObject({ User: "65532:65532", Entrypoint: ["/usr/bin/mailsvc", expect.any(String)], Cmd: ["serve"] });
    const data = join(rootfs, "data");
    const server = inImage([...config.Entrypoint, ...config.Cmd, "--host", "127.0.0.1", "--port", "0"], data);
    let said = "";
    for (const stream of [server.stdout, server.stderr]) stream?.on("data", (text) => (said += text));
    await until(
      60,
      async () => /"url":"[^"]+"/.test(said) || server.exitCode !== null,
      async () => said,
    );
    const url = /"url":"([^"]+)"/.exec(said)?.[1];
    expect(url, said).toBeDefined();
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(statSync(join(data, "mailsvc.db"))).toMatchObject({ uid: 65532 });
    const ended = once(server, "exit");
    // The first process of its namespace is `unshare`'s child.
    const { stdout } = await exec("pgrep", ["-P", String(server.pid)]);
    process.kill(Number(stdout.trim()), "SIGTERM");
    expect((await ended)[0]).toBe(0);
  });
});
