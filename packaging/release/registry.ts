import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const exec = promisify(execFile);

interface Packument {
  readonly name: string;
  readonly "dist-tags": Record<string, string>;
  readonly versions: Record<string, unknown>;
}

/** Body of the request of `npm publish`. */
interface Publication extends Packument {
  readonly _attachments: Record<string, { readonly data: string }>;
}

/** An npm registry on this machine. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** The files of published packages, by their names. */
  readonly tarballs: ReadonlyMap<string, string>;
}

interface RegistryOptions {
  /** Port; by default a free one. */
  readonly port?: number;
  /** The packages that are published here, whatever others have, and the registry that has all other ones. */
  readonly own?: readonly string[];
  readonly others?: string;
}

/**
 * Starts an npm registry that keeps what is published to it in `folder`. Unless it is told who has all other packages, it has those of this
 * repository's node_modules, so that an installation needs no network.
 */
export async function startRegistry(folder: string, { port = 0, own = [], others }: RegistryOptions = {}): Promise<Registry> {
  const packages = new Map<string, Packument>();
  const offers = new Map<string, Promise<Packument | undefined>>();
  const tarballs = new Map<string, string>();
  const lock = readFileSync(join(modules, ".package-lock.json"), "utf8");
  const { packages: installed } = JSON.parse(lock) as { packages: Record<string, { readonly link?: boolean; readonly version?: string }> };
  let url = "";

  function keep(name: string, file: string, bytes: Buffer): void {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, basename(file));
    writeFileSync(path, bytes);
    tarballs.set(name, path);
  }

  /** Adds the versions of a package in this repository's node_modules: once, because two packings of a folder differ in their bytes. */
  async function offer(name: string): Promise<Packument | undefined> {
    if (others !== undefined) return undefined;
    const offered = offers.get(name) ?? packVersions(name);
    offers.set(name, offered);
    return offered;
  }

  async function packVersions(name: string): Promise<Packument | undefined> {
    // The packages of this repository are links there, and must be published first.
    const folders = Object.keys(installed).filter((path) => path.endsWith(`node_modules/${name}`) && !installed[path]?.link);
    if (folders.length === 0) return undefined;
    const folderOf = new Map<string, string>();
    // The shortest path is the one that this repository imports, and the first.
    for (const path of folders.toSorted((a, b) => a.length - b.length)) {
      const { version = "" } = installed[path] ?? {};
      if (!folderOf.has(version)) folderOf.set(version, join(modules, "..", path));
    }
    const manifests = await Promise.all([...folderOf.values()].map((folder) => pack(name, folder)));
    const versions = Object.fromEntries(manifests.map((manifest) => [manifest.version, manifest]));
    const packument = { name, "dist-tags": { latest: manifests[0]?.version ?? "" }, versions };
    packages.set(name, packument);
    return packument;
  }

  /** Packs a folder. Returns the manifest as registries show it. */
  async function pack(name: string, from: string): Promise<{ readonly version: string }> {
    const manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as { version: string };
    // An installation of better-sqlite3 may have left a build, which its package does not contain.
    const options = ["--exclude=./build", "--exclude=./node_modules", "--transform=s,^\\.,package,", "-C", from, "."];
    // Not compressed, which npm accepts as well: it is read once.
    const { stdout } = await exec("tar", ["-cf", "-", ...options], {
      encoding: "buffer",
      maxBuffer: 1e9,
    });
    keep(`${name}/${manifest.version}.tgz`, `${name.replaceAll("/", "-")}-${manifest.version}.tgz`, stdout);
    const integrity = `sha512-${createHash("sha512").update(stdout).digest("base64")}`;
    return { ...manifest, ...{ dist: { integrity, tarball: `${url}/${name}/-/${manifest.version}.tgz` } } };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [name = "", file] = decodeURIComponent(request.url ?? "/")
      .slice(1)
      .split("/-/");
    if (request.method === "PUT") {
      const { _attachments: attachments, ...packument } = (await json(request)) as Publication;
      for (const [path, { data }] of Object.entries(attachments)) keep(name, path.replaceAll("/", "-"), Buffer.from(data, "base64"));
      // A first version becomes the latest one, whatever its tag.
      packages.set(name, { ...packument, "dist-tags": { latest: Object.keys(packument.versions)[0] ?? "", ...packument["dist-tags"] } });
      response.writeHead(201).end("{}");
      return;
    }
    const found = file ? (tarballs.get(`${name}/${file}`) ?? tarballs.get(name)) : (packages.get(name) ?? (await offer(name)));
    if (found === undefined && others !== undefined && request.method === "GET" && !own.includes(name))
      response.writeHead(302, { location: new URL((request.url ?? "/").slice(1), others.replace(/\/?$/, "/")).href }).end();
    else if (found === undefined) response.writeHead(404).end("{}");
    else response.end(typeof found === "string" ? readFileSync(found) : JSON.stringify(found));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.writeHead(500).end(JSON.stringify({ error: error.message })));
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    tarballs,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
