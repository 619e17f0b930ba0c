import { contract, type MailsvcContract, type Output } from "@mailsvc/sdk/contract";
import { Command } from "commander";
import { type Run, runAction } from "../runtime/action.ts";
import { parseProfileName, readConfigFile, writeConfigFile } from "../runtime/config-file.ts";
import { CliError, usageError } from "../runtime/errors.ts";
import { EXIT } from "../runtime/exit.ts";
import { ask } from "../runtime/prompts.ts";
import { buildCall, maskKey } from "../runtime/request.ts";
import { resolveSettings } from "../runtime/settings.ts";
import { safeText } from "../text/safe-text.ts";
import { renderDetails } from "../text/table.ts";
import type { Session } from "../types.ts";

/** `mailsvc login`: checks a key against the server, then stores it in a profile. */
export function loginCommand(run: Run): Command {
  const command = new Command("login")
    .description("Check an API key with the server and keep it")
    .option("--with-key", "Read the key from stdin")
    .addHelpText(
      "after",
      "\nExamples:\n  mailsvc login\n  mailsvc login --profile staging --url https://mail.example.com --with-key < key.txt",
    );
  return runAction(command, run, "connect", async (session, _args, flags) => {
    const settings = resolveSettings(session.host, session.settingFlags(), true);
    const profile = parseProfileName(settings.profile);
    const apiKey = await readKey(session, flags["withKey"] === true);
    session.use({ ...resolveSettings(session.host, { ...session.settingFlags(), "api-key": apiKey }, true), profile });
    const progress = session.progress("Checking the key");
    const answer = await session.send(buildCall(contract.me.get, [], {}, undefined)).finally(() => progress.stop());
    const me = answer.data as Output<MailsvcContract["me"]["get"]>;
    const file = readConfigFile(settings.path);
    const stored = { ...file.profiles[profile], url: settings.url, "api-key": apiKey };
    writeConfigFile(settings.path, { profile, profiles: { ...file.profiles, [profile]: stored } });
    const result = {
      profile,
      url: settings.url,
      workspace: me.workspace,
      key: { name: me.key.name, preview: maskKey(apiKey) },
      path: settings.path,
    };
    await session.out.data(
      result,
      () =>
        `${session.term.out.green("Logged in")} to ${safeText(me.workspace.name)} at ${settings.url}\n${session.term.out.dim(`profile ${profile} in ${settings.path}`)}`,
    );
    if (session.host.env["MAILSVC_API_KEY"])
      session.out.note(`${session.term.err.yellow("note")} MAILSVC_API_KEY is set and overrides the stored key.`);
    return EXIT.ok;
  });
}

/** `mailsvc logout`: removes a profile. The key itself stays valid. */
export function logoutCommand(run: Run): Command {
  const command = new Command("logout").description("Remove a profile and its key (the key stays valid; see keys revoke)");
  command.option("--profile <name>", "The profile (default: the current one)").option("--all", "Every profile");
  return runAction(command, run, "local", async (session, _args, flags) => {
    const named = flags["profile"] as string | undefined;
    const { path, file, profile } = resolveSettings(session.host, named === undefined ? {} : { profile: named }, true);
    const gone = flags["all"] === true ? Object.keys(file.profiles) : [profile];
    if (gone.length === 0 || !gone.some((name) => Object.hasOwn(file.profiles, name)))
      throw new CliError({
        code: "not_found",
        message: `Profile "${profile}" has no key.`,
        exit: EXIT.notFound,
        next: "mailsvc profiles",
      });
    const kept = Object.fromEntries(Object.entries(file.profiles).filter(([name]) => !gone.includes(name)));
    writeConfigFile(path, {
      profile: Object.hasOwn(kept, file.profile) ? file.profile : (Object.keys(kept)[0] ?? "default"),
      profiles: kept,
    });
    await session.out.data({ removed: gone, path }, () => `Removed ${gone.join(", ")}`);
    return EXIT.ok;
  });
}

/** `mailsvc profiles`: lists the stored profiles with masked keys. */
export function profilesCommand(run: Run): Command {
  return runAction(
    new Command("profiles").description("List stored profiles; switch with: config set profile <name>"),
    run,
    "local",
    async (session) => {
      const { path, file, profile } = resolveSettings(session.host, {}, true);
      const list = Object.entries(file.profiles).map(([name, p]) => ({
        name,
        current: name === profile,
        url: p.url ?? null,
        key: p["api-key"] ? maskKey(p["api-key"]) : null,
      }));
      const { out } = session.term;
      await session.out.data({ data: list, path }, () =>
        renderDetails(
          list.map((p) => [`${p.current ? "* " : "  "}${p.name}`, [p.url, p.key].filter(Boolean).join("  ")]),
          out,
        ),
      );
      if (list.length === 0) session.out.note(session.term.err.dim("No profiles yet. Create one: mailsvc login"));
      return EXIT.ok;
    },
  );
}

async function readKey(session: Session, fromStdin: boolean): Promise<string> {
  if (session.globals.apiKey !== undefined) return session.globals.apiKey.trim();
  if (fromStdin) return (await session.input.text("-", "--with-key")).trim();
  if (!session.term.interactive || session.globals.json)
    throw usageError("--api-key or --with-key (from stdin) is needed.", { code: "missing_flags" });
  session.out.note(session.term.err.dim("A local server shows its key on the first start: mailsvc serve, mailsvc dev."));
  return ask(
    session.host,
    session.term,
    "API key (not shown):",
    (text) => (/^[\x21-\x7e]+$/.test(text) ? undefined : "A key has no spaces."),
    true,
  );
}
