import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** A private key and the certificates for it, as PEM. */
export interface TlsPair {
  readonly key: string;
  readonly cert: string;
}

/** A key and its certificates in files that are replaced when the certificate is renewed. */
export interface TlsFiles {
  readonly current: TlsPair;
  /** Reads the files again: the new pair, or null if they are as they were. Throws Error if they cannot be used. */
  renew(): TlsPair | null;
}

/** Opens the PEM files of a private key and its certificates, in any order. Throws Error if they cannot be used. */
export function openTlsFiles(files: readonly string[]): TlsFiles {
  let current = readPair(files);
  return {
    get current() {
      return current;
    },
    renew: () => {
      const now = readPair(files);
      if (now.cert === current.cert && now.key === current.key) return null;
      current = now;
      return now;
    },
  };
}

function readPair(files: readonly string[]): TlsPair {
  const text = files.map(readText).join("\n");
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g)];
  const keys = blocks.filter(([, label]) => label?.endsWith("PRIVATE KEY"));
  const certificates = blocks.filter(([, label]) => label === "CERTIFICATE");
  if (keys.length !== 1 || certificates.length === 0)
    throw new Error(
      `${files.join(", ")} must hold one private key and its certificates, and have ${keys.length} and ${certificates.length}.`,
    );
  const pair = { key: keys[0]?.[0] ?? "", cert: certificates.map(([pem]) => pem).join("\n") };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new Error(`The private key and the certificate in ${files.join(", ")} cannot be used: ${(error as Error).message}`);
  }
  return pair;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot read ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}
