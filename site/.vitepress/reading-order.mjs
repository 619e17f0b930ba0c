// The order in which the site presents the files that are its pages.
import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { pageOf, root } from "./pages.mjs";

export const GUIDE = {
  "Start here": ["docs/index.md", "docs/installation.md", "docs/questions.md", "docs/glossary.md"],
  "Your path": ["docs/start/terminal.md", "docs/start/ci.md", "docs/start/agent.md", "docs/start/server.md"],
  Sending: [
    "docs/emails.md",
    "docs/smtp.md",
    "docs/templates.md",
    "docs/blocks.md",
    "docs/tracking.md",
    "docs/languages.md",
    "docs/receiving.md",
    "docs/bounces.md",
    "docs/deliverability.md",
  ],
  Audience: ["docs/contacts.md", "docs/importing.md", "docs/audience.md", "docs/forms.md"],
  "Many contacts": [
    "docs/campaigns.md",
    "docs/automations.md",
    "docs/metrics.md",
    "docs/events.md",
    "docs/webhooks.md",
    "docs/listening.md",
    "docs/debugging.md",
  ],
  Tools: [
    "docs/dashboard.md",
    "docs/dashboard-pictures.md",
    "docs/people.md",
    "docs/cli.md",
    "packages/sdk/README.md",
    "docs/mcp.md",
    "docs/testing.md",
    "examples/README.md",
  ],
  Agents: ["docs/marketplace.md", "docs/agents-webhooks.md", "docs/agents-at-work.md", "docs/agent-kit.md", "docs/landing-pages.md"],
  "Running a server": [
    "docs/self-hosting.md",
    "docs/relays.md",
    "docs/postgres.md",
    "docs/operations.md",
    "docs/scaling.md",
    "docs/reliability.md",
    "docs/comparison.md",
    "docs/security.md",
    "docs/versions.md",
  ],
  Recipes: ["docs/recipes/ci.md", "docs/recipes/docker.md", "docs/recipes/nginx.md", "docs/recipes/caddy.md", "docs/recipes/systemd.md"],
  "Moving here": [
    "docs/moving/from-resend.md",
    "docs/moving/from-sendgrid.md",
    "docs/moving/from-ses.md",
    "docs/moving/from-mailpit.md",
    "docs/moving/from-listmonk.md",
    "docs/moving/from-mailchimp.md",
  ],
  "About the project": ["CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"],
};

const read = (file) => readFileSync(`${root}${file}`, "utf8");
const linkTo = (file) => `/${pageOf(file).replace(/(index)?\.md$/, "")}`;

/** A page under its first heading. */
const itemOf = (file) => ({ text: /^# (.+)$/m.exec(read(file))[1], link: linkTo(file) });

const decisions = globSync("docs/decisions/*.md", { cwd: root }).sort();
const guide = [
  ...Object.entries(GUIDE).map(([text, files]) => ({ text, items: files.map(itemOf) })),
  { text: "Decisions", collapsed: true, items: decisions.map(itemOf) },
];

/** The sections of the reference, as its index lists them. */
const reference = [
  { items: [itemOf("docs/reference.md")] },
  ...read("docs/reference.md")
    .split(/^## /m)
    .map((section) => ({
      text: section.slice(0, section.indexOf("\n")),
      items: [...section.matchAll(/^- \*{0,2}\[(.+?)\]\((.+?)\)/gm)].map(([, text, href]) => ({
        text,
        link: linkTo(posix.join("docs", href)),
      })),
    }))
    .filter(({ items }) => items.length > 0),
];

export const sidebar = { "/reference": reference, "/": guide };

export const nav = [
  { text: "Guide", link: "/", activeMatch: "^/(?!reference|changelog)" },
  { text: "Reference", link: "/reference", activeMatch: "^/reference" },
  { text: "Changes", link: "/changelog" },
];
