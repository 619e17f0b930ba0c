import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /** Its own certificate, and the file it stands in. */
  readonly cert: string;
  readonly file: string;
  /** A certificate for these names and addresses, from and until these instants (`20200131000000Z`). */
  issue(names: readonly string[], from?: string, until?: string): Certificate;
  dispose(): void;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** A certificate that nobody but itself vouches for. */
export function selfSigned(names: readonly string[]): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  openssl("req", "-x509", ...KEY, "-keyout", key, "-out", cert, "-days", "1", "-subj", "/CN=test", "-addext", altNames(names));
  const made = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  rmSync(folder, { recursive: true });
  return made;
}

/** An authority of a test's own. */
export function makeAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "mailsvc-ca-"));
  const at = (name: string): string => join(folder, name);
  openssl("req", "-x509", ...KEY, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "2", "-subj", "/CN=mailsvc test authority");
  writeFileSync(at("index.txt"), "");
  writeFileSync(
    at("ca.conf"),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${at("index.txt")}\nrand_serial=yes\nunique_subject=no\nnew_certs_dir=${folder}
certificate=${at("ca.pem")}\nprivate_key=${at("ca.key")}\ndefault_md=sha256\npolicy=any\ncopy_extensions=copy\n[any]\ncommonName=optional\n`,
  );
  return {
    cert: readFileSync(at("ca.pem"), "utf8"),
    file: at("ca.pem"),
    issue: (names, from = "20200101000000Z", until = "20491231000000Z") => {
      openssl("req", "-new", ...KEY, "-keyout", at("key"), "-out", at("csr"), "-subj", "/CN=webhook", "-addext", altNames(names));
      openssl(
        "ca",
        "-batch",
        "-notext",
        "-config",
        at("ca.conf"),
        "-in",
        at("csr"),
        "-out",
        at("cert"),
        "-startdate",
        from,
        "-enddate",
        until,
      );
      return { key: readFileSync(at("key"), "utf8"), cert: readFileSync(at("cert"), "utf8") };
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function altNames(names: readonly string[]): string {
  return `subjectAltName=${names.map((name) => `${/^[\d.]+$/.test(name) ? "IP" : "DNS"}:${name}`).join(",")}`;
}

function openssl(...args: string[]): void {
  void execFileSync("openssl", args, { stdio: "ignore" });
}
