import { eq } from "drizzle-orm";
import { findRows } from "../../db/find.ts";
import type { HeaderList } from "../../http/headers.ts";
import type { PageRequest, PageResponse, PublicPage } from "../../http/public/public-pages.ts";
import { ApiError, brokenLink } from "../../lib/api-error.ts";
import { readContent } from "./contents.ts";
import { openLinkToken } from "./library.ts";
import type { FileDeps } from "./staging.ts";

interface Served {
  readonly workspaceId: string;
  readonly sha256: string;
  readonly size: number;
  readonly contentType: string;
  readonly fileName: string;
}

/** The first and last byte of a part of a file, counted from 0. */
interface Range {
  readonly first: number;
  readonly last: number;
}

// An uploaded file must never act as a page of this server, whatever a browser takes it for.
const FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** The public addresses of files. */
export function publicFiles(deps: FileDeps): readonly PublicPage[] {
  return [assetPage(deps), downloadPage(deps)];
}

function fileNotFound(): ApiError {
  return new ApiError("not_found", "File not found. It may have been deleted.");
}

function toStream(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await parts.return(undefined)),
  });
}

/** Answers with a file or the requested range of it (RFC 9110). */
function sendFile(deps: FileDeps, file: Served, visit: PageRequest, headers: HeaderList): PageResponse {
  const etag = `"${file.sha256.slice(0, 32)}"`;
  const common: HeaderList = [
    ...headers,
    ["content-type", file.contentType],
    ["content-security-policy", FILE_POLICY],
    ["accept-ranges", "bytes"],
    ["etag", etag],
  ];
  const ifMatch = visit.header("if-match");
  if (ifMatch !== null && !ifMatch.split(",").some((one) => one.trim() === etag || one.trim() === "*"))
    return { status: 412, headers: [...headers, ["content-security-policy", FILE_POLICY]], body: null, length: 0 };
  const ifNoneMatch = visit.header("if-none-match");
  if (ifNoneMatch?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*"))
    return { status: 304, headers: common, body: null };
  const ifRange = visit.header("if-range");
  // Range applies to GET only (RFC 9110, 14.2).
  const rangeHeader = visit.method === "GET" && (ifRange === null || ifRange === etag) ? visit.header("range") : null;
  const range = parseRange(rangeHeader, file.size);
  if (range === "unsatisfiable")
    return {
      status: 416,
      headers: [...headers, ["content-range", `bytes */${file.size}`], ["content-security-policy", FILE_POLICY]],
      body: null,
      length: 0,
    };
  const { first, last } = range ?? { first: 0, last: file.size - 1 };
  return {
    status: range ? 206 : 200,
    headers: range ? [...common, ["content-range", `bytes ${first}-${last}/${file.size}`]] : common,
    body: toStream(readContent(deps.db.read, file, first, last)),
    length: last - first + 1,
  };
}

/** Images of the asset library, embedded by mails and pages. */
function assetPage(deps: FileDeps): PublicPage {
  return {
    path: "/a/:id",
    methods: ["GET"],
    serve: async (visit) => {
      const { assets: t } = deps.db.read.t;
      const id = visit.params.id ?? "";
      const [row] = /^ast_[0-9a-z]{26}$/.test(id) ? await deps.db.read.select().from(t).where(eq(t.id, id)) : [];
      if (!row) throw fileNotFound();
      return sendFile(deps, row, visit, [
        ["cache-control", "public, max-age=86400"],
        ["content-disposition", contentDisposition("inline", row.fileName)],
        ["cross-origin-resource-policy", "cross-origin"],
      ]);
    },
  };
}

/** Lead magnets, behind a link that expires. */
function downloadPage(deps: FileDeps): PublicPage {
  return {
    path: "/f/:token",
    methods: ["GET"],
    serve: async (visit) => {
      const id = openLinkToken(deps, "download", visit.params.token ?? "");
      const { leadMagnets: t } = deps.db.read.t;
      const [row] = id === null ? [] : await findRows(deps.db.read, t, { id });
      if (!row) throw brokenLink("linkDownload");
      return sendFile(deps, row, visit, [
        ["cache-control", "private, no-cache"],
        ["content-disposition", contentDisposition("attachment", row.fileName)],
        ["cross-origin-resource-policy", "same-origin"],
        ["x-robots-tag", "noindex"],
      ]);
    },
  };
}

/**
 * Parses a Range header with one range (RFC 9110, 14.2); null for the whole file. An unknown unit or several ranges count as
 * the whole file, as the RFC allows.
 */
function parseRange(header: string | null, size: number): Range | "unsatisfiable" | null {
  const match = /^bytes\s*=\s*(\d{0,30})-(\d{0,30})$/i.exec(header?.trim() ?? "");
  if (!match) return null;
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return null;
  if (from === "") return Number(to) === 0 || size === 0 ? "unsatisfiable" : { first: Math.max(0, size - Number(to)), last: size - 1 };
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  if (first >= size) return "unsatisfiable";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}

/** A Content-Disposition with a file name (RFC 6266). */
function contentDisposition(how: "inline" | "attachment", fileName: string): string {
  const ascii = fileName.replace(/[^A-Za-z0-9._ -]/g, "_");
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${how}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
