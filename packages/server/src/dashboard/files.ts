import { brotliDecompressSync, gzipSync } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import { ApiError } from "../lib/api-error.ts";
import { type ContentCoding, chooseCoding } from "../lib/content-coding.ts";

/** A file of the dashboard, as the build made it. */
interface BuiltFile {
  readonly type: string;
  /** A hash of its content. */
  readonly etag: string;
  readonly brotli: Uint8Array;
}

/** The files by name. Files in `assets/` have their hash in the name and never change; `index.html` is every page. */
export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

// Almost every browser takes brotli. For the others a few files are kept in the form they take.
const MAX_KEPT = 64;

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** The static files of the dashboard. They are loaded with the first request: a server that nobody looks at does not hold them. */
export class DashboardFiles {
  readonly #load: () => Promise<BuiltFiles>;
  readonly #other = new LRUCache<string, Uint8Array>({ max: MAX_KEPT });
  #files: Promise<BuiltFiles> | null = null;

  constructor(load: () => Promise<BuiltFiles>) {
    this.#load = load;
  }

  /** The pages that serve them. Every path below /dashboard that nothing else takes is a page of the dashboard. */
  pages(): readonly PublicPage[] {
    const index: PublicPage["serve"] = (request) => this.#serve("index.html", request, "no-cache");
    return [
      { path: "/dashboard/assets/:file", methods: ["GET"], serve: (request) => this.#asset(request) },
      { path: "/dashboard", methods: ["GET"], serve: index },
      { path: "/dashboard/**", methods: ["GET"], serve: index },
    ];
  }

  #asset(request: PageRequest): Promise<PageResponse> {
    return this.#serve(`assets/${request.params["file"] ?? ""}`, request, "public, max-age=31536000, immutable");
  }

  async #serve(name: string, request: PageRequest, caching: string): Promise<PageResponse> {
    this.#files ??= this.#load();
    const file = (await this.#files).get(name);
    if (!file) throw new ApiError("not_found", "This file of the dashboard does not exist. Load the page again.");
    const coding = chooseCoding(request.header("accept-encoding")) ?? "identity";
    const etag = `"${file.etag}-${coding}"`;
    const headers: PageResponse["headers"] = [
      ["content-type", file.type],
      ["cache-control", caching],
      ["etag", etag],
      ["vary", "accept-encoding"],
      ["content-security-policy", POLICY],
      ["cross-origin-resource-policy", "same-origin"],
      ...(coding === "identity" ? [] : [["content-encoding", coding] as [string, string]]),
    ];
    const known = (request.header("if-none-match") ?? "").split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
    return known ? { status: 304, headers, body: null } : { status: 200, headers, body: this.#encode(name, file, coding) };
  }

  #encode(name: string, { brotli }: BuiltFile, coding: ContentCoding | "identity"): Uint8Array {
    if (coding === "br") return brotli;
    const key = `${coding} ${name}`;
    const kept = this.#other.get(key);
    if (kept) return kept;
    const plain = brotliDecompressSync(brotli);
    const encoded = coding === "gzip" ? gzipSync(plain) : plain;
    this.#other.set(key, encoded);
    return encoded;
  }
}
