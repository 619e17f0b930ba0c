import { type Campaign, type CampaignStats, contract, type Endpoint } from "@mailsvc/sdk/contract";
import { type Command, Option } from "commander";
import { buildEndpointCommand } from "../contract/endpoint-command.ts";
import { setOptionMetadata } from "../contract/metadata.ts";
import { resolveNames } from "../contract/names.ts";
import { formatNumber } from "../import/summary.ts";
import type { Flags, Run } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import type { CommandSpec, RequestInput, Session } from "../types.ts";
import { listStates } from "../views/campaigns.ts";
import { printResult } from "../views/show.ts";
import { lacksName, NAME_BRAND } from "./brand-name.ts";

/** What may be given by its name, and the fields that it sets. */
const NAMED: readonly { flag: string; field: string; about: string; by: Endpoint; recipientType?: string }[] = [
  { flag: "template", field: "templateId", about: "Slug or id of the template to send", by: contract.templates.get },
  { flag: "list", field: "listId", about: "Name or id of the list that gets it", by: contract.lists.get, recipientType: "list" },
  {
    flag: "segment",
    field: "segmentId",
    about: "Name or id of the segment that gets it",
    by: contract.segments.get,
    recipientType: "segment",
  },
];

/** `mailsvc campaigns create` and `update`: a template, list or segment can be given by its name. */
export function campaignFieldsCommand(spec: CommandSpec, run: Run): Command {
  const command = buildEndpointCommand(spec, run, resolveNamed);
  for (const { flag, about } of NAMED) command.addOption(setOptionMetadata(new Option(`--${flag} <name>`, about), { type: "text" }));
  return command.addHelpText(
    "after",
    `
By name:
  mailsvc campaigns create --name Launch --subject-line "We are live" --from-email news@acme.example \\
    --html-file launch.html --list Newsletter`,
  );
}

async function resolveNamed(session: Session, gathered: RequestInput, flags: Flags): Promise<void> {
  for (const { flag, field, by, recipientType } of NAMED) {
    const name = flags[flag];
    if (typeof name !== "string") continue;
    const body = gathered.body ?? {};
    if (body[field] !== undefined) throw usageError(`Use either --${flag} or its id.`);
    const [id] = await resolveNames(session, by, [name]);
    gathered.body = { ...body, [field]: id, ...(recipientType !== undefined && { recipientType }) };
  }
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
