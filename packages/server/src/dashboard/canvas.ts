import { createHash } from "node:crypto";
import type { PublicPage } from "../http/public/public-pages.ts";
import type { DashboardDeps } from "./deps.ts";
import { BASE, buildDocumentPolicy, SCHEMES } from "./mail-view.ts";

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
