import { createHash } from "node:crypto";
import type { Permission } from "@mailsvc/sdk/contract";
import type { Reader } from "../db/db.ts";
import { getReadableEmail } from "../emails/emails.ts";
import type { PageRequest, PageResponse, PublicPage } from "../http/public/public-pages.ts";
import type { CapturedContent } from "../inbound/inbound.ts";
import { getMail, readContent } from "../inbox/inbox.ts";
import { ApiError } from "../lib/api-error.ts";
import { getReceived, readAttachment } from "../received/received.ts";
import type { BrowserAccess } from "./access.ts";
import type { DashboardDeps } from "./deps.ts";
import {
  applyScheme,
  BASE,
  buildContentDisposition,
  buildDocumentPolicy,
  buildMailPolicy,
  getAttachment,
  listReferenced,
  renderMailHtml,
  SCHEMES,
} from "./mail-view.ts";

/** A preview of mail before it is sent. Features register theirs, so that this module does not know them. */
interface DraftSource {
  readonly permission: Permission;
  /** Its HTML as it would be sent, null when it has none. `query` says for whom. Throws ApiError. */
  render(read: Reader, workspaceId: string, id: string, query: URLSearchParams): Promise<string | null>;
}

/** The sources by the last part of their address: `/dashboard/frame/campaigns/:id`. */
export type DraftSources = Readonly<Record<string, DraftSource>>;

export interface FrameParts {
  readonly deps: DashboardDeps;
  readonly access: BrowserAccess;
  readonly drafts: DraftSources;
}

/** Mail for frames, and attachments for the disk: hostile content, under its own policy. The person must be signed in. */
export function framePages(parts: FrameParts): readonly PublicPage[] {
  return [
    { path: "/dashboard/frame/emails/:id", methods: ["GET"], serve: (request) => showEmail(parts, request) },
    { path: "/dashboard/frame/inbox/:id", methods: ["GET"], serve: (request) => showCaptured(parts, request) },
    { path: "/dashboard/frame/inbox/:id/attachments/:position", methods: ["GET"], serve: (request) => saveAttachment(parts, request) },
    ...Object.entries(parts.drafts).map(
      ([name, source]): PublicPage => ({
        path: `/dashboard/frame/${name}/:id`,
        methods: ["GET"],
        serve: (request) => showDraft(parts, source, request),
      }),
    ),
    { path: "/dashboard/frame/received/:id", methods: ["GET"], serve: (request) => showReceived(parts, request) },
    { path: "/dashboard/frame/received/:id/attachments/:number", methods: ["GET"], serve: (request) => saveReceivedFile(parts, request) },
  ];
}

/** The HTML of an email as its recipient reads it, before its links are tracked. */
async function showEmail(parts: FrameParts, request: PageRequest): Promise<PageResponse> {
  const workspaceId = await admit(parts, request);
  const { html } = await getReadableEmail(parts.deps.db.read, parts.deps, workspaceId, request.params["id"] ?? "");
  if (html === null) throw new ApiError("not_found", "This email has no HTML part.");
  return show(parts.deps, request, renderMailHtml({ html, attachments: [] }));
}

async function showCaptured(parts: FrameParts, request: PageRequest): Promise<PageResponse> {
  const { html, files } = await readCaptured(parts, request);
  return show(parts.deps, request, renderMailHtml({ html, attachments: files }));
}

async function showDraft(parts: FrameParts, { permission, render }: DraftSource, request: PageRequest): Promise<PageResponse> {
  const workspaceId = await admit(parts, request, permission);
  const html = await render(parts.deps.db.read, workspaceId, request.params["id"] ?? "", request.query);
  return show(parts.deps, request, renderMailHtml({ html: html ?? "", attachments: [] }));
}

/** The HTML of a received mail with its images. */
async function showReceived(parts: FrameParts, request: PageRequest): Promise<PageResponse> {
  const workspaceId = await admit(parts, request, "received:read");
  const { read } = parts.deps.db;
  const { id, html, attachments } = await getReceived(read, workspaceId, request.params["id"] ?? "");
  const shown = listReferenced(html ?? "");
  const images = attachments.filter(({ contentId }) => contentId !== null && shown.has(contentId));
  const inline = images.map(async ({ number, contentId, contentType }) => ({
    contentId,
    contentType,
    content: await readAttachment(read, workspaceId, id, String(number)),
  }));
  return show(parts.deps, request, renderMailHtml({ html, attachments: await Promise.all(inline) }));
}

async function saveReceivedFile(parts: FrameParts, request: PageRequest): Promise<PageResponse> {
  const workspaceId = await admit(parts, request, "received:read");
  const { read } = parts.deps.db;
  const { id, attachments } = await getReceived(read, workspaceId, request.params["id"] ?? "");
  const wanted = request.params["number"] ?? "";
  const bytes = await readAttachment(read, workspaceId, id, wanted);
  return save(attachments.find(({ number }) => String(number) === wanted)?.filename || "attachment", bytes);
}

async function saveAttachment(parts: FrameParts, request: PageRequest): Promise<PageResponse> {
  const { filename, bytes } = getAttachment((await readCaptured(parts, request)).files, request.params["position"] ?? "");
  return save(filename, bytes);
}

/** A file for the disk: it is never shown. */
function save(filename: string, bytes: Uint8Array): PageResponse {
  return {
    status: 200,
    headers: [
      ["content-type", "application/octet-stream"],
      ["content-disposition", buildContentDisposition(filename)],
      ["content-security-policy", "sandbox; default-src 'none'"],
      ["cache-control", "no-store"],
    ],
    body: bytes,
  };
}

/** A captured mail: in dev mode any, in production one of the workspace's test keys. Throws ApiError not_found, rate_limited. */
async function readCaptured(parts: FrameParts, request: PageRequest): Promise<CapturedContent> {
  const workspaceId = await admit(parts, request);
  const { config, db } = parts.deps;
  return readContent(parts.deps, await getMail(db.read, request.params["id"] ?? "", config.dev ? undefined : workspaceId));
}

/** The workspace of the browser, which may read the mail. In dev mode the address names it, because a frame sends no headers of ours. */
async function admit(
  { deps, access }: FrameParts,
  { method, header, peer, query }: PageRequest,
  permission: Permission = "transactional:read",
): Promise<string> {
  const browser = { method, headers: { get: header }, remoteAddress: peer };
  const wanted = deps.config.dev ? query.get("workspace") : null;
  const { key } = wanted === null ? ((await access.admit(browser)) ?? refuse()) : await access.admitLocal(browser, wanted);
  if (key.owner || key.permissions.has(permission)) return key.workspaceId;
  throw new ApiError("forbidden", "Your role cannot read mail.");
}

function refuse(): never {
  throw new ApiError("unauthorized", "You are not signed in.");
}

function show({ baseUrl }: FrameParts["deps"], { query }: PageRequest, html: string): PageResponse {
  return {
    status: 200,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      ["content-security-policy", buildMailPolicy(query.get("remote") === "1", baseUrl())],
      ["cross-origin-resource-policy", "same-origin"],
      ["cache-control", "no-store"],
    ],
    body: applyScheme(html, query.get("scheme") === "dark" ? "dark" : "light"),
  };
}

/*
 * A page that shows HTML which the dashboard has and the server has not, such as a template while it is edited. The dashboard puts it into
 * a frame and sends it the HTML; it shows that in its own frame, which runs nothing and has no origin. The dashboard could not have
 * that inner frame itself: a document made of a text has the policy of the page it is in, and the dashboard's allows no styles of a mail.
 */
const SCRIPT = `
const shown = document.querySelector("iframe");
addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data?.html !== "string") return;
  const dark = data.scheme === "dark";
  const chosen = data.html.replace(new RegExp(${JSON.stringify(SCHEMES.pattern)}, "gi"), (_, wanted) =>
    (wanted.toLowerCase() === "dark") === dark ? ${JSON.stringify(SCHEMES.always)} : ${JSON.stringify(SCHEMES.never)});
  const head = ${JSON.stringify(BASE)} + (dark && chosen !== data.html ? ${JSON.stringify(SCHEMES.dark)} : "");
  const open = /<head[\\s>]/i.exec(chosen);
  const end = open ? chosen.indexOf(">", open.index) + 1 : 0;
  const at = end > 0 ? end : (/^\\s*<!doctype[^>]*>/i.exec(chosen)?.[0].length ?? 0);
  shown.srcdoc = chosen.slice(0, at) + head + chosen.slice(at);
});
parent.postMessage("ready", "*");
`;

const STYLE = "html,body,iframe{display:block;width:100%;height:100%;margin:0;border:0}";

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Preview</title><style>${STYLE}</style></head><body>
<iframe title="The preview" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer"></iframe>
<script>${SCRIPT}</script></body></html>`;

const SCRIPT_HASH = `'sha256-${createHash("sha256").update(SCRIPT).digest("base64")}'`;

/** The page; it holds nothing of anybody, so it is served to everybody. `remote` allows pictures and styles of other servers. */
export const canvasPage = ({ baseUrl }: Pick<DashboardDeps, "baseUrl">): PublicPage => ({
  path: "/dashboard/frame/canvas",
  methods: ["GET"],
  serve: async ({ query }) => ({
    status: 200,
    headers: [
      ["content-type", "text/html; charset=utf-8"],
      [
        "content-security-policy",
        [
          "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox",
          `script-src ${SCRIPT_HASH}`,
          ...buildDocumentPolicy(query.get("remote") === "1", baseUrl()),
        ].join("; "),
      ],
      ["cross-origin-resource-policy", "same-origin"],
      ["cache-control", "no-cache"],
    ],
    body: PAGE,
  }),
});
