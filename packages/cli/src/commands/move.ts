import { resolve } from "node:path";
import { Command, Option } from "commander";
import { setOptionMetadata } from "../contract/metadata.ts";
import { formatReport, reportToJson } from "../moving/report.ts";
import type { MovingSource } from "../moving/source.ts";
import { ErrorsFile, PARTS, Tally } from "../moving/tally.ts";
import { type Flags, type Run, runAction } from "../runtime/action.ts";
import { usageError } from "../runtime/errors.ts";
import { EXIT, type Exit } from "../runtime/exit.ts";
import type { Session } from "../types.ts";

const SAFE = `
Nobody who said no becomes mailable: opt-outs, bounces and complaints come first, and what people say here counts more than what they said
there. Nobody is mailed and no automation starts. Run it as often as you like: what is here already stays as it is.

Exit code 0 when everything was moved or left out on purpose, 11 when something failed.`;

const EXAMPLES = {
  listmonk: `
Examples:
  export LISTMONK_API_USER=mover LISTMONK_API_TOKEN=…
  mailsvc import listmonk https://lists.acme.example --dry-run
  mailsvc import listmonk https://lists.acme.example --errors-file left.csv
  mailsvc import listmonk subscribers.csv --list Newsletter --agreed
${SAFE}`,
  resend: `
Examples:
  export RESEND_API_KEY=re_…
  mailsvc import resend --dry-run
  mailsvc import resend
${SAFE}`,
  mailchimp: `
Examples:
  mailsvc import mailchimp audience_export.zip --list Newsletter --dry-run
  mailsvc import mailchimp subscribed.csv unsubscribed.csv cleaned.csv --list Newsletter
${SAFE}`,
};

/** `mailsvc import`: people, lists, suppressions and templates of another service. */
export function moveCommand(run: Run): Command {
  const command = new Command("import").description("Move people, lists, suppressions and templates from another service");
  for (const sub of [listmonkCommand(run), resendCommand(run), mailchimpCommand(run)]) command.addCommand(sub);
  return command;
}

function listmonkCommand(run: Run): Command {
  const command = new Command("listmonk")
    .description("Move from listmonk: from the running program, or people from its CSV export")
    .argument("<source>", "Its address, such as https://lists.acme.example, or a file")
    .addOption(new Option("--list <name>", "List that people of a file join, by its name"))
    .addOption(new Option("--agreed", "Everybody in the file who is enabled agreed to get mail"))
    .addHelpText("after", EXAMPLES.listmonk);
  return moving(command, run, async (session, [given = ""], flags) => {
    const url = /^https?:\/\//i.test(given) ? parseAddress(given, "<source>") : null;
    if (url === null) {
      const { openListmonkFile } = await import("../moving/listmonk-file.ts");
      return openListmonkFile(session, given, { list: flags["list"] as string | undefined, agreed: flags["agreed"] === true });
    }
    if (flags["list"] !== undefined || flags["agreed"] === true)
      throw usageError("--list and --agreed are for a file: a running listmonk says itself who is on which list.");
    const { openListmonk } = await import("../moving/listmonk.ts");
    return openListmonk(session, url);
  });
}

function resendCommand(run: Run): Command {
  const command = new Command("resend")
    .description("Move from Resend: contacts, segments, topics, suppressions and templates")
    .addOption(new Option("--from <url>", "Address of Resend's API").default("https://api.resend.com"))
    .addHelpText("after", EXAMPLES.resend);
  return moving(command, run, async (session, _args, flags) => {
    const { openResend } = await import("../moving/resend.ts");
    return openResend(session, parseAddress(String(flags["from"]), "--from"));
  });
}

function mailchimpCommand(run: Run): Command {
  const command = new Command("mailchimp")
    .description("Move from Mailchimp: its export of an audience or of an account")
    .argument("<files...>", "The archive, a folder, or the CSV files")
    .addOption(new Option("--list <name>", "List that subscribed people join; by default named after the audience's folder"))
    .addHelpText("after", EXAMPLES.mailchimp);
  return moving(command, run, async (session, args, flags) => {
    const { openMailchimp } = await import("../moving/mailchimp.ts");
    const files = args.flat().filter((file): file is string => typeof file === "string");
    return openMailchimp(session, files, flags["list"] as string | undefined);
  });
}

type Open = (session: Session, args: readonly (string | undefined)[], flags: Flags) => Promise<MovingSource>;

/** Adds the flags that all sources have, and moves what `open` returns. */
function moving(command: Command, run: Run, open: Open): Command {
  command
    .addOption(new Option("--dry-run", "Read everything and check it on the server, without storing anything"))
    .addOption(new Option("--skip-templates", "Leave templates where they are"))
    .addOption(
      setOptionMetadata(new Option("--errors-file <file>", "Write the rows that were left out or failed to this CSV file"), {
        type: "file",
      }),
    );
  return runAction(command, run, "connect", async (session, args, flags) => move(session, await open(session, args, flags), flags));
}

async function move(session: Session, source: MovingSource, flags: Flags): Promise<Exit> {
  const { host, out, term, globals } = session;
  const errorsFile = flags["errorsFile"] === undefined ? null : resolve(host.cwd, String(flags["errorsFile"]));
  const file = errorsFile === null ? null : new ErrorsFile(errorsFile);
  const tally = new Tally(file);
  const dryRun = flags["dryRun"] === true || globals.dryRun;
  const progress = session.progress("Reading");
  const { Mover } = await import("../moving/mover.ts");
  let failure: { error: unknown } | null = null;
  try {
    const options = { dryRun, skipTemplates: flags["skipTemplates"] === true };
    await new Mover(session, source, tally, options).run((text) => progress.update(text));
    tally.assertWhole();
  } catch (error) {
    failure = { error };
  } finally {
    progress.stop();
    file?.close();
  }
  const facts = { source: source.title, dryRun, complete: failure === null, remarks: source.remarks(), errorsFile };
  if (failure === null || PARTS.some((part) => tally.sums[part].read > 0))
    await out.data(reportToJson(tally, facts), () => formatReport(tally, facts, term.out, term.columns));
  if (failure) throw failure.error;
  return PARTS.some((part) => tally.sums[part].failed > 0) ? EXIT.partial : EXIT.ok;
}

/** Throws CliError. */
function parseAddress(given: string, flag: string): URL {
  if (!URL.canParse(given)) throw usageError(`${flag}: ${JSON.stringify(given)} is no address. Write https://…`);
  return new URL(given);
}
