import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onCore } from "../cores.ts";

/** Order to the generator of SMTP load. */
export interface SmtpOrder {
  port: number;
  /** The password of the login; null for none. */
  apiKey: string | null;
  /** The domain of the recipients. */
  domain: string;
  /** The message with CRLF, without a line that begins with a dot. */
  message: string;
  connections: number;
  warmupMs: number;
  durationMs: number;
  /** The processes whose processor time is measured. */
  pids: number[];
}

/** The result of a load. */
export interface SmtpLoad {
  /** Messages that were answered with 250. */
  perSecond: number;
  /** Processor time of the server for each, µs. */
  cpu: number;
  /** The first reply that refused something; empty if none did. */
  refused: string;
  connections: number;
}

const GENERATOR = fileURLToPath(new URL("smtp-generator.ts", import.meta.url));

/** Puts a server under load from a process on the second core. Throws when it refuses anything. */
export async function loadSmtp(order: SmtpOrder): Promise<SmtpLoad> {
  const [command = "", ...args] = [...onCore(1), process.execPath, GENERATOR, JSON.stringify(order)];
  const { stdout } = await promisify(execFile)(command, args);
  const report = JSON.parse(stdout) as SmtpLoad;
  if (report.refused !== "") throw new Error(`The server refused: ${report.refused}`);
  return report;
}
