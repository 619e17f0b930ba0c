import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SCRIPT = 'ip link set lo up && mount --bind "$0" /etc/resolv.conf && exec "$@"';

/** Runs the comparison of receivers in a network and with a resolv.conf of its own: all its programs ask the name server that it starts. */
export function compareReceivingApart(chosen, rounds) {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-bench-network-"));
  const resolv = join(folder, "resolv.conf");
  writeFileSync(resolv, "nameserver 127.0.0.1\n", { mode: 0o644 });
  const inside = fileURLToPath(new URL("./inside.mjs", import.meta.url));
  const command = [process.execPath, inside, `${rounds}`, JSON.stringify(chosen)];
  try {
    execFileSync("unshare", ["--net", "--mount", "sh", "-c", SCRIPT, resolv, ...command], { stdio: "inherit" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
