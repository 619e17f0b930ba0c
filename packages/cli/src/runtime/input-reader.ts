import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { findInexactNumber } from "@mailsvc/sdk/contract/facts";
import type { Host, InputReader } from "../types.ts";
import { invalidInput, usageError } from "./errors.ts";

// Larger than any valid request: 20 MiB of attachments as base64 plus 10 MiB of content.
const MB = 1024 * 1024;
const MAX_BYTES = 64 * MB;

export function createInputReader(host: Host): InputReader {
  let reader: string | undefined;
  const bytes = async (source: string, flag: string, max = MAX_BYTES): Promise<Buffer> => {
    if (source !== "-") return readFromFile(resolve(host.cwd, source), source, flag, max);
    if (reader !== undefined) throw usageError(`${reader} and ${flag} both read stdin; only one can.`);
    reader = flag;
    return readFromStdin(host, flag, max);
  };
  const text = async (source: string, flag: string): Promise<string> => {
    const buffer = await bytes(source, flag);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(buffer);
    } catch {
      throw usageError(`${flag}: ${source === "-" ? "stdin" : source} is not UTF-8 text.`);
    }
  };
  return {
    bytes,
    text,
    json: async (source, flag) => {
      const content = source === "-" ? await text("-", flag) : source.startsWith("@") ? await text(source.slice(1), flag) : source;
      try {
        return parseExactJson(content, flag);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw usageError(`${flag}: this is not JSON (${(error as Error).message}).`, { hint: "Use JSON, @file or - for stdin." });
      }
    },
  };
}

/**
 * Parses the JSON that `flag` gave. Throws SyntaxError for a text that is none, and CliError for a number that would reach the server as
 * another one.
 */
export function parseExactJson(text: string, flag: string): unknown {
  const value: unknown = JSON.parse(text);
  const number = findInexactNumber(text);
  if (number === null) return value;
  throw usageError(`${flag}: the number ${number.slice(0, 60)} would be changed.`, { hint: "Write it as a text, in quotes." });
}

function describeReadError(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "no such file";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a directory";
  return code ?? "it cannot be read";
}

function formatMegabytes(n: number): string {
  return `${(n / MB).toFixed(n % MB === 0 ? 0 : 1)} MB`;
}

/** Exit 2 when larger than this program reads, 3 when larger than the endpoint accepts. */
function tooLargeError(flag: string, name: string, max: number): Error {
  const message = `${name} is larger than ${formatMegabytes(max)}`;
  if (max === MAX_BYTES) return usageError(`${flag}: ${message}.`);
  return invalidInput(`${flag}: ${message}, the limit of this endpoint.`, [
    { path: "file", flag, code: "too_big", message: `${message}.` },
  ]);
}

function readFromFile(path: string, name: string, flag: string, max: number): Buffer {
  try {
    if (statSync(path).size > max) throw tooLargeError(flag, name, max);
    const content = readFileSync(path);
    // The size of a pipe is known only after reading it.
    if (content.length > max) throw tooLargeError(flag, name, max);
    return content;
  } catch (error) {
    if ((error as Error).name === "CliError") throw error;
    throw usageError(`${flag}: ${name}: ${describeReadError(error)}.`);
  }
}

async function readFromStdin(host: Host, flag: string, max: number): Promise<Buffer> {
  if (host.stdin.isTTY === true)
    throw usageError(`${flag} reads from stdin, but nothing is piped into it.`, { hint: `Write: … | mailsvc … ${flag} -` });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of host.stdin) {
    const bytes = Buffer.from(part as Uint8Array);
    size += bytes.length;
    if (size > max) throw tooLargeError(flag, "stdin", max);
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}
