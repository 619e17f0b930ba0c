import { and, eq } from "drizzle-orm";
import type { Deps } from "../../deps.ts";
import type { HeaderList } from "../../http/headers.ts";
import type { PageRequest, PageResponse, PublicPage } from "../../http/public/public-pages.ts";
import { ApiError } from "../../lib/api-error.ts";
import { readContent } from "./contents.ts";
import { contentDisposition } from "./file-name.ts";
import { openLinkToken } from "./links.ts";
import { parseRange } from "./range.ts";

interface Served {
  readonly workspaceId: string;
  readonly sha256: string;
  readonly size: number;
  readonly contentType: string;
  readonly fileName: string;
}

// A file is never a page of ours, whatever a browser makes of its bytes.
const FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Files that are served to everybody. */
export function publicFiles(deps: Deps): readonly PublicPage[] {
  return [assetPage(deps), downloadPage(deps)];
}

function fileNotFound(): ApiError {
  return new ApiError("not_found", "This file is not here, or no longer.");
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

/** A file, whole or the piece that is asked for (RFC 9110). */
function sendFile(deps: Deps, file: Served, visit: PageRequest, headers: HeaderList): PageResponse {
  const etag = `"${file.sha256.slice(0, 32)}"`;
  const common: HeaderList = [
    ...headers,
    ["content-type", file.contentType],
    ["content-security-policy", FILE_POLICY],
    ["accept-ranges", "bytes"],
    ["etag", etag],
  ];
  const wanted = visit.header("if-match");
  if (wanted !== null && !wanted.split(",").some((one) => one.trim() === etag || one.trim() === "*"))
    return { status: 412, headers: [...headers, ["content-security-policy", FILE_POLICY]], body: null, length: 0 };
  const known = visit.header("if-none-match");
  if (known?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*"))
    return { status: 304, headers: common, body: null };
  const within = visit.header("if-range");
  // A HEAD asks for no piece (RFC 9110, 14.2).
  const asked = visit.method === "GET" && (within === null || within === etag) ? visit.header("range") : null;
  const range = parseRange(asked, file.size);
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

/** Images of the asset library, shown wherever mails and pages show them. */
function assetPage(deps: Deps): PublicPage {
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

/** Lead magnets, for those who have a link that still works. */
function downloadPage(deps: Deps): PublicPage {
  return {
    path: "/f/:token",
    methods: ["GET"],
    serve: async (visit) => {
      const id = openLinkToken(deps, "download", visit.params.token ?? "");
      const { leadMagnets: t } = deps.db.read.t;
      const [row] =
        id === null
          ? []
          : await deps.db.read
              .select()
              .from(t)
              .where(and(eq(t.id, id)));
      if (!row) throw new ApiError("not_found", "This link does not work, or no longer. Please sign up again to get another one.");
      return sendFile(deps, row, visit, [
        ["cache-control", "private, no-cache"],
        ["content-disposition", contentDisposition("attachment", row.fileName)],
        ["cross-origin-resource-policy", "same-origin"],
        ["x-robots-tag", "noindex"],
      ]);
    },
  };
}
