import { type Campaign, type CampaignStats, contract, type Endpoint } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import { collect } from "../contract/flags.ts";
import { setOptionMetadata } from "../contract/metadata.ts";
import { resolveNames } from "../contract/names.ts";
import { printResult } from "../contract/show.ts";
import type { Flags, Run } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { formatNumber } from "../text/units.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";
import { listStates } from "../views/campaigns.ts";
import { lacksName, NAME_BRAND } from "./brand-name.ts";
import { addPreviewOptions, showPreview } from "./preview.ts";

/** Flags that take a name; all but the template can be repeated. */
const NAMED: readonly { flag: string; about: string; by: Endpoint }[] = [
  { flag: "template", about: "Slug or id of the template to send", by: contract.templates.get },
  { flag: "list", about: "Name or id of a list that gets it", by: contract.lists.get },
  { flag: "segment", about: "Name or id of a segment that gets it", by: contract.segments.get },
  { flag: "exclude-list", about: "Name or id of a list that does not get it", by: contract.lists.get },
  { flag: "exclude-segment", about: "Name or id of a segment that does not get it", by: contract.segments.get },
];

/** `mailsvc campaigns create` and `update`: a template, lists and segments can be given by their names. */
export function campaignFieldsCommand(spec: CommandSpec, run: Run): Command {
  const command = buildEndpointCommand(spec, run, resolveNamed);
  for (const { flag, about } of NAMED) {
    const repeatable = flag !== "template";
    const option = new Option(`--${flag} <name>`, repeatable ? `${about} (repeatable)` : about);
    command.addOption(setOptionMetadata(repeatable ? option.argParser(collect) : option, { type: "text", repeatable }));
  }
  return command.addHelpText(
    "after",
    `
By name:
  mailsvc campaigns create --name Launch --subject-line "We are live" --from-email news@acme.example \\
    --html-file launch.html --list Newsletter --list Beta --exclude-segment Customers`,
  );
}

async function resolveNamed(session: Session, gathered: RequestInput, flags: Flags): Promise<void> {
  const body = gathered.body ?? {};
  const ids: Record<string, string[]> = {};
  for (const { flag, by } of NAMED) {
    ids[flag] = [];
    for (const name of [flags[new Option(`--${flag}`).attributeName()] ?? []].flat()) {
      const [id] = await resolveNames(session, by, [String(name)]);
      if (id !== undefined) ids[flag].push(id);
    }
  }
  const { template = [], list = [], segment = [], "exclude-list": lists = [], "exclude-segment": segments = [] } = ids;
  const groups = [...list, ...segment];
  const set = (field: string, flag: string, value: unknown): void => {
    if (body[field] !== undefined) throw usageError(`Use either --${flag} or its id.`);
    body[field] = value;
  };
  if (template.length > 0) set("templateId", "template", template[0]);
  if (groups.length > 1) {
    set("include", list.length > 0 ? "list" : "segment", groups);
    body["recipientType"] = "groups";
  } else if (groups.length === 1) {
    const [type, field] = list.length > 0 ? ["list", "listId"] : ["segment", "segmentId"];
    set(field, type, groups[0]);
    body["recipientType"] = type;
  }
  if (lists.length + segments.length > 0) set("exclude", lists.length > 0 ? "exclude-list" : "exclude-segment", [...lists, ...segments]);
  if (Object.keys(body).length > 0) gathered.body = body;
}

/** `mailsvc campaigns preview`: the mail as a contact sees it. */
export function campaignPreviewCommand(spec: CommandSpec, run: Run): Command {
  const command = buildEndpointCommand(spec, run, undefined, async (session, data, flags) => {
    await showPreview(session, flags, data);
    return EXIT.ok;
  });
  return addPreviewOptions(command);
}

const POLL_MS = 500;
const LOG_MS = 5000;
// The pace is measured over this time.
const PACE_MS = 5000;

/** `mailsvc campaigns send`: with --watch, shows live numbers until each recipient had an attempt. */
export function campaignSendCommand(spec: CommandSpec, run: Run): Command {
  const command = buildEndpointCommand(spec, run, warnOfMissingName, async (session, data, flags) =>
    flags["watch"] === true ? watch(session, data as Campaign) : null,
  );
  return command.option("--watch", "Show live numbers until each recipient had an attempt, then the statistics");
}

async function warnOfMissingName(session: Session): Promise<void> {
  if (session.globals.dryRun || !(await lacksName(session))) return;
  session.out.note(
    `${session.term.err.yellow("warning")} Your brand has no name. Footers show the campaign's sender, and pages show no name. Set one: ${NAME_BRAND}`,
  );
}

/** Follows a campaign until it is no longer SENDING, and prints its statistics. */
async function watch(session: Session, { id, name }: Campaign): Promise<Exit> {
  const { host, out, globals } = session;
  const history: { at: number; done: number }[] = [];
  let stats: CampaignStats | null = null;
  const pace = (): number => {
    const [first, last] = [history[0], history.at(-1)];
    return first && last && last.at > first.at ? ((last.done - first.done) * 1000) / (last.at - first.at) : 0;
  };
  const screen = wantsScreen(session)
    ? (await import("../ui/campaign-progress.tsx")).renderCampaignProgress(session, { name, stats: () => stats, pace })
    : null;
  let logged = host.now();
  try {
    for (;;) {
      stats = (await session.send(buildCall(contract.campaigns.stats, [id], {}, undefined))).data as CampaignStats;
      const { total, queued, sending } = stats.recipients;
      const now = host.now();
      history.push({ at: now, done: total - queued - sending });
      while ((history[0]?.at ?? now) < now - PACE_MS) history.shift();
      if (stats.status !== "SENDING" || session.signal.aborted) break;
      if (!screen && !globals.quiet && now - logged >= LOG_MS) {
        logged = now;
        out.note(
          `${name}: ${listStates(stats)
            .map(([state, n]) => `${state} ${formatNumber(n)}`)
            .join(", ")}`,
        );
      }
      await host.sleep(POLL_MS, session.signal);
    }
  } finally {
    await screen?.();
  }
  await printResult(session, { ...(session.spec as CommandSpec), id: "campaigns.stats", endpoint: contract.campaigns.stats }, stats);
  if (session.signal.aborted) {
    out.note(`The campaign goes on. Stop it: mailsvc campaigns pause ${id}`);
    return EXIT.cancelled;
  }
  return EXIT.ok;
}

function wantsScreen({ host, term, globals }: Session): boolean {
  return term.stderrTTY && !globals.quiet && !globals.json && host.env["TERM"] !== "dumb" && !host.env["CI"];
}
