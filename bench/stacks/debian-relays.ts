import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { ApartProgram, type DebianProgram, debianMissing } from "./debian.ts";
import { listening } from "./process.ts";
import { CONNECTIONS, type RunningStack, type Stack } from "./stack.ts";

const EXIM: DebianProgram = {
  name: "exim",
  packages: ["exim4-daemon-light", "libidn12", "libgnutls-dane0", "libunbound8", "libnsl2"],
  users: ["Debian-exim"],
  folders: [],
};

const OPENSMTPD: DebianProgram = {
  name: "opensmtpd",
  packages: ["opensmtpd", "libevent-2.1-7"],
  users: ["opensmtpd", "opensmtpq"],
  folders: ["/var/spool/smtpd", "/var/lib/opensmtpd/empty", "/run"],
};

export const exim: Stack = {
  name: "Exim as a relay",
  durability: "flushed before the answer",
  missing: () => debianMissing(EXIM),
  start: async (smtpPort) => {
    const program = new ApartProgram(EXIM);
    const port = await freePort();
    const config = join(program.folder, "exim.conf");
    writeFileSync(config, toEximConf(program, port, smtpPort));
    for (const name of ["queue", "log"]) {
      const { "Debian-exim": id = 0 } = program.ids;
      mkdirSync(join(program.folder, name));
      chownSync(join(program.folder, name), id, id);
    }
    // Takes mail, and looks once a second for mail that a kill left in the queue.
    return startRelay(program, port, () => program.run("usr/sbin/exim4", ["-C", config, "-bdf", "-q1s"]));
  },
};

export const openSmtpd: Stack = {
  name: "OpenSMTPD as a relay",
  durability: "not flushed",
  missing: () => debianMissing(OPENSMTPD),
  start: async (smtpPort) => {
    const program = new ApartProgram(OPENSMTPD);
    const port = await freePort();
    const config = join(program.folder, "smtpd.conf");
    writeFileSync(config, toSmtpdConf(port, smtpPort));
    return startRelay(program, port, () => program.run("usr/sbin/smtpd", ["-F", "-f", config]));
  },
};

async function startRelay(program: ApartProgram, port: number, run: () => void): Promise<RunningStack> {
  const start = async (): Promise<void> => {
    run();
    await listening(port, true);
  };
  await start();
  return {
    entrance: { kind: "smtp", port },
    pids: () => program.pids(),
    cpu: () => program.cpu(),
    kill: () => program.kill(),
    restart: start,
    listInDoubt: async () => [],
    stop: () => program.stop(),
  };
}

/** Takes mail of this machine for anybody and delivers each at once, as Exim does by default, to the next mail server. */
function toEximConf(program: ApartProgram, port: number, smtpPort: number): string {
  const { "Debian-exim": id = 0 } = program.ids;
  return [
    `exim_path = ${program.path("usr/sbin/exim4")}`,
    `exim_user = ${id}`,
    `exim_group = ${id}`,
    "deliver_drop_privilege = true",
    `spool_directory = ${program.folder}/queue`,
    `log_file_path = ${program.folder}/log/%slog`,
    `pid_file_path = ${program.folder}/queue/pid`,
    "local_interfaces = 127.0.0.1",
    `daemon_smtp_ports = ${port}`,
    "primary_hostname = relay.example",
    "host_lookup =",
    "rfc1413_query_timeout = 0s",
    "smtp_accept_max = 0",
    "smtp_accept_queue_per_connection = 0",
    "tls_advertise_hosts =",
    "acl_smtp_rcpt = accept",
    "acl_smtp_data = accept",
    "begin routers",
    "next:",
    "  driver = manualroute",
    "  transport = smtp",
    "  route_list = * 127.0.0.1 byname",
    "  self = send",
    "  no_more",
    "begin transports",
    "smtp:",
    "  driver = smtp",
    `  port = ${smtpPort}`,
    "  allow_localhost",
    "  hosts_try_fastopen = :",
    "begin retry",
    "* * F,1h,1s",
    "",
  ].join("\n");
}

/** Takes mail of this machine for anybody, and hands it to the next mail server. */
function toSmtpdConf(port: number, smtpPort: number): string {
  return [
    "smtp limit max-mails 1000000",
    ...["host", "route"].map((what) => `mta limit max-conn-per-${what} ${CONNECTIONS}`),
    // By default it waits between two connections, as mail servers of strangers want it, and sends a hundred mails over each.
    ...["conn-delay-route", "conn-delay-relay", "reconn-delay-route"].map((what) => `mta limit ${what} 0`),
    "mta limit session-mail-max 1000000",
    `listen on 127.0.0.1 port ${port} hostname relay.example`,
    `action "next" relay host "smtp://127.0.0.1:${smtpPort}"`,
    'match from any for any action "next"',
    "",
  ].join("\n");
}
