import { type CapturedMail, type ClockState, contract, DURATION } from "@mailsvc/sdk/contract";
import { Command, InvalidArgumentError, Option } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { CliError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import { buildCall } from "../runtime/request.ts";
import { safeText } from "../text/safe-text.ts";
import { formatInstant } from "../text/units.ts";
import type { Session } from "../types.ts";

const FILTERS = ["to", "from", "subject", "workspace"] as const;
// Mails that are shown when some came.
const SHOWN = 20;

/** `mailsvc inbox expect-none`: knows that no mail came, because it first lets the server do all that is due. */
export function expectNoneCommand(run: Run): Command {
  const { shape } = contract.inbox.list.query;
  const command = new Command("expect-none").description("Make sure that no such mail was sent; exit 1 if one was");
  for (const name of FILTERS) command.addOption(new Option(`--${name} <${name}>`, shape[name].meta()?.description ?? ""));
  command
    .addOption(
      new Option("--within <time>", "Move the clock by this much first, such as 30d: nothing may come until then").argParser(parseTime),
    )
    .addHelpText(
      "after",
      "\nIt waits until nothing runs and nothing is due, so it need not wait for mail that may still come.\n\nExamples:\n  mailsvc inbox expect-none --to ada@example.com\n  mailsvc inbox expect-none --subject Reminder --within 30d",
    );
  return runAction(command, run, "connect", async (session, _args, flags): Promise<Exit> => {
    const { out, term } = session;
    await assertCaptured(session);
    const by = (flags["within"] as string | undefined) ?? "0s";
    const clock = (await session.send(buildCall(contract.clock.advance, [], {}, { by }))).data as ClockState;
    const filter = Object.fromEntries(FILTERS.flatMap((name) => (flags[name] === undefined ? [] : [[name, String(flags[name])]])));
    const { data: page } = await session.send(buildCall(contract.inbox.list, [], { ...filter, limit: SHOWN }, undefined));
    const mails = (page as { data: CapturedMail[] }).data;
    const { now, next } = clock;
    await out.data({ none: mails.length === 0, now, next, mails }, () =>
      mails.length === 0
        ? `${term.out.green("none")} until ${formatInstant(now)}${next === null ? ", and nothing is planned" : ""}`
        : [
            term.out.red("mail was sent"),
            ...mails.map(({ id, to, subject }) => `  ${safeText(id)}  to ${safeText(to)}: ${safeText(subject)}`),
          ].join("\n"),
    );
    return mails.length === 0 ? EXIT.ok : EXIT.differs;
  });
}

/** Throws CliError if mail leaves a server in dev mode: then the inbox cannot tell that none was sent, and what falls due goes to people. */
async function assertCaptured(session: Session): Promise<void> {
  const { data: me } = await session.send(buildCall(contract.me.get, [], {}, undefined));
  const { dev, capturesMail } = (me as { server: { dev: boolean; capturesMail: boolean } }).server;
  // A server in production refuses by itself.
  if (capturesMail || !dev) return;
  throw new CliError({
    code: "invalid_state",
    message: "Mail leaves this server through a relay, so its inbox does not show whether any was sent.",
    hint: "Use a server without --smtp-url and relays: mailsvc relays list shows them, mailsvc relays remove NAME removes one.",
    exit: EXIT.conflict,
  });
}

function parseTime(text: string): string {
  if (!DURATION.test(text)) throw new InvalidArgumentError("Write 30s, 15m, 2h or 30d.");
  return text;
}
